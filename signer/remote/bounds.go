package remote

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"
)

// Bounds of what requests take at a time, no matter who sends them: a signer that runs out of memory signs nothing.
//
// A body of n bytes takes at most fromBody*n: the decoder's buffer, which doubles, the decoded bytes and a copy of
// them. Besides that, each of its elements takes a struct, and there are at most maxElements: without that bound a
// list of {} would take fifty times its own size.
const (
	maxConns    = 128
	maxRequests = 64        // in work or waiting for memory; more are refused at once
	maxMemory   = 160 << 20 // bytes for all of them
	fromBody    = 5
	fromElement = 160
	maxElements = 200_000
	waitTime    = 10 * time.Second // for memory; then the request is refused, and the service repeats it
)

// cost returns the memory that a request with a body of a length takes at most.
func cost(length int64) int64 {
	elements := min(length/3+1, maxElements) // "{},"
	return fromBody*length + fromElement*elements
}

// bounds admits requests.
type bounds struct {
	requests *semaphore.Weighted
	memory   *semaphore.Weighted
}

func newBounds() bounds {
	return bounds{semaphore.NewWeighted(maxRequests), semaphore.NewWeighted(maxMemory)}
}

// admit passes on requests for which there is memory. A body of unknown length is refused: what it takes cannot be set
// aside.
func (b bounds) admit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.ContentLength < 0:
			http.Error(w, "the length of the request is missing", http.StatusLengthRequired)
			return
		case r.ContentLength > maxQuestion:
			http.Error(w, "the request is too long", http.StatusBadRequest)
			return
		case !b.requests.TryAcquire(1):
			busy(w)
			return
		}
		defer b.requests.Release(1)
		takes := cost(r.ContentLength)
		ctx, cancel := context.WithTimeout(r.Context(), waitTime)
		defer cancel()
		if err := b.memory.Acquire(ctx, takes); err != nil {
			busy(w)
			return
		}
		defer b.memory.Release(takes)
		next.ServeHTTP(w, r)
	})
}

func busy(w http.ResponseWriter) {
	w.Header().Set("Connection", "close") // its body is not read
	http.Error(w, "the signer has too much to do", http.StatusServiceUnavailable)
}

var errElements = errors.New("the request has too many elements")

// elements is a body whose commas, and so its elements, are counted.
type elements struct {
	io.Reader
	seen int
}

// Read implements io.Reader.
func (e *elements) Read(p []byte) (int, error) {
	n, err := e.Reader.Read(p)
	for _, c := range p[:n] {
		if c == ',' {
			e.seen++
		}
	}
	if e.seen > maxElements {
		return 0, errElements
	}
	return n, err
}

// fewConns is a listener that has a bounded number of connections open. Others wait in the system's queue.
type fewConns struct {
	net.Listener
	open *semaphore.Weighted
}

func limitConns(l net.Listener) net.Listener { return fewConns{l, semaphore.NewWeighted(maxConns)} }

// Accept implements net.Listener.
func (l fewConns) Accept() (net.Conn, error) {
	if err := l.open.Acquire(context.Background(), 1); err != nil {
		return nil, err
	}
	conn, err := l.Listener.Accept()
	if err != nil {
		l.open.Release(1)
		return nil, err
	}
	return &countedConn{Conn: conn, release: sync.OnceFunc(func() { l.open.Release(1) })}, nil
}

// countedConn gives its place up when it is closed.
type countedConn struct {
	net.Conn
	release func()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	defer c.release()
	return c.Conn.Close()
}
