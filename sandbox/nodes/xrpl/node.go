package xrpl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/btcsuite/btcd/btcec/v2"
)

// Config selects what to run; every member is optional.
type Config struct {
	// NetworkID is the node's [network_id], which server_info reports; above 1024 every transaction must name it. 0:
	// none is configured and none is reported, which is xrpld's default (3.0, NetworkOPs.cpp); transactions name none
	// then.
	NetworkID uint32
	// DataDir keeps the ledger over restarts; empty keeps everything in memory.
	DataDir string
	// Listen is the loopback address of the server; default 127.0.0.1:0, any free port.
	Listen string
	// Wrap, if set, wraps the handler, so that a caller can inject faults.
	Wrap func(http.Handler) http.Handler
	// Log receives start and shutdown; default discards.
	Log *slog.Logger
	// Now is the clock of closing times; default time.Now.
	Now func() time.Time
}

func (c Config) withDefaults() Config {
	if c.Listen == "" {
		c.Listen = "127.0.0.1:0"
	}
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}
	if c.Now == nil {
		c.Now = time.Now
	}
	return c
}

// Node is a running ledger. All methods may be called from any goroutine.
type Node struct {
	cfg    Config
	server *http.Server
	url    string
	key    *btcec.PrivateKey // of the genesis account
	done   chan struct{}     // closed by Close
	once   sync.Once
	// present is nil except in a lagging view of a node, which forwards transactions to the node.
	present *Node

	mu       sync.Mutex // guards everything below
	journal  *journal
	ledgers  []*ledger // validated, the first has index 1
	state    state
	txs      map[hash]*applied // in validated ledgers
	open     *view
	pool     []*entry // in the open ledger, in order
	queue    []*entry // fee too low for the open ledger: in the next one
	held     []*entry // waits for a sequence
	refusing map[accountID]bool
	fee      uint64 // fee of the open ledger; below it a transaction is queued
	least    uint64 // below it a transaction is refused
	gap      [2]uint32
	frozen   uint32 // the newest ledger that is shown; 0: all
	streams  map[chan []byte]bool
}

// Start opens or creates the ledger and serves it. When it returns without error the server answers and the ledger is
// where it was when the data directory was last used. The context bounds the start only; Close stops the node.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	n := &Node{cfg: cfg.withDefaults(), key: newGenesisKey(), done: make(chan struct{}), streams: map[chan []byte]bool{}}
	n.begin()
	var err error
	if n.journal, err = openJournal(n.cfg.DataDir, n.replay); err == nil {
		err = n.found()
	}
	if err == nil {
		err = n.serve(ctx)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("start xrpl node: %w", err), n.journal.close())
	}
	n.cfg.Log.Info("xrpl node started", "network", n.cfg.NetworkID, "url", n.url, "height", n.Height())
	return n, nil
}

// found writes the first record of a new journal.
func (n *Node) found() error {
	if n.journal.records > 0 {
		return nil
	}
	return n.journal.append(record{Op: opNew, Network: cmp.Or(n.cfg.NetworkID, bareNetwork)})
}

// serve listens and answers in the background until Close.
func (n *Node) serve(ctx context.Context) error {
	var handler http.Handler = http.HandlerFunc(n.handle)
	if n.cfg.Wrap != nil {
		handler = n.cfg.Wrap(handler)
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", n.cfg.Listen)
	if err != nil {
		return err
	}
	n.url = "http://" + listener.Addr().String()
	n.server = &http.Server{Handler: handler, ReadHeaderTimeout: 30 * time.Second}
	go func() { // runs until Close
		if err := n.server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			n.cfg.Log.Error("xrpl server stopped", "error", err)
		}
	}()
	return nil
}

// URL is the JSON-RPC address, http://127.0.0.1:port. With ws:// in place of http:// it is the WebSocket address.
func (n *Node) URL() string { return n.url }

// Close stops the server, its WebSockets and the node. Requests in progress get two seconds.
func (n *Node) Close() error {
	n.once.Do(func() { close(n.done) })
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := n.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = n.server.Close()
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.cfg.Log.Info("xrpl node closed", "network", n.cfg.NetworkID)
	return errors.Join(err, n.journal.close())
}

// Height is the number of the newest validated ledger.
func (n *Node) Height() uint64 {
	n.mu.Lock()
	defer n.mu.Unlock()
	return uint64(n.tip().index)
}

// Balance is an address's balance in drops in the newest validated ledger, with its reserve; a tag is ignored.
func (n *Node) Balance(address string) (uint64, error) {
	id, _, err := splitTag(address)
	if err != nil {
		return 0, fmt.Errorf("balance: %w", err)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	a, _ := n.state.at(id, n.tip().index)
	return a.balance, nil
}

// Hash is the hash of a validated ledger, empty above the newest.
func (n *Node) Hash(height uint64) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if height == 0 || height > uint64(n.tip().index) {
		return ""
	}
	return n.ledgers[height-1].hash.String()
}
