package tron

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"errors"
	"sync"
	"time"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/state"

	"github.com/bursar/bursar/chain/rpc/push/pushtest"
	"github.com/bursar/bursar/sandbox/nodes/host"
)

// defaultSolidDepth is small so that a demonstration does not wait for two thirds of 27 witnesses.
const defaultSolidDepth = 4

// Config selects what to run. The zero value is usable.
type Config struct {
	host.Options
	// SolidDepth is how many blocks the solidified block trails the head; default 4, on mainnet about 19.
	SolidDepth int
	// AsShipped runs the node with java-tron's default settings: no constant calls (vm.supportConstant = false), no
	// record of what contracts send (vm.saveInternalTx = false).
	AsShipped bool
	// Contracts is the creation code of further contracts, which are created at genesis.
	Contracts [][]byte
}

func (c Config) withDefaults() Config {
	c.Options = c.Options.WithDefaults()
	c.SolidDepth = cmp.Or(c.SolidDepth, defaultSolidDepth)
	return c
}

// Node is a running chain. All methods may be called from any goroutine.
type Node struct {
	cfg    Config
	host   *host.Host
	faucet *ecdsa.PrivateKey
	bank   common.Address // the faucet's
	token  common.Address
	purse  common.Address
	teller common.Address
	more   []common.Address

	gate    *sync.RWMutex // held for reading by requests, for writing by every change of the chain
	states  state.Database
	blocks  []*block // the canonical chain by height
	solid   int      // height
	held    bool     // the solidified block does not advance
	pool    []*transaction
	pooled  map[[32]byte]bool
	pending *machine           // the state after the pool
	places  map[[32]byte]place // of transactions in the canonical chain
	journal *host.Journal[entry]
	ahead   time.Duration // how far Advance has moved the clock
	queue   *pushtest.Publisher
	turn    int64  // makes each faucet payment a different transaction
	branch  uint64 // makes the blocks of each reorg different ones
}

// place is the position of a transaction in the chain.
type place struct{ height, index int }

// Start opens or creates the chain and serves it. When it returns without error the server answers and the chain is
// where it was when the data directory was last used. The context bounds the start only; Close stops the node.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	cfg = cfg.withDefaults()
	if cfg.SolidDepth < 0 {
		return nil, errors.New("start tron node: the solid depth must not be negative")
	}
	n := &Node{
		cfg:    cfg,
		host:   host.New("tron", cfg.Options),
		gate:   new(sync.RWMutex),
		states: state.NewDatabaseForTesting(),
		pooled: map[[32]byte]bool{},
		places: map[[32]byte]place{},
	}
	if err := n.host.Start(ctx, n.genesis, n.openQueue, n.resume, n.serve); err != nil {
		return nil, err
	}
	cfg.Log.Info("tron node started", "url", n.URL(), "height", n.Height())
	return n, nil
}

func (n *Node) serve(ctx context.Context) error { return n.host.Serve(ctx, n.handler()) }

// URL is the address of the HTTP API, http://127.0.0.1:port: /wallet and /walletsolidity are below it.
func (n *Node) URL() string { return n.host.URL() }

// Close stops the server and the node. Requests in progress get two seconds.
func (n *Node) Close() error { return n.host.Close() }

// Height is the number of the head block.
func (n *Node) Height() uint64 {
	n.gate.RLock()
	defer n.gate.RUnlock()
	return uint64(len(n.blocks) - 1)
}

// Token is the Base58Check address of the token that exists from the first block: six decimals, USDT by name.
func (n *Node) Token() string { return toBase58(n.token) }

// Contracts are the Base58Check addresses of Config.Contracts.
func (n *Node) Contracts() (list []string) {
	for _, at := range n.more {
		list = append(list, toBase58(at))
	}
	return list
}

// Purse is the Base58Check address of a contract that passes TRX on.
func (n *Node) Purse() string { return toBase58(n.purse) }
