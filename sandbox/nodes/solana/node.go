package solana

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/bursar/bursar/sandbox/litesvm"
)

// defaultFinalityDepth is small so that a demonstration does not wait for the 32 slots of the real chain.
const defaultFinalityDepth = 4

// Config selects what to run. The zero value is a chain in memory on any free port.
type Config struct {
	// DataDir keeps the chain over restarts; empty keeps everything in memory.
	DataDir string
	// Listen is the loopback address of the JSON-RPC server; default 127.0.0.1:0, any free port.
	Listen string
	// FinalityDepth is how many blocks `finalized` trails `processed`; default 4. `confirmed` trails by one.
	FinalityDepth int
	// VM, if set, executes transactions in place of the programs of this package. The caller closes it after the
	// node. A data directory belongs to one or the other.
	VM *litesvm.VM
	// Traffic puts a transaction of version 1 into every block that Mine makes, because nearly every block of the
	// main cluster has some: a reader of blocks has to support them.
	Traffic bool
	// Wrap, if set, wraps the JSON-RPC handler, so that a caller can inject faults.
	Wrap func(http.Handler) http.Handler
	// Log receives start and shutdown; default discards.
	Log *slog.Logger
	// Now is the clock of block times; default time.Now.
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
	journal *journal
	machine machine
	server  *http.Server
	url     string
	ws      string
	served  sync.WaitGroup

	mu           sync.RWMutex // guards what follows
	bank         *bank
	pool         *pool
	refused      []int   // versions of transactions that are refused
	pending      []event // applied at the start of the next block
	broken       error   // the journal could not be written: every change is refused
	closed       bool
	feeds        map[*feed]bool
	subscribed   uint64 // number of the newest subscription
	notifiedRoot int    // index of the newest finalized block that subscribers were notified of

	present *Node // nil except in a lagging view of a node, which forwards transactions to the node
}

// Start opens or creates the chain and serves it. When it returns without error the server answers and the chain is
// where it was when the data directory was last used. The context bounds the start only; Close stops the node.
func Start(ctx context.Context, cfg Config) (*Node, error) {
	cfg = cfg.withDefaults()
	if cfg.FinalityDepth < 0 || cfg.FinalityDepth > blockhashLife/2 {
		return nil, fmt.Errorf("start solana node: finality depth %d is not between 1 and %d", cfg.FinalityDepth,
			blockhashLife/2)
	}
	n := &Node{cfg: cfg, machine: programs{}, pool: newPool(), feeds: map[*feed]bool{}}
	if cfg.VM != nil {
		n.machine = svm{cfg.VM}
	}
	if err := n.load(); err != nil {
		return nil, fmt.Errorf("start solana node: %w", err)
	}
	if err := n.serve(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("start solana node: %w", err), n.journal.close())
	}
	n.notifiedRoot = n.bank.final
	cfg.Log.Info("solana simulator started", "url", n.url, "websocket", n.ws, "slot", n.Height())
	return n, nil
}

// Close stops the server, its WebSockets and the node. Requests in progress get two seconds.
func (n *Node) Close() error {
	n.dropFeeds()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	err := n.server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = n.server.Close()
	}
	n.served.Wait()
	n.mu.Lock()
	defer n.mu.Unlock()
	n.broken = errors.New("the node is closed")
	n.cfg.Log.Info("solana simulator closed")
	return errors.Join(err, n.journal.close())
}

// Height is the slot of the newest block.
func (n *Node) Height() uint64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.bank.head().slot
}

// FinalHeight is the slot of the newest finalized block.
func (n *Node) FinalHeight() uint64 {
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.bank.blocks[n.bank.final].slot
}

// Balance is an address's balance in lamports in the newest block.
func (n *Node) Balance(address string) (uint64, error) {
	k, err := parseKey(address)
	if err != nil {
		return 0, fmt.Errorf("balance of %.60q: %w", address, err)
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	return n.bank.accounts[k].lamports, nil
}

// NewAddress makes an address whose key is not kept, as an external receiver.
func (n *Node) NewAddress() string {
	var k key
	rand.Read(k[:]) // never fails
	return k.String()
}
