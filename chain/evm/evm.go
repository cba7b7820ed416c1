// Package evm reads and pays on chains that speak Ethereum's JSON-RPC: Ethereum, BNB Smart Chain, Polygon.
//
// It owns what such a chain's answers mean: which value a block delivered, what is final, how a payment is priced, built
// and sent. It never holds a key, keeps no state that a restart would lose, and decides nothing by a token's name, by call
// data or by what a transaction meant to do. Differences between the chains are fields of Config.
//
// Invariants:
//   - Only receipts with status 1 deliver anything, and only frames none of whose callers failed.
//   - Receipts and traces are asked by block hash and checked against the block: their count, order, hashes and the
//     header's bloom of logs. What does not fit is the node's error and never an empty block.
//   - A transaction of an unknown type is read like any other and never stops a block.
//   - Transfer.Output depends on the transaction alone: 0 for its own value, 1, 2, … for value that contracts sent in it,
//     the place among its logs for tokens.
package evm

import (
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Chain = (*Chain)(nil)

// Chain is one EVM chain behind one or several nodes. It is safe for concurrent use.
type Chain struct {
	*Rules
	nodes   *rpc.Client
	several bool // nodes, so that their heights are compared
	log     *slog.Logger
	now     func() time.Time
	heads   atomic.Uint64

	mu     sync.Mutex
	skills map[string]*skills // by endpoint
}

// New returns the chain that cfg describes, read through nodes. It sends nothing: a node that is down or serves another
// chain fails the calls and not the start. It sets nodes.Check; nodes.MaxLag is 16 unless set.
func New(cfg Config, nodes rpc.Config) (*Chain, error) {
	rules, err := NewRules(cfg)
	if err != nil {
		return nil, err
	}
	nodes.Check = rules.Check
	if nodes.MaxLag == 0 {
		nodes.MaxLag = 16
	}
	client, err := rpc.New(nodes)
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", cfg.ID, err)
	}
	log := nodes.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	now := nodes.Now
	if now == nil {
		now = time.Now
	}
	return &Chain{
		Rules: rules, nodes: client, several: len(nodes.URLs) > 1, now: now,
		log: log.With("chain", string(cfg.ID)), skills: map[string]*skills{},
	}, nil
}

// Traits returns the chain's facts.
func (c *Chain) Traits() chain.Traits {
	return chain.Traits{
		ID:            c.cfg.ID,
		Family:        c.cfg.Family,
		Curve:         chain.Secp256k1,
		Spending:      chain.ByNonce,
		Pace:          c.cfg.Pace,
		Confirmations: c.cfg.confirmations(),
		ReorgDepth:    c.cfg.ReorgDepth,
		MaxPayments:   1,
		MaxPending:    c.cfg.MaxPending,
		BumpAfter:     c.cfg.BumpAfter,
	}
}

// Stats tells the state of every node, in configured order.
func (c *Chain) Stats() []rpc.EndpointStats { return c.nodes.Stats() }

// Close drops idle connections.
func (c *Chain) Close() { c.nodes.Close() }

// skills is what one endpoint was found unable to do. It is forgotten after a while: nodes are upgraded.
type skills struct {
	learnt         time.Time
	noGethTrace    bool // debug_traceBlockByHash
	noParityTrace  bool // trace_block
	noReceiptsCall bool // eth_getBlockReceipts
	noHashState    bool // EIP-1898: state asked by block hash
}

// skillsLast is how long an endpoint is believed to lack a method.
const skillsLast = time.Hour

// lacks returns what an endpoint is believed to lack.
func (c *Chain) lacks(s *rpc.Session) skills {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.skills[s.Name()]
	if known == nil || c.now().Sub(known.learnt) > skillsLast {
		return skills{}
	}
	return *known
}

// learn notes that an endpoint lacks something.
func (c *Chain) learn(s *rpc.Session, note func(*skills)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	known := c.skills[s.Name()]
	if known == nil || c.now().Sub(known.learnt) > skillsLast {
		known = &skills{learnt: c.now()}
		c.skills[s.Name()] = known
	}
	note(known)
}
