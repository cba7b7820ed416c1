package ethereum

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/ethereum/go-ethereum/eth/filters"
	"github.com/ethereum/go-ethereum/rpc"
)

// subscriptions serves eth_subscribe and filters over WebSockets, and nothing else: other requests go over HTTP,
// where they see whole blocks only. A head is announced while the gate is still held, so a subscriber that calls at
// once waits for the whole block.
func (n *Node) subscriptions() (*rpc.Server, error) {
	server := rpc.NewServer()
	service := filters.NewFilterAPI(filters.NewFilterSystem(n.eth.APIBackend, filters.Config{}))
	if err := server.RegisterName("eth", service); err != nil {
		return nil, fmt.Errorf("register subscriptions: %w", err)
	}
	return server, nil
}

// upgraded separates WebSockets from other requests.
func upgraded(sockets, others http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
			sockets.ServeHTTP(w, r)
			return
		}
		others.ServeHTTP(w, r)
	})
}

// WebSocketURL is the address of subscriptions, ws://127.0.0.1:port.
func (n *Node) WebSocketURL() string { return strings.Replace(n.URL(), "http", "ws", 1) }
