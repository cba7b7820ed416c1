// Package solana reads and pays on Solana through a node's JSON-RPC.
//
// It owns the interpretation of a node's answers: which lamports a block delivered, which slots have no block, how a
// payment is priced, built, sent and proven to have expired. It holds no key, keeps no state that a restart would lose,
// and makes no decision by an instruction's data or a memo. It supports lamports only: no SPL tokens.
//
// Invariants:
//   - Only blocks at commitment `finalized` are read. Head.Latest and Head.Final are the same block, and every block
//     that After returns is already final.
//   - Heights are slots. A slot is skipped only if the next block names an earlier one as its parent.
//   - What an address gained is its balance after a transaction without `meta.err` less its balance before it: one
//     transfer for each transaction and address, whatever instructions it had. Transfer.Output is therefore always 0.
//   - A block is evaluated by its structure – keys, balances, signatures –, whatever version its transactions have.
//   - A transaction of ours has one signature for one blockhash. It has expired only when the final chain is past the
//     last block that could contain it, and the node has every block since and finds the signature in none of them.
package solana

import (
	"cmp"
	"sync/atomic"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Chain = (*Chain)(nil)

// Chain is Solana, accessed through one or several nodes. It is safe for concurrent use.
type Chain struct {
	*Rules
	nodes  *chain.Nodes
	manner manner
	format atomic.Int32 // the index of the format that was accepted last, in the order of formatsOf
	dry    atomic.Int32 // consecutive reads that found none of the listed blocks
}

// defaultLag is how many slots a node may be behind the best one: 32 seconds of 214 ms.
const defaultLag = 150

// New returns the chain that cfg describes, read through nodes. It sends nothing: a node that is down or serves another
// chain makes the calls fail, not the start. It sets nodes.Check; nodes.MaxLag is 150 slots unless set.
func New(cfg Config, nodes rpc.Config) (*Chain, error) {
	rules, err := NewRules(cfg)
	if err != nil {
		return nil, err
	}
	nodes.MaxLag = cmp.Or(nodes.MaxLag, defaultLag)
	opened, err := chain.OpenNodes(rules.cfg.ID, nodes, rules.Check)
	if err != nil {
		return nil, err
	}
	return &Chain{Rules: rules, nodes: opened}, nil
}

// Capabilities returns the chain's properties. A block is final when it is read, so a deposit needs only one
// confirmation.
func (c *Chain) Capabilities() chain.Capabilities {
	return chain.Capabilities{
		ID:            c.cfg.ID,
		Family:        c.cfg.Family,
		Curve:         chain.Ed25519,
		Model:         chain.AccountModel,
		Pace:          c.cfg.Pace,
		Confirmations: 1,
		ReorgDepth:    c.cfg.ReorgDepth,
		MaxPayments:   c.cfg.MaxPayments,
		MaxPending:    c.cfg.MaxPending,
		Lifetime:      chain.Lifetime{Blocks: lifetime + 1},
	}
}

// Stats returns the state of every node, in configured order.
func (c *Chain) Stats() []rpc.EndpointStats { return c.nodes.Stats() }

// Close closes idle connections.
func (c *Chain) Close() { c.nodes.Close() }
