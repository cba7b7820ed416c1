package chaintest

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar/chain"
)

// Balanced is a node that can be put behind a load balancer with several backends.
type Balanced interface {
	// Spread puts one backend for each number behind the load balancer, which rotates between them from answer to
	// answer; each number is how many blocks that backend is behind the newest. Without numbers the node answers
	// directly again.
	Spread(t testing.TB, behind ...int)
}

// testEveryAnswerFromAnotherBackend follows a chain whose every answer comes from another backend, some of which are
// behind. An older answer brings nothing new: it is neither an error nor a reorg, and in the end every payment has
// appeared once.
func testEveryAnswerFromAnotherBackend(t *testing.T, h Harness) {
	node := h.Node.(Balanced)
	d := newHarness(t, h)
	h.Node.Mine(t, 4) // as many as a backend may be behind
	d.read()
	node.Spread(t, 0, 1, 3)
	var paid []string
	payments := map[string]chain.Payment{}
	var seen []chain.Block
	for i := range 12 {
		payment := chain.Payment{Address: d.deposit(uint32(i % 3)), Amount: d.unit}
		txID := h.Node.Pay(t, payment)[0]
		paid, payments[txID] = append(paid, txID), payment
		h.Node.Mine(t, 1+i%2)
		for range 2 {
			seen = append(seen, d.readSome(4)...)
		}
	}
	node.Spread(t)
	seen = append(seen, d.read()...)
	for _, txID := range paid {
		d.wantTransfer(seen, txID, payments[txID])
	}
	if all := transfers(seen, ""); len(all) != len(paid) {
		t.Fatalf("%d payments give %d transfers, want one each", len(paid), len(all))
	}
}

// readSome reads from the cursor the blocks that the next backend has, and checks that they are linked.
func (d *harness) readSome(limit int) []chain.Block {
	d.t.Helper()
	head := d.head()
	if head.Final.Height > head.Latest.Height {
		d.t.Fatalf("final is %v above latest %v", head.Final, head.Latest)
	}
	blocks, err := d.chain.After(d.ctx, d.cursor, limit, d.watch)
	d.check(err, "blocks after %v", d.cursor)
	for _, block := range blocks {
		if block.Parent != d.cursor.Hash {
			d.t.Fatalf("block %v with parent %q does not follow %v, want %v", block.Ref, block.Parent, d.cursor, d.cursor.Hash)
		}
		d.cursor = block.Ref
	}
	return blocks
}

// testOneEndpointAlone reads the follower's blocks through each endpoint alone, which must give the same.
func testOneEndpointAlone(t *testing.T, h Harness) {
	reader := h.Chain.(chain.EndpointReader)
	d := newHarness(t, h)
	payment := chain.Payment{Address: d.deposit(0), Amount: d.unit}
	txID := h.Node.Pay(t, payment)[0]
	blocks := d.settle()
	d.wantTransfer(blocks, txID, payment)
	endpoints := reader.Endpoints()
	if len(endpoints) == 0 {
		t.Fatal("the adapter has no endpoints, want at least one")
	}
	for _, e := range endpoints {
		if e.Name == "" || e.Host == "" {
			t.Fatalf("endpoint %+v has no name or no host", e)
		}
		head, err := reader.HeadOn(t.Context(), e.Name)
		d.check(err, "head on %s", e.Name)
		if head.Latest.Height < d.cursor.Height || head.Final.Height > head.Latest.Height {
			t.Fatalf("head on %s is %+v, below the read block %v or below its own final block", e.Name, head, d.cursor)
		}
		for _, block := range blocks {
			alone, err := reader.BlockOn(t.Context(), e.Name, block.Ref.Height, d.watch)
			d.check(err, "block %d on %s", block.Ref.Height, e.Name)
			if !reflect.DeepEqual(alone, block) {
				t.Fatalf("block %d on %s is\n%+v\nwant what the follower reads\n%+v", block.Ref.Height, e.Name, alone, block)
			}
		}
		_, err = reader.BlockOn(t.Context(), e.Name, head.Latest.Height+1000, d.watch)
		wantError(t, err, chain.ErrNoBlock, "block above the head of "+e.Name)
	}
	if _, err := reader.HeadOn(t.Context(), "no such endpoint"); err == nil || errors.Is(err, chain.ErrNoBlock) {
		t.Fatalf("an endpoint that is not configured gives the error %v, want another one than chain.ErrNoBlock", err)
	}
}
