package host

import (
	"net"
	"net/http"
	"sync"
)

// unused are connections on which no request has come yet. A client may have opened them ahead, and a server that shuts
// down would wait for them.
type unused struct {
	mu     sync.Mutex
	open   map[net.Conn]bool
	closed bool
}

// note follows the state of a connection.
func (u *unused) note(conn net.Conn, state http.ConnState) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if state != http.StateNew {
		delete(u.open, conn)
		return
	}
	if u.closed {
		conn.Close()
		return
	}
	if u.open == nil {
		u.open = map[net.Conn]bool{}
	}
	u.open[conn] = true
}

// close closes them, and every one that is opened from now on.
func (u *unused) close() {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.closed = true
	for conn := range u.open {
		conn.Close()
	}
}
