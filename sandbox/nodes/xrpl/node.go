package xrpl

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

// Config selects what to run; every member is optional.
type Config struct {
	host.Options
	// NetworkID is the node's [network_id], which server_info reports; above 1024 every transaction must name it. 0:
	// none is configured and none is reported, which is xrpld's default (3.0, NetworkOPs.cpp); transactions name none
	// then.
	NetworkID uint32
}

// Node is a running ledger. All methods may be called from any goroutine.
type Node struct {
	cfg  Config
	host *host.Host
	key  *btcec.PrivateKey // of the genesis account
	done chan struct{}     // closed by Close
	// present is nil except in a lagging view of a node, which forwards transactions to the node.
	present *Node

	mu       sync.Mutex // guards everything below
	journal  *host.Journal[record]
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
	cfg.Options = cfg.Options.WithDefaults()
	n := &Node{
		cfg:     cfg,
		host:    host.New("xrpl", cfg.Options),
		key:     newGenesisKey(),
		done:    make(chan struct{}),
		streams: map[chan []byte]bool{},
	}
	n.begin()
	if err := n.host.Start(ctx, n.resume, n.serve); err != nil {
		return nil, err
	}
	cfg.Log.Info("xrpl node started", "network", cfg.NetworkID, "url", n.URL(), "height", n.Height())
	return n, nil
}

// serve answers until Close, which ends the WebSockets too.
func (n *Node) serve(ctx context.Context) error {
	n.host.OnClose(func() error { close(n.done); return nil })
	return n.host.Serve(ctx, http.HandlerFunc(n.handle))
}

// URL is the JSON-RPC address, http://127.0.0.1:port. With ws:// in place of http:// it is the WebSocket address.
func (n *Node) URL() string { return n.host.URL() }

// Close stops the server, its WebSockets and the node. Requests in progress get two seconds.
func (n *Node) Close() error { return n.host.Close() }

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
