// Package chains runs the sandbox's chains: each is a node in this process with a fault layer in front of it and a
// miner.
//
// It owns which chains there are, how a currency is paid on them, and when blocks are mined. It never reads or calls
// the service. Its invariants: amounts are in a currency's smallest units; every new block notifies those who wait
// for blocks; nothing here uses another network.
//
// Another chain is a file with a type that implements node, and a line in starters; TestTheSandboxRunsEveryChain
// compares the lines with the registry.
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
	"github.com/bursar/bursar/sandbox/nodes/host"
)

// Payment is one output of a payment transaction.
type Payment struct {
	Address string
	Amount  bursar.Amount
}

// node is what the sandbox does with a chain. Its methods may be called at any time until Close.
type node interface {
	// Pay pays all payments in one transaction, which waits for a block, and returns its hash.
	Pay(currency bursar.Currency, payments []Payment) (hashID string, err error)
	// Balance is what the chain shows as an address's balance in its newest block.
	Balance(currency bursar.Currency, address string) (bursar.Amount, error)
	// NewAddress makes an address whose key is not kept.
	NewAddress() (string, error)
	Mine(count int) error
	// Reorg replaces depth blocks by depth+1 others that leave the dropped transactions out.
	Reorg(depth int, drop []string) error
	Height() uint64
	Close() error
}

// Chain is a running chain.
type Chain struct {
	ID       bursar.ChainID
	Real     bool   // a validating node; otherwise a simulator
	Software string // what software runs
	RPC      string // the node's URL, with credentials where the node requires them
	Settings string // its line in the configuration of the service, after the name
	// Endpoints are the endpoints of the node, each with faults of its own. The first is RPC.
	Endpoints []*Endpoint
	// Contracts are the contracts of the tokens deployed here, by currency.
	Contracts map[bursar.CurrencyCode]string
	// OperatorFunds is how much of the native asset pays gas and fees for a day of tests.
	OperatorFunds string
	Faults        *fault.Layer // of the first endpoint
	Wire          *fault.Wire  // carries the node's announcements

	announces string // where the node announces blocks
	node
	options string // the chain's settings besides its endpoints
	log     *slog.Logger
	mined   func()
	hints   chan struct{}

	making sync.Mutex // held while a block is mined automatically
	manual bool       // guarded by making
}

// Options configure how a chain runs.
type Options struct {
	DataDir string // the chain's own directory; empty: nothing is kept after Close
	Manual  bool   // mine only on request
	// Endpoints is the number of endpoints of the node; 0 means one.
	Endpoints int
	Log       *slog.Logger
	Mined     func() // nil, or called after every change of the chain; may be called concurrently
}

// host is what every node takes of the options.
func (o Options) host(faults *fault.Layer) host.Options {
	return host.Options{DataDir: o.DataDir, Wrap: faults.Wrap, Log: o.Log}
}

// starters lists the chains that there are, in the order of the interface.
func starters() []starter {
	return []starter{
		{bursar.Bitcoin, "5", startBitcoin},
		{bursar.Litecoin, "50", startLitecoin},
		{bursar.Ethereum, "50", startEthereum},
		{bursar.BSC, "50", startBSC},
		{bursar.Polygon, "50", startPolygon},
		{bursar.Tron, "5000", startTron}, // a token transfer burns up to some dozens
		{bursar.Solana, "50", startSolana},
		{bursar.XRPL, "50", startXRPL},
	}
}

type starter struct {
	id            bursar.ChainID
	operatorFunds string // as Chain.OperatorFunds
	start         func(ctx context.Context, o Options) (*Chain, error)
}

// Available returns the chains that can be started.
func Available() []bursar.ChainID {
	var ids []bursar.ChainID
	for _, s := range starters() {
		ids = append(ids, s.id)
	}
	return ids
}

// OperatorFunds returns Chain.OperatorFunds of a chain that need not run, and "" for one that does not exist.
func OperatorFunds(id bursar.ChainID) string {
	for _, s := range starters() {
		if s.id == id {
			return s.operatorFunds
		}
	}
	return ""
}

// ErrUnknown is returned for a chain that does not exist.
var ErrUnknown = errors.New("no such chain")

// Check returns an error that wraps ErrUnknown and lists the available chains if a chain cannot be started.
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

// Start runs a chain's node. ctx bounds the start only. Automatic mining begins with Run.
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
		c.OperatorFunds = s.operatorFunds
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

// announce puts a fault layer in front of the node's announcements and configures the service to listen to it.
func (c *Chain) announce(ctx context.Context) (err error) {
	if c.Wire, err = fault.NewWire(ctx, c.announces, time.Now); err != nil {
		return err
	}
	c.Settings = fmt.Sprintf("%s, push: [%q]}", strings.TrimSuffix(c.Settings, "}"), c.Wire.URL())
	return nil
}

// Pay pays, and has a block mined soon unless blocks are mined only on request.
func (c *Chain) Pay(currency bursar.Currency, payments []Payment) (string, error) {
	hash, err := c.node.Pay(currency, payments)
	if err != nil {
		return "", err
	}
	select {
	case c.hints <- struct{}{}:
	default: // a request is already queued
	}
	return hash, nil
}

// nonces is a node of a chain with nonce accounts.
type nonces interface {
	NewNonceAccount(authority string) (address string, err error)
}

// NonceAccount returns the nonce account with an authority, and makes it in a block of its own the first time.
func (c *Chain) NonceAccount(authority string) (string, error) {
	n, has := c.node.(nonces)
	if !has {
		return "", fmt.Errorf("chain %s has no nonce accounts", c.ID)
	}
	address, err := n.NewNonceAccount(authority)
	if err != nil {
		return "", err
	}
	return address, c.Mine(1)
}

// Mine mines count blocks with the transactions that wait.
func (c *Chain) Mine(count int) error {
	defer c.mined()
	return c.node.Mine(count)
}

// Reorg replaces the newest blocks.
func (c *Chain) Reorg(depth int, drop []string) error {
	defer c.mined()
	return c.node.Reorg(depth, drop)
}

// SetManual selects whether blocks are mined only on request or also automatically. Once it has returned true, no
// automatic block is in progress.
func (c *Chain) SetManual(manual bool) {
	c.making.Lock()
	defer c.making.Unlock()
	c.manual = manual
}

// Manual reports whether blocks are mined only on request.
func (c *Chain) Manual() bool {
	c.making.Lock()
	defer c.making.Unlock()
	return c.manual
}

// mineByItself mines a block unless blocks are mined only on request.
func (c *Chain) mineByItself() error {
	c.making.Lock()
	defer c.making.Unlock()
	if c.manual {
		return nil
	}
	return c.Mine(1)
}

const (
	pace   = time.Second            // between automatic blocks
	gather = 100 * time.Millisecond // from a payment to its block, so that a burst of payments shares one block
)

// Run mines a block every second and soon after a payment, until ctx ends.
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
				c.log.Error("mine a block", "error", err)
			}
			continue
		}
		failures = 0
	}
}

// PayNow makes one payment and mines so many blocks at once, in either mode.
func (c *Chain) PayNow(currency bursar.Currency, address string, amount bursar.Amount, blocks int) error {
	if _, err := c.node.Pay(currency, []Payment{{address, amount}}); err != nil {
		return err
	}
	return c.Mine(blocks)
}
