package xrpl_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/xrpl"
	"github.com/bursar/bursar/sandbox/nodes/xrpl"
)

// balancer answers every request from another node: the one at the head, or one that is up to six ledgers behind.
type balancer struct {
	node *xrpl.Node

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

// TestBehindALoadBalancer checks that behind a load balancer whose nodes lag by up to six ledgers everything is read
// once and in order, no step fails, and the endpoint is never reported as faulty.
func TestBehindALoadBalancer(t *testing.T) {
	t.Parallel()
	node, _ := start(t, xrpl.Config{})
	b := &balancer{node: node, past: []http.Handler{node.Behind()}, dice: rand.New(rand.NewPCG(1, 2))}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	c, err := adapter.New(adapter.Config{ID: bursar.XRPL, Network: adapter.Private},
		rpc.Config{URLs: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	last, err := c.At(t.Context(), 1)
	if err != nil {
		t.Fatal(err)
	}
	to := node.NewAddress()
	pay(t, node, to, 10*xrp)
	b.mine(t)
	watch := chaintest.NewWatch(to)
	paid, arrived := map[string]bool{}, map[string]bool{}
	step := func() {
		head, err := c.Head(t.Context())
		if err != nil || head.Final.Height > head.Latest.Height {
			t.Fatalf("head %+v, %v", head, err)
		}
		blocks, err := c.After(t.Context(), last, 16, watch)
		if err != nil {
			t.Fatalf("after %d: %v", last.Height, err)
		}
		for _, block := range blocks {
			if block.Parent != last.Hash {
				t.Fatalf("block %d follows %s", block.Ref.Height, block.Parent)
			}
			last = block.Ref
			for _, transfer := range block.Transfers {
				if arrived[transfer.TxID] {
					t.Errorf("transfer %s arrived twice", transfer.TxID)
				}
				arrived[transfer.TxID] = true
			}
		}
	}
	for range 60 {
		id, err := node.Pay(to, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		paid[id] = true
		b.mine(t)
		step()
		step()
	}
	for range 200 { // until a node at the head has answered every request of a step
		step()
	}
	if len(arrived) != len(paid)+1 || last.Height != node.Height() {
		t.Errorf("%d of %d payments arrived, up to block %d of %d", len(arrived), len(paid), last.Height, node.Height())
	}
	if s := c.Stats()[0]; s.Faults != 0 {
		t.Errorf("the endpoint has %d faults: %s", s.Faults, s.LastFault)
	}
}
