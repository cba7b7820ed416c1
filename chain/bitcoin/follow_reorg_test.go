package bitcoin

import (
	"context"
	"encoding/hex"
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

func TestUnsoundBlocksAreErrors(t *testing.T) {
	t.Parallel()
	honest := newFake()
	b := honest.add(pays(1, wire.NewTxOut(5000, []byte{opOne})))
	whole := hexOf(b)
	forged := b.Copy()
	forged.Transactions[1].TxOut[0].Value++
	for why, answer := range map[string]any{
		"truncated":       whole[:len(whole)-20],
		"half a byte":     whole[:len(whole)-1],
		"empty":           "",
		"not hexadecimal": strings.Repeat("zz", len(whole)/2),
		"another block":   hexOf(honest.blocks[0]),
		"a forged value":  hexOf(forged),
		"an object":       map[string]any{"hash": b.BlockHash().String()},
		"null":            nil,
		"pruned":          &rpc.Error{Code: -1, Message: "Block not available (pruned data)"},
	} {
		c := open(t, honest)
		honest.say("getblock", answer)
		if blocks, err := c.After(t.Context(), honest.ref(0), 10, chaintest.NewWatch()); err == nil {
			t.Errorf("%s: %d blocks, want an error", why, len(blocks))
		}
	}
}

func TestReorgBetweenCalls(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	for range 20 {
		f.add()
	}
	last, deep := f.ref(5), f.ref(12)
	// The chain is replaced from block 9 on while the second batch is read.
	var asked atomic.Int32
	f.sayBy("getblock", func(params []any) any {
		if asked.Add(1) == 4 {
			f.drop(12)
			for range 13 {
				f.add()
			}
		}
		return f.answer("getblock", params)
	})
	blocks, err := c.After(t.Context(), last, 100, chaintest.NewWatch())
	if err != nil {
		// A block that was reorged out is an error of the node; the next call must recover.
		blocks, err = c.After(t.Context(), last, 100, chaintest.NewWatch())
	}
	if err != nil {
		t.Fatal(err)
	}
	parent := last
	for _, b := range blocks {
		if b.Parent != parent.Hash || b.Ref.Height != parent.Height+1 {
			t.Fatalf("block %v follows %v, want %v and %v", b.Ref, parent, parent.Hash, parent.Height+1)
		}
		parent = b.Ref
	}
	if _, err := c.After(t.Context(), deep, 10, chaintest.NewWatch()); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("after a reorged-out block: %v, want %v", err, chain.ErrOffChain)
	}
}

// TestNextBlockOfAnotherBranch is a reorg after last was found on the chain: its successor has another parent.
func TestNextBlockOfAnotherBranch(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	f.add()
	f.add()
	last := f.ref(1)
	f.sayBy("getblockheader", func(params []any) any {
		answer := f.answer("getblockheader", params)
		f.drop(2)
		f.add(pays(1, wire.NewTxOut(1, []byte{opOne})))
		f.add()
		return answer
	})
	if blocks, err := c.After(t.Context(), last, 10, chaintest.NewWatch()); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("%d blocks (%v), want %v", len(blocks), err, chain.ErrOffChain)
	}
}

func TestUnknownLastBlock(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	f.add()
	unknown := strings.Repeat("ab", 32)
	_, err := c.After(t.Context(), chain.BlockRef{Height: 1, Hash: unknown}, 10, chaintest.NewWatch())
	if !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("another block is at that height: %v, want %v", err, chain.ErrOffChain)
	}
	// A node that has nothing at that height lags. That is neither a reorg nor a fault, and there is nothing new.
	blocks, err := c.After(t.Context(), chain.BlockRef{Height: 7, Hash: unknown}, 10, chaintest.NewWatch())
	if err != nil || len(blocks) != 0 {
		t.Fatalf("the node lags: %d blocks (%v), want none", len(blocks), err)
	}
	if stats := c.Stats()[0]; stats.Faults != 0 {
		t.Fatalf("a lagging node counts as faulty: %+v, want 0", stats)
	}
	_, err = c.After(t.Context(), chain.BlockRef{Height: 2, Hash: f.ref(1).Hash}, 10, chaintest.NewWatch())
	if !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("the hash is at another height: %v, want %v", err, chain.ErrOffChain)
	}
}

func TestRawBlocksInMemoryAreBounded(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	for range 50 {
		f.add()
	}
	var held, most atomic.Int32
	f.sayBy("getblock", func(params []any) any {
		most.Store(max(most.Load(), held.Add(1)))
		return f.answer("getblock", params)
	})
	watch := chaintest.NewWatch()
	watch.OnSync(func(int) { held.Store(0) })
	blocks, err := c.After(t.Context(), f.ref(0), 1000, watch)
	if err != nil || len(blocks) != 50 || most.Load() > maxInMemory {
		t.Fatalf("%d blocks, %d in memory at once (%v), want 50 of them and at most %v", len(blocks), most.Load(), err,
			maxInMemory)
	}
	for _, limit := range []int{0, -1} {
		if blocks, err := c.After(t.Context(), f.ref(0), limit, watch); err != nil || len(blocks) != 0 {
			t.Fatalf("limit %d gives %d blocks (%v), want none", limit, len(blocks), err)
		}
	}
}

func TestSyncFails(t *testing.T) {
	t.Parallel()
	f := newFake()
	c := open(t, f)
	f.add(pays(1, wire.NewTxOut(1, []byte{opOne})))
	if blocks, err := c.After(t.Context(), f.ref(0), 10, unsynced{}); !errors.Is(err, errUnsynced) {
		t.Fatalf("%d blocks (%v), want %v", len(blocks), err, errUnsynced)
	}
}

var errUnsynced = errors.New("no database")

type unsynced struct{ everything }

func (unsynced) Sync(context.Context) error { return errUnsynced }

func TestHexOfGenesisIsMainnets(t *testing.T) {
	t.Parallel()
	// The first block as every node has it: the reader is tested with bytes that this project did not make.
	text := "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c" +
		"0101000000010000000000000000000000000000000000000000000000000000000000000000ffffffff4d04ffff001d0104455468652054696d65732030332f4a616e2f32303039204368616e63656c6c6f72206f6e206272696e6b206f66207365636f6e64206261696c6f757420666f722062616e6b73ffffffff0100f2052a01000000434104678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5fac00000000"
	raw, err := hex.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := readBlock(raw)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.verify(network(t, "main").Genesis); err != nil {
		t.Fatal(err)
	}
}
