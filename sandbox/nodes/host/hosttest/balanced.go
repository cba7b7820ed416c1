package hosttest

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// Lagging is a node that can show itself as it was.
type Lagging interface {
	Mine(count int) error
	Behind() http.Handler
	NewAddress() string
	Height() uint64
}

// Reader is an adapter as it reads blocks.
type Reader interface {
	chain.Blocks
	Stats() []rpc.EndpointStats
}

// Balanced is a node behind a load balancer.
type Balanced struct {
	Node    Lagging
	Connect func(url string) (Reader, error)
	// Create makes an address exist, where that takes a payment of its own; otherwise nil.
	Create func(address string) (txID string)
	// Pay pays it again.
	Pay func(address string) (txID string, err error)
}

// Read checks that behind a load balancer whose nodes lag by up to six blocks everything is read once and in order, no
// step fails, and the endpoint is never reported as faulty.
func (b Balanced) Read(t *testing.T) {
	t.Helper()
	nodes := &balancer{node: b.Node, past: []http.Handler{b.Node.Behind()}, dice: rand.New(rand.NewPCG(1, 2))}
	server := httptest.NewServer(nodes)
	t.Cleanup(server.Close)
	c, err := b.Connect(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	to := b.Node.NewAddress()
	r := &reading{reader: c, watch: chaintest.NewWatch(to), arrived: map[string]bool{}}
	if r.last, err = c.At(t.Context(), b.Node.Height()); err != nil {
		t.Fatal(err)
	}
	var paid []string
	if b.Create != nil {
		paid = append(paid, b.Create(to))
		nodes.mine(t)
	}
	for range 60 {
		txID, err := b.Pay(to)
		if err != nil {
			t.Fatal(err)
		}
		paid = append(paid, txID)
		nodes.mine(t)
		r.step(t)
		r.step(t)
	}
	for range 200 { // until a node at the head has answered every request of a step
		r.step(t)
	}
	paid = slices.DeleteFunc(paid, func(txID string) bool { return r.arrived[txID] })
	if len(paid) > 0 || r.last.Height != b.Node.Height() {
		t.Errorf("%d payments did not arrive, up to block %d of %d", len(paid), r.last.Height, b.Node.Height())
	}
	if s := c.Stats()[0]; s.Faults != 0 {
		t.Errorf("the endpoint has %d faults: %s, want 0", s.Faults, s.LastFault)
	}
}

// balancer answers every request from another node: the one at the head, or one that is up to six blocks behind.
type balancer struct {
	node Lagging

	mu   sync.Mutex
	past []http.Handler // newest first
	dice *rand.Rand
}

func (b *balancer) mine(t *testing.T) {
	t.Helper()
	if err := b.node.Mine(1); err != nil {
		t.Fatal(err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past = slices.Insert(b.past, 0, b.node.Behind())
	b.past = b.past[:min(len(b.past), 7)]
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	next := b.past[b.dice.IntN(len(b.past))]
	b.mu.Unlock()
	next.ServeHTTP(w, r)
}

// reading reads all blocks as the service does.
type reading struct {
	reader  Reader
	watch   *chaintest.Watch
	last    chain.BlockRef
	arrived map[string]bool // by transaction
}

func (r *reading) step(t *testing.T) {
	t.Helper()
	head, err := r.reader.Head(t.Context())
	if err != nil || head.Final.Height > head.Latest.Height {
		t.Fatalf("head %+v, %v", head, err)
	}
	blocks, err := r.reader.After(t.Context(), r.last, 16, r.watch)
	if err != nil {
		t.Fatalf("after %d: %v", r.last.Height, err)
	}
	for _, block := range blocks {
		if block.Parent != r.last.Hash {
			t.Fatalf("block %d follows %s, want %v", block.Ref.Height, block.Parent, r.last.Hash)
		}
		r.last = block.Ref
		for _, transfer := range block.Transfers {
			if r.arrived[transfer.TxID] {
				t.Errorf("transfer %s arrived twice", transfer.TxID)
			}
			r.arrived[transfer.TxID] = true
		}
	}
}
