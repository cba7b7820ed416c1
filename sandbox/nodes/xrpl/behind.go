package xrpl

import (
	"maps"
	"net/http"
	"slices"
)

// Behind returns the API of this node as it is now, as a node that lags serves it: it never shows a later ledger,
// payment or setting, and announces no ledger. A transaction that is submitted to it is forwarded to the node, whose
// answer it returns.
func (n *Node) Behind() http.Handler {
	n.mu.Lock()
	defer n.mu.Unlock()
	past := &Node{
		cfg:      n.cfg,
		done:     n.done,
		present:  n,
		ledgers:  slices.Clone(n.ledgers),
		state:    n.state.clone(),
		txs:      maps.Clone(n.txs),
		pool:     slices.Clone(n.pool),
		queue:    slices.Clone(n.queue),
		held:     slices.Clone(n.held),
		refusing: maps.Clone(n.refusing),
		fee:      n.fee,
		least:    n.least,
		gap:      n.gap,
		frozen:   n.frozen,
		streams:  map[chan []byte]bool{},
	}
	past.open = newView(past.state, past.tip().index)
	for id, a := range n.open.changed {
		past.open.put(id, a.clone())
	}
	return http.HandlerFunc(past.handle)
}

func (s state) clone() state {
	c := make(state, len(s))
	for id, versions := range s {
		c[id] = slices.Clone(versions)
	}
	return c
}

// clone copies an account; one that was deleted is nil.
func (a *account) clone() *account {
	if a == nil {
		return nil
	}
	c := *a
	return &c
}
