package api_test

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"testing"
	"time"

	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/store/storetest"
)

// boundedServer is a server behind a bounded listener.
type boundedServer struct {
	*testing.T
	bounded *api.BoundedListener
}

func newBoundedServer(t *testing.T, bounds api.Connections) *boundedServer {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c := &boundedServer{t, api.Bounded(listener, bounds)}
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	server := api.Server(answer, newHarness(t, storetest.SQLite(t), newClock()).config.Log)
	go func() { _ = server.Serve(c.bounded) }()
	t.Cleanup(func() { server.Close() })
	return c
}

// comes connects and asks once, and reports whether there is an answer. The connection stays open.
func (c *boundedServer) comes() (conn net.Conn, answered bool) {
	c.Helper()
	conn, err := net.Dial("tcp", c.bounded.Addr().String())
	if err != nil {
		c.Fatal(err)
	}
	c.Cleanup(func() { conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Minute)); err != nil { // a test that waits in vain fails
		c.Fatal(err)
	}
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\n\r\n")
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return conn, false
	}
	return conn, response.Body.Close() == nil && response.StatusCode == http.StatusNoContent
}

// A client that opens connections and leaves them open is refused further ones until it closes one.
func TestOneClientTakesNotEveryConnection(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bounds api.Connections
		served int
	}{
		"one address": {api.Connections{Most: 9, Each: 3}, 3},
		"all":         {api.Connections{Most: 4, Each: 9}, 4},
		"a proxy": {api.Connections{Most: 5, Each: 1,
			Proxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}}, 5},
	} {
		s := newBoundedServer(t, c.bounds)
		var last net.Conn
		for i := range c.served {
			conn, answered := s.comes()
			if last = conn; !answered {
				t.Errorf("%s: connection %d of %d is not served", name, i+1, c.served)
			}
		}
		if _, answered := s.comes(); answered {
			t.Errorf("%s: a connection more than %d is served, want it refused", name, c.served)
		}
		if open, refused := s.bounded.Count(); open != c.served || refused != 1 {
			t.Errorf("%s: %d are open and %d were refused, want %d and 1", name, open, refused, c.served)
		}
		s.leaves(last, c.served)
		if _, answered := s.comes(); !answered {
			t.Errorf("%s: after one has left no other is served, want it served", name)
		}
	}
}

// leaves has the server end one of so many connections, and returns once it has.
func (c *boundedServer) leaves(conn net.Conn, of int) {
	c.Helper()
	if _, err := io.WriteString(conn, "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"); err != nil {
		c.Fatal(err)
	}
	if _, err := io.Copy(io.Discard, conn); err != nil {
		c.Fatal(err)
	}
	for open := of; open == of; open, _ = c.bounded.Count() {
		runtime.Gosched()
	}
}
