package solana

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"sync"

	"github.com/bursar/bursar/sandbox/litesvm"
	"github.com/bursar/bursar/sandbox/nodes/host"
)

// defaultFinalityDepth is small so that a demonstration does not wait for the 32 slots of the real chain.
const defaultFinalityDepth = 4

// Config selects what to run. The zero value is a chain in memory on any free port.
type Config struct {
	host.Options
	// FinalityDepth is how many blocks `finalized` trails `processed`; default 4. `confirmed` trails by one.
	FinalityDepth int
	// VM, if set, executes transactions in place of the programs of this package. The caller closes it after the
	// node. A data directory belongs to one or the other.
	VM *litesvm.VM
	// Traffic puts a transaction of version 1 into every block that Mine makes, because nearly every block of the
	// main cluster has some: a reader of blocks has to support them.
	Traffic bool
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
	journal *host.Journal[[]step]
	machine machine
	ws      string

	mu           sync.RWMutex // guards what follows
	bank         *bank
	pool         *pool
	refused      []int   // versions of transactions that are refused
	pending      []event // applied at the start of the next block
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
	n := &Node{
		cfg:     cfg,
		host:    host.New("solana", cfg.Options),
		machine: programs{},
		pool:    newPool(),
		feeds:   map[*feed]bool{},
	}
	if cfg.VM != nil {
		n.machine = svm{cfg.VM}
	}
	if err := n.host.Start(ctx, n.load, n.serve); err != nil {
		return nil, err
	}
	cfg.Log.Info("solana simulator started", "url", n.URL(), "websocket", n.ws, "slot", n.Height())
	return n, nil
}

// Close stops the server, its WebSockets and the node. Requests in progress get two seconds.
func (n *Node) Close() error { return n.host.Close() }

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
