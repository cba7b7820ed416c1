// Package chains runs the sandbox's chains: each a node in this process, a fault layer before it and a miner behind it.
//
// It owns which chains there are, how a currency is paid on them, and when blocks are made. It never reads or calls the
// service. Its invariants: amounts are in a currency's smallest units; whatever makes a block tells those who wait for
// blocks; nothing here talks to another network.
//
// Another chain is a file that meets node, and a line in starters.
package chains

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"

	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/fault"
)

// Payment is one share of a transaction.
type Payment struct {
	Address string
	Amount  bursar.Amount
}

// node is what a chain can be made to do. Its methods may be called at any time until Close.
type node interface {
	// Pay pays all payments in one transaction, which waits for a block, and returns its hash.
	Pay(currency bursar.Currency, payments []Payment) (hashID string, err error)
	// Balance is what the chain says an address holds in its newest block.
	Balance(currency bursar.Currency, address string) (bursar.Amount, error)
	// NewAddress makes an address that nobody has the key of.
	NewAddress() (string, error)
	Mine(count int) error
	// Reorg replaces depth blocks by depth+1 others, without the dropped transactions.
	Reorg(depth int, drop []string) error
	Height() uint64
	Close() error
}

// Chain is a running chain.
type Chain struct {
	ID       bursar.ChainID
	Real     bool   // a validating node; otherwise a simulator
	Software string // what runs
	RPC      string // the node's URL, with credentials where it asks for them
	Settings string // its line in the configuration of the service, after the name
	// Endpoints are the ways to the node, each with faults of its own. The first is RPC.
	Endpoints []*Endpoint
	// Contracts are the tokens that were deployed here, by the currency that they are.
	Contracts map[bursar.CurrencyCode]string
	Faults    *fault.Layer // of the first endpoint
	Wire      *fault.Wire  // carries what the node announces

	announces string // where the node announces blocks
	node
	options string // what Settings says beside the endpoints
	log     *slog.Logger
	mined   func()
	hints   chan struct{}

	making sync.Mutex // held while a block is made by itself
	manual bool       // guarded by making
}

// Options say how a chain runs.
type Options struct {
	DataDir string // the chain's own folder; empty: nothing outlives Close
	Manual  bool   // blocks only when asked for
	// Endpoints is how many ways there are to the node; 0: one.
	Endpoints int
	Log       *slog.Logger
	Mined     func() // nil, or called after every change of the chain; may be called at the same time from several goroutines
}

// starters lists the chains that there are, in the order of the interface.
func starters() []starter {
	return []starter{{bursar.Bitcoin, startBitcoin}, {bursar.Litecoin, startLitecoin}, {bursar.Ethereum, startEthereum},
		{bursar.BSC, startBSC},
		{bursar.Polygon, startPolygon}, {bursar.Tron, startTron}, {bursar.Solana, startSolana}, {bursar.XRPL, startXRPL}}
}

type starter struct {
	id    bursar.ChainID
	start func(ctx context.Context, o Options) (*Chain, error)
}

// Available returns the chains that can be started.
func Available() []bursar.ChainID {
	var ids []bursar.ChainID
	for _, s := range starters() {
		ids = append(ids, s.id)
	}
	return ids
}

// ErrUnknown says that there is no such chain.
var ErrUnknown = errors.New("no such chain")

// Check returns an error that wraps ErrUnknown, and names those there are, for a chain that cannot be started.
func Check(id bursar.ChainID) error {
	var names []string
	for _, s := range starters() {
		if s.id == id {
			return nil
		}
		names = append(names, string(s.id))
	}
	return fmt.Errorf("%w: %.40q; the sandbox has %s", ErrUnknown, string(id), strings.Join(names, ", "))
}

// Start runs a chain's node. ctx bounds the start only. Blocks come once Run is called.
func Start(ctx context.Context, id bursar.ChainID, o Options) (*Chain, error) {
	if err := Check(id); err != nil {
		return nil, err
	}
	for _, s := range starters() {
		if s.id != id {
			continue
		}
		c, err := s.start(ctx, o)
		if err != nil {
			return nil, fmt.Errorf("start chain %s: %w", id, err)
		}
		c.ID, c.log, c.manual, c.hints = id, o.Log.With("chain", id), o.Manual, make(chan struct{}, 1)
		c.mined = func() {
			c.moved()
			if o.Mined != nil {
				o.Mined()
			}
		}
		if err := errors.Join(c.open(ctx, o.Endpoints), c.announce(ctx)); err != nil {
			return nil, errors.Join(fmt.Errorf("start chain %s: %w", id, err), c.Close())
		}
		return c, nil
	}
	return nil, ErrUnknown
}

// announce puts a wire before the node's announcements, and has the service listen to it.
func (c *Chain) announce(ctx context.Context) (err error) {
	if c.Wire, err = fault.NewWire(ctx, c.announces, time.Now); err != nil {
		return err
	}
	c.Settings = fmt.Sprintf("%s, push: [%q]}", strings.TrimSuffix(c.Settings, "}"), c.Wire.URL())
	return nil
}

// Pay pays, and has a block made soon unless blocks are made by hand.
func (c *Chain) Pay(currency bursar.Currency, payments []Payment) (string, error) {
	hash, err := c.node.Pay(currency, payments)
	if err != nil {
		return "", err
	}
	select {
	case c.hints <- struct{}{}:
	default: // one is waiting already
	}
	return hash, nil
}

// Mine makes blocks with what waits.
func (c *Chain) Mine(count int) error {
	defer c.mined()
	return c.node.Mine(count)
}

// Reorg replaces the newest blocks.
func (c *Chain) Reorg(depth int, drop []string) error {
	defer c.mined()
	return c.node.Reorg(depth, drop)
}

// SetManual has blocks made only when asked for, or also by themselves. Once it returned, none is on its way by itself.
func (c *Chain) SetManual(manual bool) {
	c.making.Lock()
	defer c.making.Unlock()
	c.manual = manual
}

// Manual reports whether blocks are made only when asked for.
func (c *Chain) Manual() bool {
	c.making.Lock()
	defer c.making.Unlock()
	return c.manual
}

// mineByItself makes a block unless blocks are made by hand.
func (c *Chain) mineByItself() error {
	c.making.Lock()
	defer c.making.Unlock()
	if c.manual {
		return nil
	}
	return c.Mine(1)
}

const (
	pace   = time.Second            // between blocks
	gather = 100 * time.Millisecond // from a payment to its block, so that a burst of payments shares one
)

// Run makes a block every second and soon after a payment, until ctx ends.
func (c *Chain) Run(ctx context.Context) error {
	timer := time.NewTimer(pace)
	defer timer.Stop()
	failures := 0
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-c.hints:
			timer.Reset(gather)
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-timer.C:
			}
		case <-timer.C:
		}
		timer.Reset(pace)
		if err := c.mineByItself(); err != nil && ctx.Err() == nil {
			if failures++; failures == 1 {
				c.log.Error("no block can be made", "error", err)
			}
			continue
		}
		failures = 0
	}
}

// PayNow pays one payment and makes so many blocks at once, whether blocks come by themselves or not.
func (c *Chain) PayNow(currency bursar.Currency, address string, amount bursar.Amount, blocks int) error {
	if _, err := c.node.Pay(currency, []Payment{{address, amount}}); err != nil {
		return err
	}
	return c.Mine(blocks)
}
