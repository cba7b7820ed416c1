package ethereum

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core"
	"github.com/ethereum/go-ethereum/eth"
	"github.com/ethereum/go-ethereum/node"
	"github.com/ethereum/go-ethereum/rpc"
)

// defaultFinalityDepth is small so that a demonstration does not wait for the two epochs of the real chain.
const defaultFinalityDepth = 4

// Config selects what to run. Only ChainID is required.
type Config struct {
	// ChainID is signed into every transaction (EIP-155); it must not be zero.
	ChainID uint64
	// DataDir keeps the chain over restarts; empty keeps everything in memory.
	DataDir string
	// Listen is the loopback address of the JSON-RPC server; default 127.0.0.1:0, any free port.
	Listen string
	// FinalityDepth is how many blocks the finalized tag trails the head (the safe tag: half of it); default 4.
	FinalityDepth int
	// Tracing serves the debug namespace (debug_traceBlockByHash and others). Most public nodes do not offer it.
	Tracing bool
	// Tokens are deployed if they are not on the chain yet, in a few blocks that are made before Start returns.
	Tokens []TokenSpec
	// Wrap, if set, wraps the JSON-RPC handler, so that a caller can inject faults.
	Wrap func(http.Handler) http.Handler
	// Log receives start and shutdown; default discards. go-ethereum's own log stays silent.
	Log *slog.Logger
	// Now is the clock of block timestamps; default time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.FinalityDepth == 0 {
		c.FinalityDepth = defaultFinalityDepth
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Node is a running chain. All methods may be called from any goroutine.
type Node struct {
	cfg     Config
	stack   *node.Node
	eth     *eth.Ethereum
	chain   *core.BlockChain
	journal *journal
	server  *http.Server
	sockets *rpc.Server // of subscriptions
	url     string

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
	n := &Node{cfg: cfg, faucets: newFaucets(), journal: new(journal)}
	var err error
	if n.tokens, err = newTokens(cfg.Tokens); err != nil {
		return nil, fmt.Errorf("start ethereum node: %w", err)
	}
	if n.purse, err = newPurse(); err != nil {
		return nil, fmt.Errorf("start ethereum node: %w", err)
	}
	for _, step := range []func(context.Context) error{n.assemble, n.resume, n.deployTokens, n.serve} {
		if err := step(ctx); err != nil {
			return nil, errors.Join(fmt.Errorf("start ethereum node: %w", err), n.release())
		}
	}
	cfg.Log.Info("ethereum node started", "chain", cfg.ChainID, "url", n.url, "height", n.Height())
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
	path := ""
	if n.cfg.DataDir != "" {
		path = filepath.Join(n.cfg.DataDir, "pool.rlp")
	}
	journal, pooled, err := openJournal(path)
	if err != nil {
		return err
	}
	n.journal = journal
	n.refill(pooled)
	if err := n.eth.ChainDb().SyncKeyValue(); err != nil {
		return err
	}
	return ctx.Err()
}

// serve listens and answers in the background until Close.
func (n *Node) serve(ctx context.Context) error {
	handler, err := n.handler()
	if err != nil {
		return err
	}
	if n.cfg.Wrap != nil {
		handler = n.cfg.Wrap(handler)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", n.cfg.Listen)
	if err != nil {
		return err
	}
	n.url = "http://" + listener.Addr().String()
	n.server = &http.Server{Handler: handler, ReadTimeout: 30 * time.Second, WriteTimeout: 2 * time.Minute}
	go func() { // runs until Close
		if err := n.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			n.cfg.Log.Error("ethereum json-rpc server stopped", "error", err)
		}
	}()
	return nil
}

// URL is the JSON-RPC address, http://127.0.0.1:port.
func (n *Node) URL() string { return n.url }

// Close stops the server and the node. Requests in progress get two seconds.
func (n *Node) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := n.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = n.server.Close()
	}
	n.sockets.Stop()
	n.gate.Lock()
	defer n.gate.Unlock()
	n.cfg.Log.Info("ethereum node closed", "chain", n.cfg.ChainID)
	return errors.Join(err, n.release())
}

func (n *Node) release() error {
	err := n.journal.close()
	if n.stack != nil {
		err = errors.Join(err, n.stack.Close())
	}
	return err
}

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
