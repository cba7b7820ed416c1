package solana

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

func at100() chain.BlockRef { return chain.BlockRef{Height: 100, Hash: hashOf("block 100")} }

func slotsOf(blocks []chain.Block) (slots []uint64) {
	for _, b := range blocks {
		slots = append(slots, b.Ref.Height)
	}
	return slots
}

// An unavailable slot is skipped if the next block's parent proves it empty, whatever the node's code.
func TestSkippedSlotsNeedProof(t *testing.T) {
	t.Parallel()
	for _, code := range absent {
		for _, listed := range []bool{false, true} {
			t.Run(fmt.Sprint(code, listed), func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				c := f.open(t, nil)
				f.add(101)
				f.add(104) // names 101 as its parent: 102 and 103 are empty
				f.add(105)
				f.respond("getBlock", func(params []any) (any, error) {
					if slot := params[0].(float64); slot == 102 || slot == 103 {
						return nil, skippedSlot(code)
					}
					return f.usual("getBlock", params)
				})
				if listed {
					f.respond("getBlocksWithLimit", func([]any) (any, error) { return []int{101, 102, 103, 104, 105}, nil })
				}
				blocks, err := c.After(t.Context(), at100(), 10, watching())
				if err != nil || !slices.Equal(slotsOf(blocks), []uint64{101, 104, 105}) {
					t.Fatalf("%v, %v, want %+v", slotsOf(blocks), err, []uint64{101, 104, 105})
				}
			})
		}
	}
}

// If the next block names the missing one as its parent, the chain is read up to the gap and no further.
func TestMissingBlocksAreNotSkippedSlots(t *testing.T) {
	t.Parallel()
	for _, code := range append(slices.Clone(absent), -32001, -32603) {
		t.Run(fmt.Sprint(code), func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := f.open(t, nil)
			for slot := uint64(101); slot <= 104; slot++ {
				f.add(slot)
			}
			f.respond("getBlock", func(params []any) (any, error) {
				if params[0].(float64) == 102 {
					return nil, skippedSlot(code)
				}
				return f.usual("getBlock", params)
			})
			blocks, err := c.After(t.Context(), at100(), 10, watching())
			if slices.Contains(absent, code) && err != nil || err == nil && !slices.Equal(slotsOf(blocks), []uint64{101}) {
				t.Fatalf("before the gap: %v, %v", slotsOf(blocks), err)
			}
			if err == nil { // an error that does not concern the slot may come before the block below it
				blocks, err = c.After(t.Context(), blocks[0].Ref, 10, watching())
			}
			if !errors.Is(err, rpc.ErrUnavailable) || len(blocks) > 0 {
				t.Fatalf("at the gap: %v, %v, want %v and none", slotsOf(blocks), err, rpc.ErrUnavailable)
			}
		})
	}
}

// A list of slots that omits one, is out of order or is empty is detected by the parents of blocks, or refused.
func TestListsOfSlotsAreVerified(t *testing.T) {
	t.Parallel()
	for name, list := range map[string]any{
		"one is left out": []int{102, 103}, "backwards": []int{103, 102, 101}, "twice": []int{101, 101},
		"too low":  []int{100, 101},
		"too many": []int{101, 102, 103, 104, 105, 106, 107, 108, 109, 110, 111}, "empty": []int{}, "null": nil,
		"beyond the tip": []int{500},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := f.open(t, nil)
			for slot := uint64(101); slot <= 103; slot++ {
				f.add(slot)
			}
			f.respond("getBlocksWithLimit", func([]any) (any, error) { return list, nil })
			if blocks, err := c.After(t.Context(), at100(), 10, watching()); err == nil || errors.Is(err, chain.ErrOffChain) {
				t.Fatalf("%v, %v", slotsOf(blocks), err)
			}
		})
	}
}

func TestOffChainNeedsProof(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	f.add(101)
	f.add(104)
	after := func(height uint64, hash string) error {
		_, err := c.After(t.Context(), chain.BlockRef{Height: height, Hash: hash}, 10, watching())
		return err
	}
	if err := after(101, hashOf("another")); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("another block in its place: %v, want %v", err, chain.ErrOffChain)
	}
	if err := after(102, hashOf("another")); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("a slot that the next block skips: %v, want %v", err, chain.ErrOffChain)
	}
	if err := after(500, hashOf("another")); err != nil {
		t.Fatalf("a node that is behind: %v", err)
	}
	f.respond("getBlock", func(params []any) (any, error) {
		if params[0].(float64) == 101 {
			return nil, skippedSlot(-32009)
		}
		return f.usual("getBlock", params)
	})
	if err := after(101, hashOf("block 101")); err != nil {
		t.Fatalf("a node that has lost the block, and has one that names it as its parent: %v", err)
	}
	if err := after(101, hashOf("another")); err == nil || errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("a node that has lost the block, and has one that names another as its parent: %v", err)
	}
}

func TestHeadIsFinal(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	f.add(103)
	f.add(107)
	head, err := c.Head(t.Context())
	want := chain.BlockRef{Height: 107, Hash: hashOf("block 107")}
	if err != nil || head.Latest != want || head.Final != want {
		t.Fatalf("head is %+v, %v, want %v", head, err, want)
	}
	f.respond("getBlock", func(params []any) (any, error) { // the answer of the newest block is not stored yet
		if params[0].(float64) == 107 {
			return nil, failure{code: -32004, message: "Block not available for slot 107"}
		}
		return f.usual("getBlock", params)
	})
	if head, err = c.Head(t.Context()); err != nil || head.Final.Height != 103 {
		t.Fatalf("head is %+v, %v, want 103", head, err)
	}
	for slot, want := range map[uint64]uint64{103: 103, 104: 103, 106: 103, 102: 100, 100: 100} {
		if ref, err := c.At(t.Context(), slot); err != nil || ref.Height != want ||
			ref.Hash != hashOf(fmt.Sprint("block ", want)) {
			t.Fatalf("at %d: %+v, %v", slot, ref, err)
		}
	}
	for _, slot := range []uint64{108, 99} {
		if ref, err := c.At(t.Context(), slot); !errors.Is(err, chain.ErrNoBlock) {
			t.Fatalf("at %d: %+v, %v, want %v", slot, ref, err, chain.ErrNoBlock)
		}
	}
	f.respond("getHealth", func([]any) (any, error) {
		return nil, failure{code: -32005, message: "Node is behind by 200 slots", data: object{"numSlotsBehind": 200}}
	})
	if _, err := c.Head(t.Context()); !errors.Is(err, rpc.ErrUnavailable) {
		t.Fatalf("head of a node that is behind: %v, want %v", err, rpc.ErrUnavailable)
	}
}

func TestWrongChainIsRefused(t *testing.T) {
	t.Parallel()
	const devnet = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG" // its genesis hash
	f := newFake(t)
	f.respond("getGenesisHash", func([]any) (any, error) { return devnet, nil })
	_, err := f.open(t, nil).Head(t.Context())
	var wrong *rpc.WrongChainError
	if !errors.As(err, &wrong) || wrong.Serves != devnet {
		t.Fatalf("devnet for mainnet: %v", err)
	}
	if _, err := f.open(t, func(cfg *Config) { cfg.Genesis = "" }).Head(t.Context()); err != nil {
		t.Fatalf("any chain: %v", err)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	f.add(101)
	found := fakeTx{name: "x", version: 1, keys: []string{outsider}, before: []uint64{5000},
		after: []uint64{0}}.object()
	found["slot"] = 101
	f.respond("getTransaction", func(params []any) (any, error) {
		if _, err := encoded1(found, params[1].(object)); err != nil {
			return nil, err
		}
		switch params[0] {
		case signatureOf("x0"), signatureOf("another"):
			return found, nil
		case signatureOf("pruned"):
			return nil, failure{code: -32011, message: "Transaction history is not available from this node"}
		}
		return nil, nil
	})
	if ref, err := c.Find(t.Context(), signatureOf("x0")); err != nil || ref.Height != 101 ||
		ref.Hash != hashOf("block 101") {
		t.Fatalf("%+v, %v", ref, err)
	}
	for _, id := range []string{signatureOf("nothing"), "garbage", ""} {
		if _, err := c.Find(t.Context(), id); !errors.Is(err, chain.ErrNoBlock) {
			t.Fatalf("%q: %v, want %v", id, err, chain.ErrNoBlock)
		}
	}
	for _, id := range []string{signatureOf("pruned"), signatureOf("another")} {
		if _, err := c.Find(t.Context(), id); err == nil || errors.Is(err, chain.ErrNoBlock) {
			t.Fatalf("%q: %v", id, err)
		}
	}
}
