package fault

import (
	"context"
	"crypto/rand"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Misbehaviours of a node's announcements.
const (
	Cut     Kind = "cut"     // subscriptions are reset, and new ones refused
	Silent  Kind = "silent"  // subscriptions stay open, and nothing is announced
	Garbage Kind = "garbage" // subscriptions carry random bytes
)

// WireKinds returns every kind of a Wire.
func WireKinds() []Kind { return []Kind{Cut, Silent, Garbage} }

// Wire is a proxy between a node that announces blocks and its subscribers, on the level of bytes. It is safe for
// concurrent use.
type Wire struct {
	listener net.Listener
	url      url.URL
	target   string
	now      func() time.Time
	ended    sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]bool // connections of subscribers
	kind   Kind
	until  time.Time
	closed bool
}

// NewWire opens a proxy on loopback to the URL at which a node announces. ctx bounds the opening only.
func NewWire(ctx context.Context, announces string, now func() time.Time) (*Wire, error) {
	u, err := url.Parse(announces)
	if err != nil {
		return nil, fmt.Errorf("open the proxy of announcements: %w", err)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, fmt.Errorf("open the proxy of announcements: %w", err)
	}
	w := &Wire{listener: listener, url: *u, target: u.Host, now: now, conns: map[net.Conn]bool{}}
	w.url.Host = listener.Addr().String()
	w.ended.Go(w.accept)
	return w, nil
}

// URL is the URL to subscribe at in place of the node's own.
func (w *Wire) URL() string { return w.url.String() }

// Set begins a fault that ends by itself, and ends the one before. A duration of zero only ends it.
func (w *Wire) Set(kind Kind, duration time.Duration) error {
	if !slices.Contains(WireKinds(), kind) {
		return fmt.Errorf("announcements have no fault %q: use one of %v", kind, WireKinds())
	}
	if duration < 0 || duration > MaxDuration {
		return fmt.Errorf("a fault lasts between 0 and %d seconds", MaxDuration/time.Second)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.kind, w.until = kind, w.now().Add(duration)
	if duration == 0 || kind == Silent {
		return nil
	}
	for conn := range w.conns {
		if kind == Garbage {
			spoil(conn)
		}
		reset(conn)
	}
	return nil
}

// Current returns the present fault; empty without one.
func (w *Wire) Current() Kind {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.kind == "" || !w.now().Before(w.until) {
		return ""
	}
	return w.kind
}

// Close ends every subscription and the proxy.
func (w *Wire) Close() error {
	w.mu.Lock()
	w.closed = true
	err := w.listener.Close()
	for conn := range w.conns {
		_ = conn.Close() // it is closed either way
	}
	w.mu.Unlock()
	w.ended.Wait()
	return err
}

func (w *Wire) accept() {
	for {
		conn, err := w.listener.Accept()
		if err != nil {
			return // closed
		}
		w.ended.Go(func() { w.carry(conn) })
	}
}

// carry connects a subscriber with the node until one of them closes.
func (w *Wire) carry(conn net.Conn) {
	defer conn.Close()
	switch w.Current() {
	case Cut:
		reset(conn)
		return
	case Garbage:
		spoil(conn)
		return
	}
	if !w.note(conn) {
		return
	}
	defer w.forget(conn)
	node, err := net.Dial("tcp", w.target)
	if err != nil {
		return
	}
	defer node.Close()
	w.ended.Go(func() {
		defer conn.Close()
		w.copy(conn, node)
	})
	_, _ = io.Copy(node, conn) // either end may close
}

func (w *Wire) note(conn net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.conns[conn] = true
	}
	return !w.closed
}

func (w *Wire) forget(conn net.Conn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.conns, conn)
}

// copy forwards what the node sends, unless it must be silent.
func (w *Wire) copy(conn, node net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := node.Read(buffer)
		if err != nil {
			return
		}
		if w.Current() == Silent {
			continue
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// spoil sends random bytes.
func spoil(conn net.Conn) {
	noise := make([]byte, 4<<10)
	_, _ = rand.Read(noise) // it never fails
	_ = conn.SetWriteDeadline(time.Now().Add(time.Second))
	_, _ = conn.Write(noise)
}
