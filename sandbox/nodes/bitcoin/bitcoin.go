// Package bitcoin runs a fully validating Bitcoin-like chain inside this process and answers for it as bitcoind does.
//
// It owns one chain, its mempool, a miner with a faucet wallet, the records of its journal and its JSON-RPC server.
// Validation, the mempool and block templates are btcd's packages; there is no peer-to-peer network. Rules come from
// chaincfg.Params, so any chain with Bitcoin's block format and a trivial proof of work fits. Without the peers, scrypt
// and MWEB, Litecoin's regtest is such a chain too.
//
// It never serves a real network: parameters without a fixed, trivial difficulty are refused.
//
// Invariants:
//   - With a data directory every answer, over RPC or from a method, is in the journal before it is given, and the
//     journal replays to the same chain, best block and mempool. Readers wait for the writer, so nothing is seen before
//     it is written.
//   - The UTXO index holds exactly the unspent outputs of the best chain; balances are checked against the chain.
//   - A reorg is one step for every reader: nobody sees the chain between its two tips.
package bitcoin

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"io"
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

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// firstMature is how many coinbases a new chain makes spendable before Start returns.
const firstMature = 10

// Config selects which chain to run and where. The zero value is a temporary regtest chain on a free loopback port
// with the user and password "bursar".
type Config struct {
	host.Options
	// Params are the chain's rules. The default is regtest with a halving every 210,000 blocks, as on mainnet, so
	// that the faucet stays rich; a stock bitcoind accepts such a chain up to block 149.
	Params *chaincfg.Params
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
	// Rand makes keys and extra nonces, crypto/rand by default.
	Rand io.Reader
}

// Node is a running chain. Its methods may be called from any goroutine until Close.
type Node struct {
	cfg     Config
	host    *host.Host
	params  *chaincfg.Params
	started time.Time

	mu       sync.RWMutex // held for writing from a change until it is in the journal
	journal  *host.Journal[[]step]
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
		host:    host.New(cfg.Params.Name, cfg.Options),
		params:  ownParams(cfg.Params),
		started: cfg.Now(),
		blocks:  map[chainhash.Hash]*blockInfo{},
	}
	n.methods = n.allMethods()
	if err := n.host.Start(ctx, n.openChain, n.resume, n.openAnnouncer, n.serve); err != nil {
		return nil, err
	}
	cfg.Log.Info("chain started", "chain", cfg.Params.Name, "height", n.Height(), "listen", n.host.Address())
	return n, nil
}

func (n *Node) serve(ctx context.Context) error {
	return n.host.Serve(ctx, http.HandlerFunc(n.serveHTTP))
}

func withDefaults(cfg Config) Config {
	if cfg.Params == nil {
		p := chaincfg.RegressionNetParams
		p.SubsidyReductionInterval = 210_000
		cfg.Params = &p
	}
	cfg.Options = cfg.Options.WithDefaults()
	cfg.User, cfg.Password = cmp.Or(cfg.User, "bursar"), cmp.Or(cfg.Password, "bursar")
	cfg.UserAgent = cmp.Or(cfg.UserAgent, "/Satoshi:29.0.0(btcd v0.26.2)/")
	cfg.DustRate = cmp.Or(cfg.DustRate, 3000)
	if cfg.Rand == nil {
		cfg.Rand = rand.Reader
	}
	return cfg
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
	u := url.URL{Scheme: "http", User: url.UserPassword(n.cfg.User, n.cfg.Password), Host: n.host.Address()}
	return u.String()
}

// Height is the height of the best block.
func (n *Node) Height() int64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return int64(n.tip().height)
}

// Close stops the server and closes the chain; requests in progress get two seconds. It removes temporary files and
// keeps DataDir.
func (n *Node) Close() error { return n.host.Close() }
