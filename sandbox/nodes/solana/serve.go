package solana

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// pairs is how many free ports are tried for one whose successor is free as well.
const pairs = 10

// serve listens and answers in the background until Close. WebSockets are served on the JSON-RPC port, and on the port
// after it where that is free: clients look for them there when they are told of the first one only.
func (n *Node) serve(ctx context.Context) error {
	listeners, err := listen(ctx, n.cfg.Listen)
	if err != nil {
		return err
	}
	handler := http.Handler(http.HandlerFunc(n.serveHTTP))
	if n.cfg.Wrap != nil {
		handler = n.cfg.Wrap(handler)
	}
	n.url = "http://" + listeners[0].Addr().String()
	n.ws = strings.Replace(n.url, "http", "ws", 1)
	if len(listeners) > 1 {
		n.ws = "ws://" + listeners[1].Addr().String()
	} else {
		n.cfg.Log.Warn("solana websockets are not on the port after the json-rpc port, which is taken", "url", n.ws)
	}
	n.server = &http.Server{Handler: handler, ReadTimeout: 30 * time.Second, WriteTimeout: time.Minute}
	for _, listener := range listeners {
		n.served.Go(func() { // ends with Close
			if err := n.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
				n.cfg.Log.Error("solana json-rpc server ended", "error", err)
			}
		})
	}
	return nil
}

// listen takes an address and, where it can be had, the port after it. Where any port may be taken, it looks for two in
// a row.
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
		first.Close() // nobody knows of it
	}
}

// URL is the JSON-RPC address, http://127.0.0.1:port.
func (n *Node) URL() string { return n.url }

// WebSocketURL is the address of subscriptions: on the port after the JSON-RPC port, unless that was taken. They are
// also served on the JSON-RPC port.
func (n *Node) WebSocketURL() string { return n.ws }
