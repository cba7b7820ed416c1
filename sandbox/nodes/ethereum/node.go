package ethereum

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"math/big"
	"sync"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/node"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// defaultFinalityDepth is small so that a demonstration does not wait for the two epochs of the real chain.
const defaultFinalityDepth = 4

// Config selects what to run. Only ChainID is required.
type Config struct {
	host.Options
	// ChainID is signed into every transaction (EIP-155); it must not be zero.
	ChainID uint64
	// FinalityDepth is how many blocks the finalized tag trails the head (the safe tag: half of it); default 4.
	FinalityDepth int
	// Tracing serves the debug namespace (debug_traceBlockByHash and others). Most public nodes do not offer it.
	Tracing bool
	// Tokens are deployed if they are not on the chain yet, in a few blocks that are made before Start returns.
	Tokens []TokenSpec
}

func (c Config) withDefaults() Config {
	c.Options = c.Options.WithDefaults()
	c.FinalityDepth = cmp.Or(c.FinalityDepth, defaultFinalityDepth)
	return c
}

// Node is a running chain. All methods may be called from any goroutine.
type Node struct {
	cfg     Config
	host    *host.Host
	stack   *node.Node
	eth     *eth.Ethereum
	chain   *core.BlockChain
	journal *host.Journal[[]byte] // of the pool

	// gate is held for reading by every reader of the chain, for writing by every change.
	gate sync.RWMutex
	held bool // finality does not advance; guarded by gate

	payMu     sync.Mutex // one faucet payment at a time, so that nonces are consecutive
	faucets   []faucet
	turn      int // guarded by payMu
	tokenTurn int // guarded by payMu

	tokens map[string]token // by symbol
	purse  token
}

// Start opens or creates the chain and serves it. When it returns without error the server answers and the chain is
// where it was when the data directory was last used. The context bounds the start only; Close stops the node.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	cfg = cfg.withDefaults()
	if cfg.ChainID == 0 || cfg.FinalityDepth < 0 {
		return nil, errors.New("start ethereum node: chain id and finality depth must be positive")
	}
	n := &Node{cfg: cfg, host: host.New("ethereum", cfg.Options), faucets: newFaucets()}
	var err error
	if n.tokens, err = newTokens(cfg.Tokens); err != nil {
		return nil, fmt.Errorf("start ethereum node: %w", err)
	}
	if n.purse, err = newPurse(); err != nil {
		return nil, fmt.Errorf("start ethereum node: %w", err)
	}
	if err := n.host.Start(ctx, n.assemble, n.resume, n.deployTokens, n.serve); err != nil {
		return nil, err
	}
	cfg.Log.Info("ethereum node started", "chain", cfg.ChainID, "url", n.URL(), "height", n.Height())
	return n, nil
}

// resume restores chain, finality and pool of the last run.
func (n *Node) resume(ctx context.Context) error {
	n.eth.SetSynced() // there are no peers to synchronise with
	if err := n.restoreHead(); err != nil {
		return err
	}
	if err := n.restoreFinality(); err != nil {
		return err
	}
	if err := n.indexed(ctx); err != nil {
		return err
	}
	if err := n.openPool(ctx); err != nil {
		return err
	}
	return n.eth.ChainDb().SyncKeyValue()
}

func (n *Node) serve(ctx context.Context) error {
	handler, err := n.handler()
	if err != nil {
		return err
	}
	return n.host.Serve(ctx, handler)
}

// URL is the JSON-RPC address, http://127.0.0.1:port.
func (n *Node) URL() string { return n.host.URL() }

// Close stops the server and the node. Requests in progress get two seconds.
func (n *Node) Close() error { return n.host.Close() }

// Height is the number of the head block.
func (n *Node) Height() uint64 {
	n.gate.RLock()
	defer n.gate.RUnlock()
	return n.chain.CurrentBlock().Number.Uint64()
}

// Balance is the address's balance in wei at the head block, nil after Close.
func (n *Node) Balance(address string) *big.Int {
	n.gate.RLock()
	defer n.gate.RUnlock()
	state, err := n.chain.State()
	if err != nil { // an archive node has the head's state until its database is closed
		n.cfg.Log.Error("cannot read the ethereum state", "error", err)
		return nil
	}
	return state.GetBalance(common.HexToAddress(address)).ToBig()
}

// NewAddress makes an address with checksum (EIP-55) whose key is not kept, as an external receiver.
func (n *Node) NewAddress() string {
	var a common.Address
	rand.Read(a[:]) // never fails
	return a.Hex()
}
