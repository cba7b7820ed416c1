// Package bitcoin reads and pays on Bitcoin, and on chains with the same transaction format such as Litecoin, over
// bitcoind's JSON-RPC.
//
// It owns addresses and scripts, the parsing of raw blocks, coin selection, fee rates and the interpretation of a
// node's answer to a broadcast. It holds no key and no state that a restart would lose, and trusts a block only as far
// as its hash reaches: it checks header, parent link and merkle root before it believes anything in a block.
//
// Invariants: an output is ours only if its script equals, byte for byte, the script of a watched P2WPKH address;
// unconfirmed value is never a transfer; amounts from JSON are read as text; a transaction that Inspect accepts has
// exactly one reading, and signatures made for it are valid for no other transaction, since BIP 143 commits to the
// input amounts.
//
// The node needs txindex=1 for Find, and for the fees of our own transactions if it cannot report spent outputs itself.
package bitcoin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

var (
	_ chain.Chain          = (*Chain)(nil)
	_ chain.Provable       = (*Chain)(nil)
	_ chain.PreviousReader = (*Chain)(nil)
)

// Config sets which chain is read, through which nodes, and what may be paid for block space. Zero values mean the
// defaults given here; ID, Network and Node.URLs are required.
type Config struct {
	ID      bursar.ChainID
	Network Network
	// Node configures the nodes. New sets its Check.
	Node rpc.Config
	// ScanTimeout bounds one scan of all unspent outputs, which Holdings needs. Default: 15 min.
	ScanTimeout time.Duration

	Confirmations int           // default: the network's; a block with this many, itself included, is final
	Pace          time.Duration // 5 s

	FeeTarget       int    // blocks within which a transaction should be mined: 6
	MaxFeeRate      uint64 // upper bound in satoshi per vbyte: 500
	FallbackFeeRate uint64 // satoshi per vbyte if the node has no estimate; 0: twice the relay minimum
	BumpAfter       uint64 // blocks before a transaction's fee is bumped; default: the network's
	MaxPayments     int    // 100
	MaxPending      int    // 10; nodes relay chains of up to 25 unconfirmed transactions
}

// Limits of the adapter itself.
const (
	reorgDepth  = 100
	maxPayments = 1000 // outputs of 43 bytes each then fill less than half of the largest relayed transaction
	// maxBehind is how many blocks a node may lack of the headers that it knows and still count as synced.
	maxBehind = 6
	// maxLag is how many blocks a node may be behind another node, unless the configuration sets another value.
	maxLag = 2
)

// Chain is the adapter. It is safe for concurrent use.
type Chain struct {
	cfg     Config
	network Network
	nodes   *chain.Nodes
	scanner *chain.Nodes  // the same nodes with a much longer timeout
	tip     atomic.Uint64 // the height of the last head; the next request guesses from it
	quoted  chain.Shared[rates]
	blocks  sync.Pool // of *block, whose memory is used again
}

// New checks the configuration and makes the adapter. It sends no request: a chain whose nodes are down can be started,
// and its addresses can be made.
func New(cfg Config) (*Chain, error) {
	cfg = cfg.withDefaults()
	if err := cfg.validate(); err != nil {
		return nil, fmt.Errorf("configure chain %s: %w", cfg.ID, err)
	}
	c := &Chain{cfg: cfg, network: cfg.Network}
	c.blocks.New = func() any { return new(block) }
	c.quoted.Keep = quotedFor
	var err error
	if c.nodes, err = chain.OpenNodes(cfg.ID, cfg.Node, c.check); err != nil {
		return nil, err
	}
	patient := cfg.Node
	patient.Timeout = cfg.ScanTimeout
	if c.scanner, err = chain.OpenNodes(cfg.ID, patient, c.check); err != nil {
		return nil, err
	}
	return c, nil
}

func (cfg Config) withDefaults() Config {
	cfg.ScanTimeout = cmp.Or(cfg.ScanTimeout, 15*time.Minute)
	cfg.Confirmations = cmp.Or(cfg.Confirmations, cfg.Network.Confirmations)
	cfg.Pace = cmp.Or(cfg.Pace, 5*time.Second)
	cfg.FeeTarget = cmp.Or(cfg.FeeTarget, 6)
	cfg.MaxFeeRate = cmp.Or(cfg.MaxFeeRate, 500)
	cfg.BumpAfter = cmp.Or(cfg.BumpAfter, cfg.Network.BumpAfter)
	cfg.MaxPayments = cmp.Or(cfg.MaxPayments, 100)
	cfg.MaxPending = cmp.Or(cfg.MaxPending, 10)
	cfg.Node.Version = cmp.Or(cfg.Node.Version, rpc.V1)
	cfg.Node.MaxLag = cmp.Or(cfg.Node.MaxLag, maxLag)
	return cfg
}

func (cfg Config) validate() error {
	switch {
	case cfg.ID == "":
		return errors.New("the chain id is missing: set one")
	case cfg.Network.HRP == "" || cfg.Network.Family == "" || len(cfg.Network.ScriptHash) == 0:
		return errors.New("the network is missing: set one")
	case cfg.Confirmations < 1 || cfg.Confirmations > reorgDepth:
		return fmt.Errorf("confirmations must be between 1 and %d", reorgDepth)
	case cfg.FeeTarget < 1 || cfg.FeeTarget > 1008:
		return errors.New("the fee target must be between 1 and 1008 blocks")
	case cfg.MaxFeeRate > rateBound || cfg.FallbackFeeRate > cfg.MaxFeeRate:
		return errors.New("the highest fee rate exceeds 10,000 satoshi per vbyte, or the fallback exceeds it")
	case cfg.MaxPayments < 1 || cfg.MaxPayments > maxPayments:
		return fmt.Errorf("payments of one transaction must be between 1 and %d", maxPayments)
	case cfg.MaxPending < 1 || cfg.MaxPending > 24:
		return errors.New("pending transactions must be between 1 and 24")
	case cfg.Pace < 0:
		return fmt.Errorf("the pace %v is negative", cfg.Pace)
	case cfg.ScanTimeout < 0:
		return fmt.Errorf("the timeout of a scan %v is negative", cfg.ScanTimeout)
	}
	return nil
}

// Capabilities returns the properties of the chain that the core acts on.
func (c *Chain) Capabilities() chain.Capabilities {
	return chain.Capabilities{
		ID: c.cfg.ID, Family: c.network.Family, Curve: chain.Secp256k1, Model: chain.UTXOModel,
		Pace: c.cfg.Pace, Confirmations: c.cfg.Confirmations, ReorgDepth: reorgDepth,
		MaxPayments: c.cfg.MaxPayments, MaxPending: c.cfg.MaxPending, BumpAfter: c.cfg.BumpAfter,
	}
}

// Expired is always false: a Bitcoin transaction may be mined at any time until another transaction spends one of its
// inputs, and the core reads that from the blocks (chain.Block.Funding, Spent and ExternalSpends).
func (c *Chain) Expired(context.Context, chain.UnsignedTx, string) (bool, error) { return false, nil }

// Stats returns the state of every node, in configured order.
func (c *Chain) Stats() []rpc.EndpointStats { return c.nodes.Stats() }

// Close closes idle connections.
func (c *Chain) Close() {
	c.nodes.Close()
	c.scanner.Close()
}
