package solana

import (
	"context"
	"net"
	"net/http"
	"strconv"
	"strings"
)

// pairs is how many free ports are tried for one whose successor is free as well.
const pairs = 10

// serve listens and answers in the background until Close. WebSockets are served on the JSON-RPC port, and on the
// port after it if that is free: clients that only know the first port look for them there.
func (n *Node) serve(ctx context.Context) error {
	listeners, err := listen(ctx, n.cfg.Listen)
	if err != nil {
		return err
	}
	n.host.OnClose(n.dropFeeds)
	n.notifiedRoot = n.bank.final
	n.host.ServeOn(http.HandlerFunc(n.serveHTTP), listeners...)
	n.ws = strings.Replace(n.URL(), "http", "ws", 1)
	if len(listeners) > 1 {
		n.ws = "ws://" + listeners[1].Addr().String()
	} else {
		n.cfg.Log.Warn("port after the JSON-RPC port is in use: no websockets there", "url", n.ws)
	}
	return nil
}

// listen listens on an address and, if possible, on the port after it. With port 0 it looks for two free ports in a
// row.
func listen(ctx context.Context, address string) ([]net.Listener, error) {
	var config net.ListenConfig
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	for try := 1; ; try++ {
		first, err := config.Listen(ctx, "tcp", address)
		if err != nil {
			return nil, err
		}
		taken := first.Addr().(*net.TCPAddr).Port
		second, err := config.Listen(ctx, "tcp", net.JoinHostPort(host, strconv.Itoa(taken+1)))
		if err == nil {
			return []net.Listener{first, second}, nil
		}
		if port != "0" || try == pairs {
			return []net.Listener{first}, nil
		}
		first.Close() // no client knows the port
	}
}

// URL is the JSON-RPC address, http://127.0.0.1:port.
func (n *Node) URL() string { return n.host.URL() }

// WebSocketURL is the address of subscriptions: on the port after the JSON-RPC port, unless that was in use. They are
// also served on the JSON-RPC port.
func (n *Node) WebSocketURL() string { return n.ws }
