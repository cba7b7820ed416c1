package solana_test

import (
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/sandbox/nodes/solana"
)

// balancer hands every request to another backend: the node as it is, or as it was up to three blocks ago.
type balancer struct {
	node *solana.Node

	mu     sync.Mutex
	random *rand.Rand
	past   []http.Handler
}

func (b *balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b.mu.Lock()
	backend := b.random.IntN(3 * (len(b.past) + 1))
	var chosen http.Handler
	if backend < len(b.past) {
		chosen = b.past[backend]
	}
	b.mu.Unlock()
	if chosen == nil {
		chosen = b.node.Behind() // the newest block
	}
	chosen.ServeHTTP(w, r)
}

// mine makes a block, which the backends receive one after the other.
func (b *balancer) mine(t *testing.T) {
	t.Helper()
	before := b.node.Behind()
	mine(t, b.node, 1)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.past = append(b.past, before)
	b.past = b.past[max(0, len(b.past)-3):]
}

// follower reads all blocks as the service does, and counts transfers.
type follower struct {
	chain    *adapter.Chain
	watch    *chaintest.Watch
	last     chain.BlockRef
	arrived  map[string]int
	included map[string]int
}

func (f *follower) step(t *testing.T) {
	t.Helper()
	if _, err := f.chain.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	blocks, err := f.chain.After(t.Context(), f.last, 64, f.watch)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range blocks {
		if b.Parent != f.last.Hash {
			t.Fatalf("block %v does not follow %v", b, f.last)
		}
		f.last = b.Ref
		for _, tr := range b.Transfers {
			f.arrived[tr.Address.Base]++
		}
		for _, i := range b.Included {
			f.included[i.TxID]++
		}
	}
}

// TestThroughALoadBalancer answers every request from another backend: deposits arrive once, withdrawals are paid
// once, and the endpoint is never reported as faulty.
func TestThroughALoadBalancer(t *testing.T) {
	t.Parallel()
	n := start(t, solana.Config{Traffic: true})
	b := &balancer{node: n, random: rand.New(rand.NewPCG(3, 4))}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	mine(t, n, 10)
	from := hot(t, n, connect(t, n, adapter.Private()))
	c, err := adapter.New(adapter.Private(), rpc.Config{URLs: []string{server.URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	head, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	f := &follower{chain: c, watch: chaintest.NewWatch(), last: head.Final, arrived: map[string]int{},
		included: map[string]int{}}
	var wallets, sent []string
	for round := range 120 {
		wallet := n.NewAddress()
		f.watch.Add(wallet)
		wallets = append(wallets, wallet)
		if _, err := n.PayV1([]solana.Output{{Address: wallet, Lamports: sol}}); err != nil {
			t.Fatal(err)
		}
		if round%10 == 0 {
			sent = append(sent, b.withdraw(t, f, from))
		}
		b.mine(t)
		f.step(t)
	}
	for range 20 {
		b.mine(t)
		f.step(t)
	}
	for _, wallet := range wallets {
		if f.arrived[wallet] != 1 {
			t.Fatalf("a deposit arrived %d times, want 1", f.arrived[wallet])
		}
	}
	for _, id := range sent {
		if f.included[id] != 1 {
			t.Fatalf("a withdrawal is in %d blocks, want 1", f.included[id])
		}
	}
	if s := c.Stats()[0]; s.Faults > 0 {
		t.Fatalf("%d faults, the last: %s, want 0", s.Faults, s.LastFault)
	}
}

// withdraw builds, signs and sends as often as necessary: a backend that is behind may not know the blockhash yet.
func (b *balancer) withdraw(t *testing.T, f *follower, from chain.Source) string {
	t.Helper()
	order := chain.TxRequest{Kind: chain.KindWithdrawal, From: from, MaxFee: bursar.Units(100_000),
		Payments: []chain.Payment{{Address: bursar.Address{Base: b.node.NewAddress()}, Amount: bursar.Units(sol)}}}
	for range 50 {
		unsigned, err := f.chain.Build(t.Context(), order)
		if err != nil {
			continue
		}
		contents, err := f.chain.Inspect(unsigned.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		tx, err := f.chain.Assemble(unsigned, [][]byte{keys.Sign(from.Key, contents.Inputs[0].Digest)})
		if err != nil {
			t.Fatal(err)
		}
		f.watch.AddSent(tx.TxID)
		for range 50 {
			if f.chain.Broadcast(t.Context(), tx) == nil {
				return tx.TxID
			}
			b.mine(t)
			f.step(t)
		}
	}
	t.Fatal("no withdrawal was sent")
	return ""
}
