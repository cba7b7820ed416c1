// Package receiver receives webhooks and keeps what it is sent, so that a client can be tested without a receiver of
// its own.
//
// It owns a loopback listener and a bounded memory of deliveries. It never checks a signature: readers of the
// deliveries do that, over the very bytes that were received. Its invariants: a delivery is kept before it is
// answered; the oldest deliveries are dropped first.
package receiver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	maxBody  = 1 << 20  // bytes of one delivery
	maxKept  = 10_000   // deliveries
	maxBytes = 64 << 20 // bytes of all deliveries that are kept
)

// Own is a loopback address for the receiver alone, so that its deliveries can be distinguished from those to other
// receivers on this machine.
const Own = "127.0.0.2:0"

// Delivery is one received request.
type Delivery struct {
	Path       string            `json:"path"`
	Headers    map[string]string `json:"headers"` // names in lower case, several values joined by ", "
	Body       string            `json:"body"`    // exactly as received
	Status     int               `json:"status"`  // status of the answer
	ReceivedAt time.Time         `json:"receivedAt"`
}

// Receiver receives webhooks. It is safe for concurrent use.
type Receiver struct {
	listener net.Listener
	server   *http.Server
	now      func() time.Time

	mu         sync.Mutex
	deliveries []Delivery
	bytes      int
	status     int
	left       int // how many more deliveries status answers; negative: all
}

// Listen listens on a loopback address. On a system whose only loopback address is 127.0.0.1, such as macOS, it
// listens on that one instead.
func Listen(ctx context.Context, address string, now func() time.Time) (*Receiver, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp4", address)
	if errors.Is(err, syscall.EADDRNOTAVAIL) {
		_, port, _ := net.SplitHostPort(address)
		listener, err = config.Listen(ctx, "tcp4", net.JoinHostPort("127.0.0.1", port))
	}
	if err != nil {
		return nil, fmt.Errorf("listen for webhooks: %w", err)
	}
	r := &Receiver{listener: listener, now: now, status: http.StatusNoContent}
	r.server = &http.Server{Handler: r, ReadTimeout: 30 * time.Second, WriteTimeout: 30 * time.Second}
	return r, nil
}

// URL is the URL for deliveries; every path below it is accepted too.
func (r *Receiver) URL() string { return "http://" + r.listener.Addr().String() + "/webhook" }

// Listening is the host and port of the listener.
func (r *Receiver) Listening() string { return r.listener.Addr().String() }

// Address is the address that the service must be allowed to call.
func (r *Receiver) Address() netip.Addr {
	return r.listener.Addr().(*net.TCPAddr).AddrPort().Addr().Unmap()
}

// Run receives until ctx ends.
func (r *Receiver) Run(ctx context.Context) error {
	defer context.AfterFunc(ctx, func() { _ = r.server.Close() })()
	if err := r.server.Serve(r.listener); !errors.Is(err, http.ErrServerClosed) {
		return fmt.Errorf("receive webhooks: %w", err)
	}
	return nil
}

// Answer has the next count deliveries answered with another status than 204; zero means all from now on.
func (r *Receiver) Answer(status, count int) error {
	if status < 200 || status > 599 || count < 0 {
		return fmt.Errorf("status %d and count %d: use a status from 200 to 599 and a count of 0 or "+
			"more", status, count)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.status, r.left = status, count
	if count == 0 {
		r.left = -1
	}
	return nil
}

// Deliveries returns the kept deliveries, oldest first.
func (r *Receiver) Deliveries() []Delivery {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Delivery{}, r.deliveries...)
}

// ServeHTTP keeps a delivery and answers it.
func (r *Receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, request.Body, maxBody))
	if err != nil {
		http.Error(w, "cannot read the body", http.StatusRequestEntityTooLarge)
		return
	}
	d := Delivery{Path: request.URL.Path, Headers: map[string]string{}, Body: string(body), ReceivedAt: r.now().UTC()}
	for name, values := range request.Header {
		d.Headers[strings.ToLower(name)] = strings.Join(values, ", ")
	}
	w.WriteHeader(r.keep(d))
}

func (r *Receiver) keep(d Delivery) (status int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	d.Status = http.StatusNoContent
	if r.left != 0 {
		d.Status = r.status
		r.left--
	}
	r.deliveries = append(r.deliveries, d)
	r.bytes += len(d.Body)
	for len(r.deliveries) > maxKept || r.bytes > maxBytes {
		r.bytes -= len(r.deliveries[0].Body)
		r.deliveries = r.deliveries[1:]
	}
	return d.Status
}
