package tron

import (
	"maps"
	"net/http"
	"slices"
	"strings"
)

// Behind returns the API of this node as it is now, as a node that lags serves it: it never shows a later block,
// payment or reorg. A transaction that is broadcast to it is forwarded to the node, whose answer it returns.
func (n *Node) Behind() http.Handler {
	past, present := n.past().handler(), n.handler()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/wallet/broadcast") {
			present.ServeHTTP(w, r)
			return
		}
		past.ServeHTTP(w, r)
	})
}

// past is what reading needs of a node that never changes. It shares the states, and with them the lock.
func (n *Node) past() *Node {
	n.gate.RLock()
	defer n.gate.RUnlock()
	return &Node{
		cfg:    n.cfg,
		faucet: n.faucet,
		bank:   n.bank,
		token:  n.token,
		purse:  n.purse,
		teller: n.teller,
		gate:   n.gate,
		states: n.states,
		blocks: slices.Clone(n.blocks),
		solid:  n.solid,
		pool:   slices.Clone(n.pool),
		pooled: maps.Clone(n.pooled),
		places: maps.Clone(n.places),
	}
}
