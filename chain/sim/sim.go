// Package sim simulates a chain in memory, for tests and simulations: it keeps every guarantee of package chain's
// interface, and does on request what real chains do once in years. It simulates blocks, reorgs, a mempool with
// replacement, expiry, failing transactions, external spends with our keys and faults of the node.
//
// It owns the chain's state. It never uses a network, a clock or a source of randomness: the same calls give the same
// blocks. Its invariants: the balances of an asset always add up to the initial supply (Check proves it); no UTXO and
// no nonce is used twice on one chain; a transaction is included only with signatures by the keys of the addresses that
// it spends from.
//
// Methods that control the chain panic on a request that makes no sense, such as a reorg deeper than the chain.
package sim

import (
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var _ chain.Chain = (*Chain)(nil)

// Config configures a Chain. The zero value of a field means the default that is named.
type Config struct {
	ID            bursar.ChainID // default "sim"
	Family        bursar.Family  // default "sim"; addresses start with it
	Spending      chain.Model    // default chain.UTXOModel
	Confirmations int            // a block is final with so many, itself included; default 1: final at once
	// Expiry is how many blocks after the newest one a transaction can still be included; default 0: it never expires.
	Expiry uint64
	// Unnumbered makes a chain of the account model without nonces, as Tron and Solana are: a transaction ends only by
	// its expiry, and the chain does not refuse a second payment. It needs an Expiry, and no transaction is replaced.
	Unnumbered    bool
	Seed          uint64        // another seed gives other hashes
	SharedAddress bool          // all wallets share the hot address and differ by memo
	Pace          time.Duration // default 1 s; the time between blocks
	// Now returns the time of new blocks; nil: each is Pace after the one before it. A block is never older than the one
	// before it.
	Now         func() time.Time
	ReorgDepth  int    // default 100
	MaxPayments int    // default 100 on the UTXO model, 1 on the account model
	MaxPending  int    // default 10
	MaxInputs   int    // UTXOs in one transaction; default 500
	BumpAfter   uint64 // default 3

	Endpoints []chain.Endpoint // default one, called "node"
}

// Chain is one chain with its endpoints. It is safe for concurrent use.
type Chain struct {
	config       Config
	capabilities chain.Capabilities

	mu        sync.Mutex
	ledger    ledger
	blocks    []*block       // canonical, the index is the height
	where     map[string]int // the height of each transaction on the canonical chain
	used      map[string]int // the height at which each outpoint or nonce was used
	waiting   []*transaction // in the order of arrival
	dropped   map[string]*transaction
	seen      map[string]*transaction // every transaction that was ever in the mempool or in a block
	made      uint64                  // counts blocks and payments, so that no two are equal
	going     uint64                  // the fee rate that a transaction must pay to be included
	floor     uint64                  // the lowest fee rate that the node accepts
	held      bool                    // finality does not advance
	heldAt    int                     // the final height while held
	wantsMemo map[string]bool
	faults    map[Method][]error
	outcomes  []Outcome
	listeners map[*subscription]bool
	backends  []backend // one for each endpoint
	rotates   bool      // each query goes to the next of them
	turn      int
	pruned    uint64 // no endpoint has blocks below this height
}

// block is one block; it never changes once it is made.
type block struct {
	ref     chain.BlockRef
	parent  string
	time    time.Time
	rate    uint64 // the fee of each unit of weight
	entries []*entry
}

// New returns a chain with only its first block.
func New(config Config) *Chain {
	config = config.withDefaults()
	c := &Chain{
		config:       config,
		capabilities: config.capabilities(),
		ledger:       newLedger(),
		where:        map[string]int{},
		used:         map[string]int{}, dropped: map[string]*transaction{}, seen: map[string]*transaction{},
		going: defaultRate, floor: 1,
		wantsMemo: map[string]bool{},
		faults:    map[Method][]error{},
		listeners: map[*subscription]bool{},
	}
	for _, e := range config.Endpoints {
		c.backends = append(c.backends, newBackend(e))
	}
	c.appendBlock(nil, 0)
	return c
}

func (c Config) withDefaults() Config {
	c.ID = orElse(c.ID, "sim")
	c.Family = orElse(c.Family, "sim")
	c.Spending = orElse(c.Spending, chain.UTXOModel)
	c.Confirmations = orElse(c.Confirmations, 1)
	c.Pace = orElse(c.Pace, time.Second)
	c.ReorgDepth = orElse(c.ReorgDepth, 100)
	c.MaxPending = orElse(c.MaxPending, 10)
	c.MaxInputs = orElse(c.MaxInputs, 500)
	if !c.Unnumbered {
		c.BumpAfter = orElse(c.BumpAfter, 3)
	}
	payments := 100
	if c.Spending == chain.AccountModel {
		payments = 1
	}
	c.MaxPayments = orElse(c.MaxPayments, payments)
	if len(c.Endpoints) == 0 {
		c.Endpoints = []chain.Endpoint{{Name: "node", Host: "node"}}
	}
	return c
}

func orElse[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func (c Config) capabilities() chain.Capabilities {
	return chain.Capabilities{
		ID: c.ID, Family: c.Family, Curve: chain.Secp256k1, Model: c.Spending, Pace: c.Pace,
		Confirmations: c.Confirmations, ReorgDepth: c.ReorgDepth, MaxPayments: c.MaxPayments, MaxPending: c.MaxPending,
		BumpAfter: c.BumpAfter, SharedAddress: c.SharedAddress, Lifetime: chain.Lifetime{Blocks: c.Expiry},
	}
}

// Capabilities returns the capabilities that Config describes.
func (c *Chain) Capabilities() chain.Capabilities { return c.capabilities }

// Genesis returns the first block; After reads everything from there.
func (c *Chain) Genesis() chain.BlockRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocks[0].ref
}

// SetRate sets the fee that transactions must pay for each unit of weight to be included. Those that pay less wait.
func (c *Chain) SetRate(rate uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.going = rate
}

// SetFloor sets the rate below which Broadcast answers chain.ErrUnderpriced.
func (c *Chain) SetFloor(rate uint64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.floor = rate
}
