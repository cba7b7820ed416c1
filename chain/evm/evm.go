// Package evm reads and pays on chains that implement Ethereum's JSON-RPC: Ethereum, BNB Smart Chain, Polygon.
//
// It owns the interpretation of such a chain's answers: which value a block delivered, what is final, how a payment is
// priced, built and sent. It holds no key, keeps no state that a restart would lose, and makes no decision by a token's
// name, by call data or by what a transaction meant to do. Differences between the chains are fields of Config.
//
// Invariants:
//   - Only receipts with status 1 deliver anything, and only frames none of whose callers failed.
//   - Receipts and traces are requested by block hash and checked against the block: their count, order, hashes and
//     the header's bloom of logs. A mismatch is the node's error and never an empty block.
//   - A transaction of an unknown type is read like any other and never stops a block.
//   - Transfer.Output depends on the transaction alone: 0 for its own value, 1, 2, … for value that contracts sent in
//     it, the position among its logs for tokens.
package evm

import (
	"cmp"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var (
	_ chain.Chain          = (*Chain)(nil)
	_ chain.EndpointReader = (*Chain)(nil)
	_ chain.AssetChecker   = (*Chain)(nil)
	_ chain.Counting       = (*Chain)(nil)
)

// Chain is one EVM chain, accessed through one or several nodes. It is safe for concurrent use.
type Chain struct {
	*Rules
	nodes  *chain.Nodes
	counts counts
	forms  forms

	mu    sync.Mutex
	tries map[string]int // by block: how often its balances could not be compared
}

// manyConns lets a chain of two blocks a second be caught up with ten times as fast as it grows when each of the three
// answers that a block takes arrives after 400 ms. How many connections are used is derived from the latency.
const manyConns = 48

// New returns the chain that cfg describes, read through nodes. It sends nothing: a node that is down or serves another
// chain makes the calls fail, not the start. It sets nodes.Check; nodes.MaxLag is 16 and nodes.MaxConns 48 unless set.
func New(cfg Config, nodes rpc.Config) (*Chain, error) {
	rules, err := NewRules(cfg)
	if err != nil {
		return nil, err
	}
	nodes.MaxLag = cmp.Or(nodes.MaxLag, 16)
	nodes.MaxConns = cmp.Or(nodes.MaxConns, manyConns)
	opened, err := chain.OpenNodes(rules.cfg.ID, nodes, rules.Check)
	if err != nil {
		return nil, err
	}
	return &Chain{
		Rules: rules,
		nodes: opened,
		forms: forms{now: opened.Now, since: map[string]time.Time{}},
		tries: map[string]int{},
	}, nil
}

// Capabilities returns the chain's properties.
func (c *Chain) Capabilities() chain.Capabilities {
	return chain.Capabilities{
		ID:            c.cfg.ID,
		Family:        c.cfg.Family,
		Curve:         chain.Secp256k1,
		Model:         chain.AccountModel,
		Pace:          c.cfg.Pace,
		Confirmations: c.cfg.confirmations(),
		ReorgDepth:    c.cfg.ReorgDepth,
		MaxPayments:   1,
		MaxPending:    c.cfg.MaxPending,
		BumpAfter:     c.cfg.BumpAfter,
	}
}

// Stats returns the state of every node, in configured order.
func (c *Chain) Stats() []rpc.EndpointStats { return c.nodes.Stats() }

// Close closes idle connections.
func (c *Chain) Close() { c.nodes.Close() }

// counts are the counters that Counters returns.
type counts struct {
	untraced   atomic.Uint64
	fallbacks  atomic.Uint64
	compared   atomic.Uint64
	uncompared atomic.Uint64
	lost       atomic.Uint64
}

// Counters returns how often a fallback was used since the process started:
//   - untraced_blocks: blocks with contract calls that no endpoint traced;
//   - trace_fallbacks: those of them that an endpoint which supports tracing failed to trace;
//   - compared_addresses: our addresses whose balances were compared for that reason;
//   - uncompared_addresses: our addresses whose balances no endpoint had;
//   - unexplained_losses: our addresses that lost value without a transaction.
func (c *Chain) Counters() map[string]uint64 {
	return map[string]uint64{
		"untraced_blocks":      c.counts.untraced.Load(),
		"trace_fallbacks":      c.counts.fallbacks.Load(),
		"compared_addresses":   c.counts.compared.Load(),
		"uncompared_addresses": c.counts.uncompared.Load(),
		"unexplained_losses":   c.counts.lost.Load(),
	}
}

// forms remembers which endpoints do not accept state by block hash (EIP-1898).
type forms struct {
	now   func() time.Time
	mu    sync.Mutex
	since map[string]time.Time
}

// formMemory is how long an endpoint is assumed not to accept it: nodes are upgraded.
const formMemory = time.Hour

func (f *forms) refuses(endpoint string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	since, known := f.since[endpoint]
	return known && f.now().Sub(since) < formMemory
}

func (f *forms) refused(endpoint string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.since[endpoint] = f.now()
}
