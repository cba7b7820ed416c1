// Package bitcoin is the adapter for Bitcoin, and for chains that share its transactions, as Litecoin does, over
// bitcoind's JSON-RPC.
//
// It owns addresses and scripts, the reading of raw blocks, coin selection, fee rates and what a node's answer to a
// broadcast means. It never holds a key or a state that a restart would lose, and never trusts a block further than its
// hash reaches: header, parent link and merkle root are checked before anything of a block is believed.
//
// Invariants: an output is ours only when its script is byte for byte the one of a watched P2WPKH address; unconfirmed
// value is never a transfer; amounts from JSON are read as text; a transaction that Inspect accepts has exactly one
// reading, and signatures made for it are good for nothing else, since BIP 143 commits to the amounts that go in.
//
// The node needs txindex=1 for Find, and for the fees of own transactions where it cannot tell spent outputs itself.
package bitcoin

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var _ chain.Chain = (*Chain)(nil)

// Config says which chain is read, through which nodes, and what may be paid for blockspace. Zero values mean the
// defaults given here; ID, Network and Node.URLs are required.
type Config struct {
	ID      bursar.ChainID
	Network Network
	// Node configures the nodes. Its Check is set by New.
	Node rpc.Config
	// ScanTimeout bounds one scan of all unspent outputs, which Holdings needs: 15 min.
	ScanTimeout time.Duration

	Confirmations int           // the network's: a block with so many, itself counted, is final
	Pace          time.Duration // 5 s

	FeeTarget       int    // blocks in which a transaction should be mined: 6
	MaxFeeRate      uint64 // satoshi per vbyte that are never exceeded: 500
	FallbackFeeRate uint64 // satoshi per vbyte where the node has no estimate; 0: twice the least that it relays
	BumpAfter       uint64 // blocks before the fee of a transaction is bumped: the network's
	MaxPayments     int    // 100
	MaxPending      int    // 10; nodes relay chains of 25 unconfirmed transactions
}

// Limits of the adapter itself.
const (
	reorgDepth  = 100
	maxPayments = 1000 // outputs of 43 bytes each then fill less than half of what nodes relay
	// maxBehind is how many blocks a node may lack of the headers that it knows and still be taken for a tip.
	maxBehind = 6
	// maxLag is how many blocks a node may be behind another one, unless the configuration says otherwise.
	maxLag = 2
)

// Chain is the adapter. It is safe for concurrent use.
type Chain struct {
	cfg     Config
	network Network
	nodes   *rpc.Client
	scanner *rpc.Client   // the same nodes with much more patience
	tip     atomic.Uint64 // the height of the last head, by which the next one is asked for
}

// New checks the configuration and makes the adapter. It asks no node: a chain whose nodes are down can be started, and
// its addresses made.
func New(cfg Config) (*Chain, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("configure chain %s: %w", cfg.ID, err)
	}
	c := &Chain{cfg: cfg, network: cfg.Network}
	node := cfg.Node
	node.Check = c.check
	var err error
	if c.nodes, err = rpc.New(node); err != nil {
		return nil, fmt.Errorf("configure chain %s: %w", cfg.ID, err)
	}
	node.Timeout = cfg.ScanTimeout
	if c.scanner, err = rpc.New(node); err != nil {
		return nil, fmt.Errorf("configure chain %s: %w", cfg.ID, err)
	}
	return c, nil
}

func (cfg Config) withDefaults() Config {
	setDefault(&cfg.ScanTimeout, 15*time.Minute)
	setDefault(&cfg.Confirmations, cfg.Network.Confirmations)
	setDefault(&cfg.Pace, 5*time.Second)
	setDefault(&cfg.FeeTarget, 6)
	setDefault(&cfg.MaxFeeRate, 500)
	setDefault(&cfg.BumpAfter, cfg.Network.BumpAfter)
	setDefault(&cfg.MaxPayments, 100)
	setDefault(&cfg.MaxPending, 10)
	setDefault(&cfg.Node.Version, rpc.V1)
	setDefault(&cfg.Node.MaxLag, maxLag)
	return cfg
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

func (cfg Config) validate() error {
	switch {
	case cfg.ID == "":
		return errors.New("an id is required")
	case cfg.Network.HRP == "" || cfg.Network.Family == "" || len(cfg.Network.ScriptHash) == 0:
		return errors.New("a network is required")
	case cfg.Confirmations < 1 || cfg.Confirmations > reorgDepth:
		return fmt.Errorf("confirmations must lie between 1 and %d", reorgDepth)
	case cfg.FeeTarget < 1 || cfg.FeeTarget > 1008:
		return errors.New("the fee target must lie between 1 and 1008 blocks")
	case cfg.MaxFeeRate > 10_000 || cfg.FallbackFeeRate > cfg.MaxFeeRate:
		return errors.New("the fee rate's bound is over 10,000 satoshi per vbyte, or the fallback is over the bound")
	case cfg.MaxPayments < 1 || cfg.MaxPayments > maxPayments:
		return fmt.Errorf("payments of one transaction must lie between 1 and %d", maxPayments)
	case cfg.MaxPending < 1 || cfg.MaxPending > 24:
		return errors.New("pending transactions must lie between 1 and 24")
	case cfg.Pace < 0 || cfg.ScanTimeout < 0:
		return errors.New("a time is negative")
	}
	return nil
}

// Capabilities returns the facts that the core acts on.
func (c *Chain) Capabilities() chain.Capabilities {
	return chain.Capabilities{
		ID: c.cfg.ID, Family: c.network.Family, Curve: chain.Secp256k1, Model: chain.UTXOModel,
		Pace: c.cfg.Pace, Confirmations: c.cfg.Confirmations, ReorgDepth: reorgDepth,
		MaxPayments: c.cfg.MaxPayments, MaxPending: c.cfg.MaxPending, BumpAfter: c.cfg.BumpAfter,
	}
}

// Expired is always false: a Bitcoin transaction may be mined at any time until one of its inputs is spent otherwise,
// and that the core reads from the blocks (chain.Block.Funding, Spent and Foreign).
func (c *Chain) Expired(context.Context, chain.UnsignedTx, string) (bool, error) { return false, nil }

// Stats tells the state of every node, in configured order.
func (c *Chain) Stats() []rpc.EndpointStats { return c.nodes.Stats() }

// Close drops idle connections.
func (c *Chain) Close() {
	c.nodes.Close()
	c.scanner.Close()
}
