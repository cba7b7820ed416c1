package solana

import (
	"maps"
	"net/http"
	"slices"
)

// Behind returns the API of this node as it is now, as a node that lags serves it: it never shows a later slot,
// payment or reorg. A transaction that is sent to it is forwarded to the node, whose answer it returns.
func (n *Node) Behind() http.Handler {
	n.mu.RLock()
	defer n.mu.RUnlock()
	past := &Node{cfg: n.cfg, machine: n.machine, bank: n.bank.clone(), pool: newPool(), present: n}
	return http.HandlerFunc(past.serveHTTP)
}

// taker is the node that receives the transactions that are sent to this one.
func (n *Node) taker() *Node {
	if n.present != nil {
		return n.present
	}
	return n
}

// clone copies what later blocks and reorgs change. Blocks and accounts themselves are never changed in place.
func (b *bank) clone() *bank {
	return &bank{
		accounts: maps.Clone(b.accounts),
		blocks:   slices.Clone(b.blocks),
		bySlot:   maps.Clone(b.bySlot),
		byHash:   maps.Clone(b.byHash),
		byID:     maps.Clone(b.byID),
		final:    b.final,
	}
}
