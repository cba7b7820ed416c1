// Package xrpl reads and pays XRP on the XRP Ledger through the JSON-RPC of rippled or Clio.
//
// It owns the interpretation of a validated ledger: which XRP it delivered to whom, how a payment is built, and when a
// payment can no longer be included. It holds no key, keeps no state that a restart would lose, knows no issued
// currencies, and credits nothing by the amount that a transaction requested.
//
// Invariants:
//   - Only validated ledgers are read, each linked to the one before by its hash, and only where the node has them
//     without a gap. A header is hashed again; a transaction list with a gap is the node's error and never a smaller
//     ledger.
//   - A transfer is the change of the receiver's balance in the metadata of a tesSUCCESS transaction; for a payment it
//     must also be its delivered_amount. Amount and DeliverMax are not even decoded.
//   - No tag and tag 0 are different addresses.
//   - Every transaction made here has a LastLedgerSequence and can deliver nothing but its whole amount.
package xrpl

import (
	"cmp"
	"sync/atomic"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Chain = (*Chain)(nil)

// Chain is the XRP Ledger, accessed through one or several nodes. It is safe for concurrent use.
type Chain struct {
	*Rules
	nodes   *chain.Nodes
	pressed atomic.Int64 // when a node last sent a load warning, in Unix nanoseconds
	ahead   ahead
}

// New returns the ledger that cfg describes, read through nodes. It sends nothing: a node that is down or serves
// another network makes the calls fail, not the start. It sets nodes.Check; nodes.MaxLag is 16 unless set.
func New(cfg Config, nodes rpc.Config) (*Chain, error) {
	rules, err := NewRules(cfg)
	if err != nil {
		return nil, err
	}
	nodes.MaxLag = cmp.Or(nodes.MaxLag, 16)
	opened, err := chain.OpenNodes(rules.cfg.ID, nodes, rules.Check)
	if err != nil {
		return nil, err
	}
	return &Chain{Rules: rules, nodes: opened}, nil
}

// Capabilities returns the chain's properties. A validated ledger is never reorged out; blocks are remembered all the
// same, so that a node of another chain can be distinguished from the next ledger.
func (c *Chain) Capabilities() chain.Capabilities {
	return chain.Capabilities{
		ID:            c.cfg.ID,
		Family:        c.cfg.Family,
		Curve:         chain.Secp256k1,
		Model:         chain.AccountModel,
		Pace:          c.cfg.Pace,
		Confirmations: 1,
		ReorgDepth:    100,
		MaxPayments:   1,
		MaxPending:    c.cfg.MaxPending,
		Lifetime:      chain.Lifetime{Blocks: uint64(c.cfg.Patience) + 1},
		SharedAddress: true,
	}
}

// Stats returns the state of every node, in configured order.
func (c *Chain) Stats() []rpc.EndpointStats { return c.nodes.Stats() }

// Close closes idle connections.
func (c *Chain) Close() { c.nodes.Close() }
