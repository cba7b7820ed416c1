// Package sim is a chain in memory, for tests and simulations: it keeps every promise of the chain seam, and it does at
// a word what real chains do once in years. It holds blocks, reorganisations, a pool of waiting transactions with
// replacement, expiry, failing transactions, foreign use of our keys and faults of the node.
//
// It never touches a network, a clock or a source of randomness: the same calls give the same blocks. Its invariants:
// the balances of an asset always add up to the supply that it began with (Check proves it); no coin and no nonce is
// used twice on one chain; a transaction enters only with signatures by the keys of the addresses that it spends from.
//
// Methods that control the chain panic when a test asks for something that makes no sense, such as a reorganisation
// deeper than the chain.
package sim

import (
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

var _ chain.Chain = (*Chain)(nil)

// Config says what kind of chain to make. The zero value of a field means the default that is named.
type Config struct {
	ID            bursar.ChainID // default "sim"
	Family        bursar.Family  // default "sim"; addresses begin with it
	Spending      chain.Model    // default chain.UTXOModel
	Confirmations int            // a block is final with this many, itself included; default 1: final at once
	Expiry        uint64         // blocks from an unsigned transaction to its last possible block; default 0: never expires
	// Unnumbered makes a chain that uses the account model number nothing, as Tron and Solana do: only its expiry ends a
	// transaction, and nothing on the chain refuses a second payment. It needs an Expiry, and nothing is replaced.
	Unnumbered    bool
	Seed          uint64        // other seeds give other hashes
	SharedAddress bool          // all wallets share the hot address and differ by memo
	Pace          time.Duration // default 1 s; blocks are so far apart in time
	// Now is the time at which blocks are made; nil: they are paces apart. A block is never older than the one before it.
	Now         func() time.Time
	ReorgDepth  int    // default 100
	MaxPayments int    // default 100 by UTXOs, 1 by nonce
	MaxPending  int    // default 10
	MaxInputs   int    // default 500: UTXOs in one transaction
	BumpAfter   uint64 // default 3

	Endpoints []chain.Endpoint // default one, called "node"
}

// Chain is one chain with the endpoints that show it. It is safe for concurrent use.
type Chain struct {
	config       Config
	capabilities chain.Capabilities

	mu        sync.Mutex
	ledger    ledger
	blocks    []*block       // canonical, the index is the height
	where     map[string]int // the height of each transaction on the canonical chain
	used      map[string]int // the height at which each claim was used
	waiting   []*transaction // in the order of arrival
	dropped   map[string]*transaction
	seen      map[string]*transaction // every transaction that ever waited or was in a block
	made      uint64                  // blocks and payments made, so that no two are alike
	going     uint64                  // the rate a block's transactions pay
	floor     uint64                  // the least rate the node takes
	held      bool                    // finality stands still
	heldAt    int                     // the final height while it does
	wantsMemo map[string]bool
	faults    map[Method][]error
	outcomes  []Outcome
	listeners map[*subscription]bool
	backends  []backend // one for each endpoint
	rotates   bool      // each question goes to the next of them
	turn      int
	pruned    uint64 // no endpoint has blocks below this height
}

// block is one block; it never changes once it is made.
type block struct {
	ref     chain.BlockRef
	parent  string
	time    time.Time
	rate    uint64 // what each unit of weight cost
	entries []*entry
}

// New makes a chain that has its first block only.
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

// Capabilities returns what Config said.
func (c *Chain) Capabilities() chain.Capabilities { return c.capabilities }

// Genesis returns the first block, from which After reads everything.
func (c *Chain) Genesis() chain.BlockRef {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.blocks[0].ref
}

// SetRate sets what transactions must pay for each unit of weight to enter a block. Those that pay less wait.
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
