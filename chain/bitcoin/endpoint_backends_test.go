package bitcoin

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// balancer forwards each request to any of its nodes, as a load balancer does behind one URL.
type balancer struct {
	nodes []*fakeNode

	mu     sync.Mutex
	random *rand.Rand
}

func (b *balancer) RoundTrip(req *http.Request) (*http.Response, error) {
	b.mu.Lock()
	node := b.nodes[b.random.IntN(len(b.nodes))]
	b.mu.Unlock()
	return node.RoundTrip(req)
}

// lagging returns a node that knows all blocks of another one except the newest.
func lagging(of *fakeNode, behind int) *fakeNode {
	f := newFake()
	f.blocks = append([]*wire.MsgBlock{}, of.blocks[:len(of.blocks)-behind]...)
	f.txs = of.txs
	return f
}

// Every answer comes from another node, some of which are blocks behind: no transfer is lost or doubled, no node counts
// as faulty, and the head is that of one of the nodes.
func TestEveryAnswerFromAnotherNode(t *testing.T) {
	t.Parallel()
	for behind := 0; behind <= 3; behind++ {
		t.Run(fmt.Sprint(behind), func(t *testing.T) {
			t.Parallel()
			f := newFake()
			c0 := open(t, f)
			ours := source(t, c0, 0).Base
			watch, key := chaintest.NewWatch(ours), source(t, c0, 0)
			for i := range 30 {
				paid := pays(byte(i+1), wire.NewTxOut(1000, script(t, c0, ours)))
				if i > 0 { // and we spend the previous output, so that its fee has to be looked up
					spent := spends(t, c0, wire.OutPoint{Hash: f.blocks[i].Transactions[1].TxHash()}, key)
					watch.AddSent(spent.TxID())
					f.add(paid, spent)
				} else {
					f.add(paid)
				}
			}
			nodes := &balancer{nodes: []*fakeNode{f, lagging(f, behind), f, lagging(f, 1)},
				random: rand.New(rand.NewPCG(1, uint64(behind)))}
			c := open(t, f, func(cfg *Config) { cfg.Node.HTTP = nodes })
			last, transfers, included := f.ref(0), 0, 0
			for range 200 {
				head, err := c.Head(t.Context())
				if err != nil || head.Latest.Height+3 < 30 || head.Final != f.ref(int(head.Latest.Height)-2) {
					t.Fatalf("head is %+v (%v)", head, err)
				}
				blocks, err := c.After(t.Context(), last, 7, watch)
				if err != nil {
					t.Fatal(err)
				}
				for _, b := range blocks {
					if b.Parent != last.Hash || b.Ref.Height != last.Height+1 {
						t.Fatalf("%v follows %v, want %v and %v", b.Ref, last, last.Hash, last.Height+1)
					}
					last = b.Ref
					transfers += len(b.Transfers)
					included += len(b.Included)
				}
			}
			if stats := c.Stats()[0]; last != f.ref(30) || transfers != 30 || included != 29 || stats.Faults != 0 {
				t.Errorf("it ends at %v with %d transfers and %d of ours, %+v", last, transfers, included, stats)
			}
		})
	}
}

// pruned returns a node that keeps the newest blocks only (Bitcoin Core, rpc/blockchain.cpp, "Block not available
// (pruned data)").
func pruned(of *fakeNode, keeps int) *fakeNode {
	f := lagging(of, 0)
	f.sayBy("getblock", func(params []any) any {
		for height, b := range f.blocks {
			if b.BlockHash().String() == params[0] && height < len(f.blocks)-keeps {
				return &rpc.Error{Code: codeMisc, Message: "Block not available (pruned data)"}
			}
		}
		return f.answer("getblock", params)
	})
	return f
}

// A node that has pruned the next block says so in an error that says what to do, and still serves the newest blocks;
// if another endpoint keeps the block, it is read there.
func TestPrunedNodes(t *testing.T) {
	t.Parallel()
	f := newFake()
	for range 20 {
		f.add()
	}
	part := pruned(f, 5)
	alone := open(t, f, func(cfg *Config) { cfg.Node.HTTP = part })
	for range 3 {
		blocks, err := alone.After(t.Context(), f.ref(3), 10, chaintest.NewWatch())
		if !errors.Is(err, errPruned) || !strings.Contains(err.Error(), "start_height") || len(blocks) != 0 {
			t.Fatalf("%d blocks (%v), want %v and %q in it and none", len(blocks), err, errPruned, "start_height")
		}
	}
	if stats := alone.Stats()[0]; stats.Faults != 0 {
		t.Errorf("a pruned node counts as faulty: %+v, want 0", stats)
	}
	if blocks, err := alone.After(t.Context(), f.ref(15), 10, chaintest.NewWatch()); err != nil || len(blocks) != 5 {
		t.Errorf("of the newest it gives %d (%v), want 5 of them", len(blocks), err)
	}
	if ref, err := alone.At(t.Context(), 2); err != nil || ref != f.ref(2) {
		t.Errorf("a pruned block whose header it has is %v (%v)", ref, err)
	}
	both := open(t, f, func(cfg *Config) {
		cfg.Node.URLs = []string{"http://part.invalid", "http://whole.invalid"}
		cfg.Node.HTTP = several{"part.invalid": part, "whole.invalid": f}
		cfg.Node.MinPause, cfg.Node.MaxPause = time.Minute, time.Minute
	})
	last := f.ref(0)
	for last != f.ref(20) {
		blocks, err := both.After(t.Context(), last, 6, chaintest.NewWatch())
		if err != nil || len(blocks) == 0 {
			t.Fatalf("after %v: %d blocks (%v), want some", last, len(blocks), err)
		}
		last = blocks[len(blocks)-1].Ref
	}
}

// A block that is not downloaded yet, or that only another node behind the URL knows, means that there is nothing new.
func TestBlocksThatANodeDoesNotHaveYetAreNotAnError(t *testing.T) {
	t.Parallel()
	for _, answer := range []*rpc.Error{{Code: codeNoSuch, Message: "Block not found"},
		{Code: codeMisc, Message: "Block not available (not fully downloaded)"}} {
		f := newFake()
		f.add()
		c := open(t, f)
		f.say("getblock", answer)
		if blocks, err := c.After(t.Context(), f.ref(0), 10, chaintest.NewWatch()); err != nil || len(blocks) != 0 {
			t.Errorf("%s: %d blocks (%v), want none", answer.Message, len(blocks), err)
		}
	}
}

func TestReadingOneEndpoint(t *testing.T) {
	t.Parallel()
	f := newFake()
	first := open(t, f)
	ours := source(t, first, 0).Base
	f.add()
	f.add(pays(1, wire.NewTxOut(1000, script(t, first, ours))))
	f.add()
	c := open(t, f, func(cfg *Config) {
		cfg.Node.URLs = []string{"http://me:hunter2@behind.invalid", "http://whole.invalid/key", "http://pruned.invalid"}
		cfg.Node.HTTP = several{"behind.invalid": lagging(f, 2), "whole.invalid": f, "pruned.invalid": pruned(f, 1)}
	})
	list := c.Endpoints()
	if len(list) != 3 || list[0].Host != "behind.invalid" || strings.Contains(fmt.Sprint(list), "hunter2") {
		t.Fatalf("endpoints are %v, want 3 of them and %q and no %q", list, "behind.invalid", "hunter2")
	}
	behind, whole, part := list[0].Name, list[1].Name, list[2].Name
	if head, err := c.HeadOn(t.Context(), behind); err != nil || head.Latest != f.ref(1) {
		t.Errorf("the head of the one behind is %+v (%v)", head, err)
	}
	if head, err := c.HeadOn(t.Context(), whole); err != nil || head.Latest != f.ref(3) || head.Final != f.ref(1) {
		t.Errorf("the head is %+v (%v)", head, err)
	}
	watch := chaintest.NewWatch(ours)
	block, err := c.BlockOn(t.Context(), whole, 2, watch)
	if err != nil || block.Ref != f.ref(2) || block.Parent != f.ref(1).Hash || len(block.Transfers) != 1 {
		t.Errorf("block 2 is %+v (%v)", block, err)
	}
	for _, height := range []uint64{2, 1 << 40} {
		if _, err := c.BlockOn(t.Context(), behind, height, watch); !errors.Is(err, chain.ErrNoBlock) {
			t.Errorf("block %d of the one behind: %v, want %v", height, err, chain.ErrNoBlock)
		}
	}
	if _, err := c.BlockOn(t.Context(), part, 2, watch); !errors.Is(err, errPruned) || errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("a pruned block: %v", err)
	}
	if _, err := c.BlockOn(t.Context(), "http://other.invalid", 2, watch); err == nil {
		t.Error("an endpoint that is not configured was read")
	}
}
