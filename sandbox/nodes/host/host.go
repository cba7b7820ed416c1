package host

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/syndtr/goleveldb/leveldb/storage"
)

// grace is how long a request in progress may take when a node is closed.
const grace = 2 * time.Second

// Options are what every node's configuration has in common. The zero value is usable.
type Options struct {
	// DataDir keeps the chain over restarts; empty keeps nothing. It is created if it does not exist, and locked
	// while the node runs.
	DataDir string
	// Listen is the loopback address of the node's server; default 127.0.0.1:0, any free port.
	Listen string
	// Wrap, if set, wraps the handler of the node's requests, so that a caller can inject faults.
	Wrap func(http.Handler) http.Handler
	// Log receives start and shutdown; default discards.
	Log *slog.Logger
	// Now is the clock of blocks; default time.Now.
	Now func() time.Time
}

// WithDefaults returns the options with a value in each one that has a default.
func (o Options) WithDefaults() Options {
	o.Listen = cmp.Or(o.Listen, "127.0.0.1:0")
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// Host starts one node, answers for it and closes it. Once Start has returned, Address, URL and Close may be called
// from any goroutine.
type Host struct {
	name    string
	options Options
	grace   time.Duration

	address string
	server  *http.Server
	serving sync.WaitGroup
	unused  unused
	closers []func() error // in the order in which they were registered
	once    sync.Once
	err     error // of Close
}

// New returns the host of a node that has not started. The name is for errors and the log.
func New(name string, o Options) *Host {
	return &Host{name: name, options: o.WithDefaults(), grace: grace}
}

// Start takes the data directory and runs the steps in their order, among them one that calls Serve. The context
// bounds the start only. If a step fails, everything is closed and the error says which node did not start.
func (h *Host) Start(ctx context.Context, steps ...func(context.Context) error) error {
	err := h.lock()
	for _, step := range steps {
		if err == nil {
			err = step(ctx)
		}
	}
	if err != nil {
		return errors.Join(fmt.Errorf("start %s node: %w", h.name, err), h.Close())
	}
	return nil
}

// lock creates the data directory and takes it for this process.
func (h *Host) lock() error {
	if h.options.DataDir == "" {
		return nil
	}
	if err := os.MkdirAll(h.options.DataDir, 0o700); err != nil {
		return err
	}
	// This lock is portable and dies with the process.
	lock, err := storage.OpenFile(filepath.Join(h.options.DataDir, "lock"), false)
	if err != nil {
		return fmt.Errorf("lock %s, which another node may be using: %w", h.options.DataDir, err)
	}
	h.OnClose(lock.Close)
	return nil
}

// OnClose has Close call f, after the server has stopped and before what was registered earlier. A step registers here
// whatever it opens.
func (h *Host) OnClose(f func() error) { h.closers = append(h.closers, f) }

// Serve listens on Options.Listen and answers in the background until Close.
func (h *Host) Serve(ctx context.Context, handler http.Handler) error {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", h.options.Listen)
	if err != nil {
		return err
	}
	h.ServeOn(handler, listener)
	return nil
}

// ServeOn is Serve on listeners that are open; the first one is that of URL.
func (h *Host) ServeOn(handler http.Handler, listeners ...net.Listener) {
	if h.options.Wrap != nil {
		handler = h.options.Wrap(handler)
	}
	h.address = listeners[0].Addr().String()
	h.server = &http.Server{
		Handler:      handler,
		ReadTimeout:  30 * time.Second,
		WriteTimeout: 2 * time.Minute,
		ConnState:    h.unused.note,
	}
	h.server.RegisterOnShutdown(h.unused.close)
	for _, listener := range listeners {
		h.serving.Go(func() { // runs until Close
			if err := h.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				h.options.Log.Error("server stopped", "node", h.name, "error", err)
			}
		})
	}
}

// Address is where the node answers, as host:port.
func (h *Host) Address() string { return h.address }

// URL is where the node answers: http://127.0.0.1:port.
func (h *Host) URL() string { return "http://" + h.address }

// Close stops the server and then the node. Requests in progress get two seconds; their connections are cut then. Every
// call returns the result of the first.
func (h *Host) Close() error {
	h.once.Do(func() {
		errs := []error{h.stop()}
		for i := len(h.closers) - 1; i >= 0; i-- {
			errs = append(errs, h.closers[i]())
		}
		h.err = errors.Join(errs...)
		if h.server != nil {
			h.options.Log.Info("node closed", "node", h.name)
		}
	})
	return h.err
}

// stop ends the server.
func (h *Host) stop() error {
	if h.server == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), h.grace)
	defer cancel()
	err := h.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = h.server.Close()
	}
	h.serving.Wait()
	return err
}
