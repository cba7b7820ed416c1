package api

import (
	"net"
	"net/netip"
	"sync"

	"github.com/bursar/bursar/netpolicy"
)

// Connections bounds the open connections of a listener: each costs memory and a file of the process, which the
// database and the nodes need too, whether anything is asked over it or not.
type Connections struct {
	Most    int            // of all clients
	Each    int            // of one client's address; those of Proxies count among all only
	Proxies []netip.Prefix // our own, behind which the clients are
}

// DefaultConnections are far more than a busy client keeps open, and as many in all as a small machine has memory for.
func DefaultConnections(proxies []netip.Prefix) Connections {
	return Connections{Most: 1 << 14, Each: 1 << 10, Proxies: proxies}
}

// BoundedListener is a listener that closes a connection beyond its bounds at once.
type BoundedListener struct {
	net.Listener
	bounds Connections

	mu      sync.Mutex
	open    int
	of      map[netip.Prefix]int // open ones by client, as the other limits of an address count clients
	refused int64
}

// Bounded bounds a listener of TCP.
func Bounded(listener net.Listener, bounds Connections) *BoundedListener {
	return &BoundedListener{Listener: listener, bounds: bounds, of: map[netip.Prefix]int{}}
}

// Accept implements net.Listener.
func (l *BoundedListener) Accept() (net.Conn, error) {
	for {
		conn, err := l.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if counted := l.enter(conn); counted != nil {
			return counted, nil
		}
		_ = conn.Close() // nobody waits for it
	}
}

// enter counts a connection; nil is one too many.
func (l *BoundedListener) enter(conn net.Conn) net.Conn {
	tcp, is := conn.(*net.TCPConn)
	from, err := netip.ParseAddrPort(conn.RemoteAddr().String())
	if !is || err != nil {
		return nil
	}
	address := plain(from.Addr())
	client := clientPrefix(address)
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.of[client] >= l.bounds.Each && !netpolicy.Within(address, l.bounds.Proxies)
	if full || l.open >= l.bounds.Most {
		l.refused++
		return nil
	}
	l.open++
	l.of[client]++
	return &countedConn{TCPConn: tcp, leave: sync.OnceFunc(func() { l.leave(client) })}
}

func (l *BoundedListener) leave(client netip.Prefix) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.open--
	if l.of[client]--; l.of[client] == 0 {
		delete(l.of, client)
	}
}

// Count returns how many connections are open, and how many were refused since the start.
func (l *BoundedListener) Count() (open int, refused int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open, l.refused
}

// countedConn is counted until it is closed. It stays a TCP connection for net/http, which ends one side of it first.
type countedConn struct {
	*net.TCPConn
	leave func()
}

// Close implements net.Conn.
func (c *countedConn) Close() error {
	c.leave()
	return c.TCPConn.Close()
}
