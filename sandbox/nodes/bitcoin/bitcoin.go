// Package bitcoin runs a fully validating Bitcoin-like chain inside this process and answers for it as bitcoind does.
//
// It owns one chain, its mempool, a miner with a faucet wallet, a journal on disk and a JSON-RPC server on loopback.
// Validation, the mempool and block templates are btcd's packages; there is no peer-to-peer network. Rules come from
// chaincfg.Params, so any chain with Bitcoin's block format and a trivial proof of work fits. Without the peers, scrypt
// and MWEB, Litecoin's regtest is such a chain too.
//
// It never serves a real network: parameters without a fixed, trivial difficulty are refused.
//
// Invariants:
//   - Every answer, over RPC or from a method, is in the journal before it is given, and the journal replays to the same
//     chain, best block and mempool. Readers wait for the writer, so nothing is seen before it is written.
//   - The UTXO index holds exactly the unspent outputs of the best chain; balances are checked against the chain.
//   - A reorg is one step for every reader: nobody sees the chain between its two tips.
package bitcoin

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/database"
	"github.com/btcsuite/btcd/mempool"
	"github.com/btcsuite/btcd/mining"
	"github.com/btcsuite/btcd/wire/v2"
)

// firstMature is how many coinbases a new chain makes spendable before Start returns.
const firstMature = 10

// Config selects which chain to run and where. The zero value is a temporary regtest chain on a free loopback port
// with the user and password "bursar".
type Config struct {
	// Params are the chain's rules. The default is regtest with a halving every 210,000 blocks, as on mainnet, so
	// that the faucet stays rich; a stock bitcoind accepts such a chain up to block 149.
	Params *chaincfg.Params
	// DataDir holds the journal. Empty means a temporary directory that Close removes. It is locked: a second node
	// is refused until the first is closed or its process ends.
	DataDir string
	// Listen is the RPC address, "127.0.0.1:0" by default.
	Listen string
	// User and Password are the RPC credentials, "bursar" each by default.
	User, Password string
	// UserAgent is the subversion in getnetworkinfo.
	UserAgent string
	// FeeRate is the answer of estimatesmartfee, in satoshi per 1000 vbytes. Zero answers as a fresh bitcoind does on
	// regtest: insufficient data.
	FeeRate int64
	// DustRate is the dust relay fee in satoshi per 1000 vbytes, 3000 by default as in Bitcoin Core; Litecoin Core has
	// 30000.
	DustRate int64
	// NoReplacement refuses a double spend with "txn-mempool-conflict", as Litecoin Core does by default. Otherwise
	// any transaction may be replaced, as in Bitcoin Core since version 28.
	NoReplacement bool
	// Wrap, if set, wraps the RPC handler, so that a caller can inject faults.
	Wrap func(http.Handler) http.Handler
	// Log receives the node's log; nil discards it.
	Log *slog.Logger
	// Now is the clock, time.Now by default.
	Now func() time.Time
	// Rand makes keys and extra nonces, crypto/rand by default.
	Rand io.Reader
}

// Node is a running chain. Its methods may be called from any goroutine until Close.
type Node struct {
	cfg     Config
	params  *chaincfg.Params
	started time.Time
	dir     string // the temporary directory that Close removes, if any

	mu       sync.RWMutex // held for writing from a change until it is in the journal
	broken   error        // the first failed journal write; nothing changes after it
	journal  *journal
	lock     io.Closer // lock of the data directory
	db       database.DB
	dbDir    string
	chain    *blockchain.BlockChain
	pool     *mempool.TxPool
	template *mining.BlkTmplGenerator
	blocks   map[chainhash.Hash]*blockInfo
	diskSize int64 // by hash, blocks of every branch
	utxos    *utxoIndex
	detached []*wire.MsgBlock // disconnected by the block that is being processed, highest first
	wallet   *wallet
	methods  map[string]method

	announcer *announcer

	listener net.Listener
	server   *http.Server
	served   chan struct{}
	close    sync.Once
	closeErr error
}

// Start opens or creates the chain, replays its journal, mines until some coinbases are mature if the chain is new,
// and serves RPC. ctx bounds the start only. A journal of another chain, or one with a damaged record in its middle,
// is an error.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	cfg = withDefaults(cfg)
	if cfg.Params.PowLimitBits>>24 < 0x20 || !cfg.Params.PoWNoRetargeting {
		return nil, fmt.Errorf("start %s: only chains with a fixed, trivial difficulty can be run", cfg.Params.Name)
	}
	n := &Node{
		cfg:     cfg,
		params:  ownParams(cfg.Params),
		started: cfg.Now(),
		blocks:  map[chainhash.Hash]*blockInfo{},
		served:  make(chan struct{}),
	}
	n.methods = n.allMethods()
	if err := n.open(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s chain: %w", cfg.Params.Name, err), n.closeChain())
	}
	if err := n.openAnnouncer(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s announcements: %w", cfg.Params.Name, err), n.closeChain())
	}
	if err := n.serve(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s rpc: %w", cfg.Params.Name, err), n.closeAnnouncer(), n.closeChain())
	}
	cfg.Log.Info("chain started", "chain", cfg.Params.Name, "height", n.Height(), "listen", n.listener.Addr().String())
	return n, nil
}

func withDefaults(cfg Config) Config {
	if cfg.Params == nil {
		p := chaincfg.RegressionNetParams
		p.SubsidyReductionInterval = 210_000
		cfg.Params = &p
	}
	setDefault(&cfg.Listen, "127.0.0.1:0")
	setDefault(&cfg.User, "bursar")
	setDefault(&cfg.Password, "bursar")
	setDefault(&cfg.UserAgent, "/Satoshi:29.0.0(btcd v0.26.2)/")
	setDefault(&cfg.DustRate, 3000)
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	return cfg
}

func setDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// ownParams copies params with deployment clocks of its own: btcd writes its chain into them, and two nodes with the
// same parameters must not share them.
func ownParams(params *chaincfg.Params) *chaincfg.Params {
	p := *params
	for i := range p.Deployments {
		d := &p.Deployments[i]
		if s, ok := d.DeploymentStarter.(*chaincfg.MedianTimeDeploymentStarter); ok {
			d.DeploymentStarter = chaincfg.NewMedianTimeDeploymentStarter(s.StartTime())
		}
		if e, ok := d.DeploymentEnder.(*chaincfg.MedianTimeDeploymentEnder); ok {
			d.DeploymentEnder = chaincfg.NewMedianTimeDeploymentEnder(e.EndTime())
		}
	}
	return &p
}

// URL is the RPC address with its credentials, in the form that clients of bitcoind take.
func (n *Node) URL() string {
	u := url.URL{Scheme: "http", User: url.UserPassword(n.cfg.User, n.cfg.Password), Host: n.listener.Addr().String()}
	return u.String()
}

// Height is the height of the best block.
func (n *Node) Height() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return int64(n.tip().height)
}

// Close stops the server and closes the chain. It removes a temporary directory and keeps DataDir.
func (n *Node) Close() error {
	n.close.Do(func() {
		err := n.server.Close()
		<-n.served
		n.closeErr = errors.Join(err, n.closeAnnouncer(), n.closeChain())
	})
	return n.closeErr
}
