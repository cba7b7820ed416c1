package chaintest

import (
	"context"
	"reflect"
	"testing"

	"github.com/bursar/bursar/chain"
)

func testHeadAndBlocksAgree(t *testing.T, h Harness) {
	d := newHarness(t, h)
	start := d.cursor
	h.Node.Mine(t, 5)
	head := d.head()
	if head.Latest.Height < start.Height+5 || head.Final.Height > head.Latest.Height {
		t.Fatalf("head is %+v after five blocks on top of %v", head, start)
	}
	blocks := d.read()
	if len(blocks) == 0 || blocks[len(blocks)-1].Ref != head.Latest {
		t.Fatalf("blocks after %v do not end at the head %v", start, head.Latest)
	}
	for _, block := range blocks {
		ref, err := h.Chain.At(t.Context(), block.Ref.Height)
		d.check(err, "at %d", block.Ref.Height)
		if ref != block.Ref {
			t.Fatalf("the block at %d is %v by At and %v by After, want the same", block.Ref.Height, ref, block.Ref)
		}
		if block.Time.IsZero() {
			t.Fatalf("block %v has no time", block.Ref)
		}
	}
	_, err := h.Chain.At(t.Context(), head.Latest.Height+1000)
	wantError(t, err, chain.ErrNoBlock, "block above the head")
}

func testAnyLimitGivesTheSameBlocks(t *testing.T, h Harness) {
	d := newHarness(t, h)
	start := d.cursor
	payment := chain.Payment{Address: d.deposit(0), Amount: d.unit}
	h.Node.Pay(t, payment)
	h.Node.Mine(t, 3)
	h.Node.Pay(t, payment)
	h.Node.Mine(t, 4)
	want := d.follow(start, 1, d.watch)
	if len(transfers(want, "")) != 2 {
		t.Fatalf("two payments give the transfers %+v, want 2", transfers(want, ""))
	}
	for _, limit := range []int{2, 3, 7, 1000} {
		if got := d.follow(start, limit, d.watch); !reflect.DeepEqual(got, want) {
			t.Fatalf("limit %d gives the blocks\n%+v\nwant those of limit 1\n%+v", limit, got, want)
		}
	}
	blocks, err := h.Chain.After(t.Context(), d.head().Latest, 10, d.watch)
	d.check(err, "after the tip")
	if len(blocks) != 0 {
		t.Fatalf("%d blocks after the tip, want none", len(blocks))
	}
}

func testUnknownBlockIsOffChain(t *testing.T, h Harness) {
	d := newHarness(t, h)
	start := d.cursor
	h.Node.Mine(t, 2)
	unknown := chain.BlockRef{Height: start.Height, Hash: mutated(start.Hash)}
	_, err := h.Chain.After(t.Context(), unknown, 10, d.watch)
	wantError(t, err, chain.ErrOffChain, "after a block that never existed")
}

func testCancelledContextIsAnError(t *testing.T, h Harness) {
	d := newHarness(t, h)
	start := d.cursor
	h.Node.Mine(t, 1)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	calls := map[string]func() error{
		"head":  func() error { _, err := h.Chain.Head(ctx); return err },
		"at":    func() error { _, err := h.Chain.At(ctx, start.Height); return err },
		"after": func() error { _, err := h.Chain.After(ctx, start, 10, d.watch); return err },
	}
	for name, call := range calls {
		wantError(t, call(), context.Canceled, name+" with a cancelled context")
	}
}

func testFindNamesTheBlock(t *testing.T, h Harness) {
	d := newHarness(t, h)
	payment := chain.Payment{Address: d.deposit(0), Amount: d.unit}
	txID := h.Node.Pay(t, payment)[0]
	h.Node.Mine(t, 2)
	transfer := d.wantTransfer(d.read(), txID, payment)
	ref, err := h.Chain.Find(t.Context(), txID)
	d.check(err, "find")
	if ref != transfer.in {
		t.Fatalf("Find returns the block %v, want %v, whose transfers show the transaction", ref, transfer.in)
	}
	d.wantAbsent(mutated(txID))
}

// mutated returns the hash with another last character.
func mutated(hash string) string {
	last := len(hash) - 1
	return hash[:last] + otherCharacter(hash[last])
}
