package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// receiver is a healthy receiver of webhooks on loopback. It counts what it gets and keeps nothing of it.
type receiver struct {
	url    string
	server *http.Server

	mu          sync.Mutex
	count       int
	want        int // done is closed at this count
	first, last time.Time
	done        chan struct{}
}

func newReceiver(ctx context.Context) (*receiver, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{url: "http://" + listener.Addr().String() + "/hook", done: make(chan struct{})}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 30 * time.Second}
	go func() { _ = r.server.Serve(listener) }() // it ends with close
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

// ServeHTTP counts a request and answers 204.
func (r *receiver) ServeHTTP(w http.ResponseWriter, request *http.Request) {
	began := time.Now()
	_, _ = io.Copy(io.Discard, request.Body)
	w.WriteHeader(http.StatusNoContent)
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.count == 0 {
		r.first = began
	}
	r.count++
	r.last = began
	if r.count == r.want {
		close(r.done)
	}
}

// expect forgets what came before. The channel is closed after so many requests from now on.
func (r *receiver) expect(count int) <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.count, r.want, r.done = 0, count, make(chan struct{})
	return r.done
}

// await waits until done is closed, or so long, and returns how many requests there were.
func (r *receiver) await(ctx context.Context, done <-chan struct{}, within time.Duration) (int, error) {
	timer := time.NewTimer(within)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	case <-ctx.Done():
		return 0, ctx.Err()
	}
	_, _, count := r.got()
	return count, nil
}

// got returns when the first and the last request since expect began, and how many there were.
func (r *receiver) got() (first, last time.Time, count int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.first, r.last, r.count
}

// hanging listens on loopback, takes requests and never answers.
func hanging(ctx context.Context) (url string, closing func(), err error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, err
	}
	ctx, cancel := context.WithCancel(ctx)
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(_ http.ResponseWriter, request *http.Request) {
			_, _ = io.Copy(io.Discard, request.Body)
			select {
			case <-request.Context().Done():
			case <-ctx.Done():
			}
		})}
	go func() { _ = server.Serve(listener) }()
	return "http://" + listener.Addr().String() + "/hook", func() {
		cancel()
		_ = server.Close()
	}, nil
}
