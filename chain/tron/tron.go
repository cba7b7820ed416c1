// Package tron reads and pays on Tron through the HTTP API of a java-tron full node: TRX and TRC-20 tokens.
//
// It owns the interpretation of a node's answers: which value a block delivered, what is solidified, what a payment
// costs, how it is encoded, signed and sent. It holds no key, keeps no state that a restart would lose, never signs
// bytes that a node built, and makes no decision by a token's name or by call data. It ignores TRC-10 tokens.
//
// A node must answer /wallet and /walletsolidity under one URL. java-tron serves the two on separate ports, so an
// operator's node needs a reverse proxy; public gateways serve both. Value that contracts send is visible only at nodes
// that keep internal transactions (`vm.saveInternalTx = true`); reconciliation finds what is missing from others.
//
// Invariants:
//   - Only transactions whose contractRet is SUCCESS deliver anything, and of these only internal transactions that
//     were not rejected and are known to move TRX.
//   - A block's transactions and their execution results are compared: count, ids, height, time, outcome. A mismatch
//     is the node's error and never an empty block.
//   - A contract of an unknown type is read like any other and never stops a block.
//   - Transfer.Output depends on the transaction alone: 0 for its own value, 1, 2, … for value that contracts sent in
//     it by the position among its internal transactions, the position among its logs for tokens.
//   - An unsigned transaction's reservation is its transaction id, so that no two outgoing transactions are ever the
//     same transaction.
package tron

import (
	"cmp"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Chain = (*Chain)(nil)

// Chain is one Tron network, accessed through one or several nodes. It is safe for concurrent use.
type Chain struct {
	*Rules
	nodes *chain.Nodes
	ahead ahead
}

// New returns the chain that cfg describes, read through nodes. It sends nothing: a node that is down or serves another
// chain makes the calls fail, not the start. It sets nodes.Check; nodes.MaxLag is 20 unless set, a minute of blocks.
func New(cfg Config, nodes rpc.Config) (*Chain, error) {
	rules, err := NewRules(cfg)
	if err != nil {
		return nil, err
	}
	nodes.MaxLag = cmp.Or(nodes.MaxLag, 20)
	opened, err := chain.OpenNodes(rules.cfg.ID, nodes, rules.Check)
	if err != nil {
		return nil, err
	}
	return &Chain{Rules: rules, nodes: opened}, nil
}

// confirmations is the number that clients see: a block is solidified once 19 of the 27 witnesses have built on it.
const confirmations = 19

// unevenness is how much later than Config.Expiry after its signing a transaction may expire: the part of its timestamp
// that depends on the request, and clocks that differ. java-tron lets a block be 3 s ahead of time.
const unevenness = time.Minute

// Capabilities returns the chain's properties. No fee is ever bumped: a stuck transaction expires.
func (c *Chain) Capabilities() chain.Capabilities {
	return chain.Capabilities{
		ID:            c.cfg.ID,
		Family:        chain.FamilyTron,
		Curve:         chain.Secp256k1,
		Model:         chain.AccountModel,
		Pace:          c.cfg.Pace,
		Confirmations: confirmations,
		ReorgDepth:    c.cfg.ReorgDepth,
		MaxPayments:   1,
		MaxPending:    c.cfg.MaxPending,
		Lifetime:      chain.Lifetime{Time: c.cfg.Expiry + unevenness},
	}
}

// Stats returns the state of every node, in configured order.
func (c *Chain) Stats() []rpc.EndpointStats { return c.nodes.Stats() }

// Close closes idle connections.
func (c *Chain) Close() { c.nodes.Close() }
