package solana

import (
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Behind one URL there may be several nodes, and another one may answer each request: some are a few slots behind, and
// lack blocks that the others list. None of that is a fault, and no block is lost or read twice.
func TestLoadBalancedNodes(t *testing.T) {
	t.Parallel()
	for _, lag := range []uint64{1, 2, 3} {
		f := newFake(t)
		c := f.open(t, nil)
		turn := 0
		behind := func(method string) func([]any) (any, error) {
			return func(params []any) (any, error) {
				if turn++; turn%3 == 0 {
					final := f.final
					f.final -= min(lag, final-100)
					defer func() { f.final = final }()
				}
				return f.usual(method, params)
			}
		}
		for _, method := range []string{"getSlot", "getBlock", "getBlocks", "getBlocksWithLimit"} {
			f.respond(method, behind(method))
		}
		last, seen := at100(), 0
		for range 200 {
			f.add(f.final+1, payment(fmt.Sprint(f.final+1), 1))
			if _, err := c.Head(t.Context()); err != nil {
				t.Fatalf("%d behind: head: %v", lag, err)
			}
			blocks, err := c.After(t.Context(), last, 10, watching())
			if err != nil {
				t.Fatalf("%d behind, after %d: %v", lag, last.Height, err)
			}
			for _, b := range blocks {
				if b.Parent != last.Hash || len(b.Transfers) != 1 {
					t.Fatalf("%d behind: %+v after %+v, want %v and 1 of them", lag, b, last, last.Hash)
				}
				last, seen = b.Ref, seen+1
			}
		}
		if seen < 190 {
			t.Fatalf("%d behind: %d blocks of 200 were read, want at least 190", lag, seen)
		}
		if faults := c.Stats()[0].Faults; faults > 0 {
			t.Fatalf("%d behind: %d faults, the last is %s, want 0", lag, faults, c.Stats()[0].LastFault)
		}
	}
}

// While catching up, blocks come from several endpoints. One that is on another chain is detected by the parents, and
// its blocks are requested from the other.
func TestAnEndpointOnAnotherChain(t *testing.T) {
	t.Parallel()
	sound, other := newFake(t), newFake(t)
	for slot := uint64(101); slot <= 400; slot++ {
		sound.add(slot, payment(fmt.Sprint(slot), 1))
		other.add(slot, payment(fmt.Sprint("other ", slot), 1))
	}
	for slot := uint64(150); slot <= 400; slot++ {
		other.blocks[slot]["blockhash"] = hashOf(fmt.Sprint("other ", slot))
		if slot > 150 {
			other.blocks[slot]["previousBlockhash"] = hashOf(fmt.Sprint("other ", slot-1))
		}
	}
	c, err := New(Mainnet(), rpc.Config{URLs: []string{sound.url, other.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Head(t.Context()); err != nil { // which requests the height of both
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for last := at100(); last.Height < 400; {
		blocks, err := c.After(t.Context(), last, 64, watching())
		if err != nil {
			t.Fatal(err)
		}
		for _, b := range blocks {
			if b.Parent != last.Hash || b.Ref.Hash != hashOf(fmt.Sprint("block ", b.Ref.Height)) || len(b.Transfers) != 1 {
				t.Fatalf("%+v after %+v", b, last)
			}
			last = b.Ref
			seen[b.Ref.Hash] = true
		}
	}
	if len(seen) != 300 || c.Stats()[0].Faults > 0 {
		t.Fatalf("%d blocks, %+v, want 300 of them and 0", len(seen), c.Stats())
	}
}

// A node that permanently lists blocks that it does not have is at fault.
func TestANodeThatNeverHasTheBlocksItListsIsAtFault(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	f.add(101)
	f.respond("getBlock", func(params []any) (any, error) {
		if params[0].(float64) > 100 {
			return nil, failure{code: -32014, message: "Block status not yet available for slot 101"}
		}
		return f.usual("getBlock", params)
	})
	for i := range mostDry + 1 {
		blocks, err := c.After(t.Context(), at100(), 10, watching())
		if lasts := i == mostDry; len(blocks) > 0 || lasts != errors.Is(err, rpc.ErrUnavailable) || !lasts && err != nil {
			t.Fatalf("time %d: %v", i, err)
		}
	}
}

// A node that keeps only a part of the past gives no more, and is not at fault: only the answer is missing.
func TestPrunedNodes(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	for slot := uint64(101); slot <= 200; slot++ {
		f.add(slot)
	}
	f.oldest = 150
	c := f.open(t, nil)
	for _, slot := range []uint64{0, 100, 149} {
		if ref, err := c.At(t.Context(), slot); err == nil || errors.Is(err, rpc.ErrUnavailable) {
			t.Fatalf("at %d: %+v, %v", slot, ref, err)
		}
	}
	ref, err := c.At(t.Context(), 150)
	if err != nil || ref.Height != 150 || c.Stats()[0].Faults > 0 {
		t.Fatalf("%+v, %v, %+v, want 150 and 0", ref, err, c.Stats())
	}
	// The blocks after its oldest one are read as usual; the blocks before are its fault, since another node may have
	// them.
	if blocks, err := c.After(t.Context(), ref, 10, watching()); err != nil || len(blocks) != 10 {
		t.Fatalf("%v, %v, want 10 of them", slotsOf(blocks), err)
	}
	if _, err := c.After(t.Context(), chain.BlockRef{Height: 120, Hash: hashOf("block 120")}, 10,
		watching()); !errors.Is(err, rpc.ErrUnavailable) {
		t.Fatalf("after a deleted block: %v, want %v", err, rpc.ErrUnavailable)
	}
	// A second node has the rest.
	whole := newFake(t)
	for slot := uint64(101); slot <= 200; slot++ {
		whole.add(slot)
	}
	both, err := New(Mainnet(), rpc.Config{URLs: []string{f.url, whole.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(both.Close)
	if ref, err := both.At(t.Context(), 120); err != nil || ref.Height != 120 {
		t.Fatalf("%+v, %v, want 120", ref, err)
	}
}
