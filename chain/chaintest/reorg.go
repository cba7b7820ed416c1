package chaintest

import (
	"testing"

	"github.com/bursar/bursar/chain"
)

func testReorgOfOneBlock(t *testing.T, h Harness) { reorganise(t, h, 1) }
func testReorgOfThree(t *testing.T, h Harness)    { reorganise(t, h, 3) }
func testReorgOfFifty(t *testing.T, h Harness)    { reorganise(t, h, 50) }

// reorganise replaces the blocks that hold two payments, drops one of the two, and walks back and forth as a follower
// does.
func reorganise(t *testing.T, h Harness, depth int) {
	d := newHarness(t, h)
	depth = min(depth, d.capabilities.ReorgDepth)
	start := d.cursor
	kept := chain.Payment{Address: d.deposit(0), Amount: d.unit}
	dropped := chain.Payment{Address: d.deposit(1), Amount: d.times(d.unit, 2)}
	keptID, droppedID := h.Node.Pay(t, kept)[0], h.Node.Pay(t, dropped)[0]
	h.Node.Mine(t, depth)
	old := d.read()
	before := d.wantTransfer(old, keptID, kept)
	d.wantTransfer(old, droppedID, dropped)

	h.Node.Reorg(t, depth, droppedID)
	for _, block := range old {
		_, err := h.Chain.After(t.Context(), block.Ref, 10, d.watch)
		wantError(t, err, chain.ErrOffChain, "after a block that was reorged out")
	}
	if ancestor := d.ancestor(start, old); ancestor != start {
		t.Fatalf("the common ancestor is %v, want %v", ancestor, start)
	}
	fresh := d.follow(start, 7, d.watch)
	if len(fresh) != depth+1 {
		t.Fatalf("got %d blocks in place of %d, want %d", len(fresh), depth, depth+1)
	}
	d.wantReorganised(fresh, before, kept)
	if found := transfers(fresh, droppedID); len(found) != 0 {
		t.Fatalf("the dropped payment gives the transfers %+v, want none", found)
	}
	d.wantAbsent(droppedID)
}

// ancestor walks back from the newest block to one that is on the best chain.
func (d *harness) ancestor(start chain.BlockRef, blocks []chain.Block) chain.BlockRef {
	d.t.Helper()
	for i := len(blocks) - 1; i >= 0; i-- {
		ref, err := d.chain.At(d.ctx, blocks[i].Ref.Height)
		d.check(err, "at %d", blocks[i].Ref.Height)
		if ref == blocks[i].Ref {
			return ref
		}
	}
	ref, err := d.chain.At(d.ctx, start.Height)
	d.check(err, "at %d", start.Height)
	return ref
}

// wantReorganised checks that the same payment is now in another block.
func (d *harness) wantReorganised(fresh []chain.Block, before placed, payment chain.Payment) {
	d.t.Helper()
	after := d.wantTransfer(fresh, before.TxID, payment)
	if after.Output != before.Output || after.in == before.in {
		d.t.Fatalf("the payment was %+v, after the reorg it is %+v, want the same output in another block", before, after)
	}
	ref, err := d.chain.Find(d.ctx, before.TxID)
	d.check(err, "find")
	if ref != after.in {
		d.t.Fatalf("Find returns the block %v, want %v", ref, after.in)
	}
}
