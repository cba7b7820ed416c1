package solana

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
)

func TestExpiryIsProven(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		blocks  int // blocks after the unsigned transaction's
		spoil   func(f *fake, tx chain.SignedTx)
		expired bool
		err     bool
	}{
		"at once":          {blocks: 0},
		"the last block":   {blocks: lifetime},
		"one later":        {blocks: lifetime + 1, expired: true},
		"much later":       {blocks: lifetime + 50, expired: true},
		"it is in a block": {blocks: lifetime + 1, spoil: func(f *fake, tx chain.SignedTx) { f.statuses[tx.TxID] = 150 }},
		"a block is lost": {blocks: lifetime + 1, err: true, spoil: func(f *fake, _ chain.SignedTx) {
			delete(f.blocks, 150)
		}},
		"the first block is lost": {blocks: lifetime + 1, err: true, spoil: func(f *fake, _ chain.SignedTx) {
			delete(f.blocks, 100)
		}},
		"the first block is another one": {blocks: lifetime + 1, err: true, spoil: func(f *fake, _ chain.SignedTx) {
			f.blocks[100]["blockhash"] = hashOf("another")
		}},
		"the list ends early": {blocks: lifetime + 1, err: true, spoil: func(f *fake, _ chain.SignedTx) {
			f.script["getBlocksWithLimit"] = func([]any) (any, error) { return []int{100, 101, 102}, nil }
		}},
		"the answer is of an older slot": {blocks: lifetime + 1, err: true, spoil: func(f *fake, _ chain.SignedTx) {
			f.script["getSignatureStatuses"] = func([]any) (any, error) {
				return object{"context": object{"slot": 200}, "value": []any{nil}}, nil
			}
		}},
		"the node keeps no history": {blocks: lifetime + 1, err: true, spoil: func(f *fake, _ chain.SignedTx) {
			f.script["getSignatureStatuses"] = func([]any) (any, error) {
				return nil, failure{code: -32011, message: "Transaction history is not available from this node"}
			}
		}},
		"an empty answer": {blocks: lifetime + 1, err: true, spoil: func(f *fake, _ chain.SignedTx) {
			f.script["getSignatureStatuses"] = func([]any) (any, error) {
				return object{"context": object{"slot": 1000}, "value": []any{}}, nil
			}
		}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := f.open(t, nil)
			unsigned, tx := signed(t, f, c)
			for slot := uint64(101); slot <= 100+uint64(test.blocks); slot++ {
				f.add(slot)
			}
			if test.spoil != nil {
				f.mu.Lock()
				test.spoil(f, tx)
				f.mu.Unlock()
			}
			expired, err := c.Expired(t.Context(), unsigned, tx.TxID)
			if expired != test.expired || (err != nil) != test.err {
				t.Fatalf("%v, %v, want %v and %v", expired, err, test.expired, test.err)
			}
		})
	}
}

// A cache in front of a node may return a blockhash with the slot of another block. Expiry is proven all the same: the
// block is found by its hash, at the height that follows from the last block height.
func TestExpiryFindsTheBlockByItsHash(t *testing.T) {
	t.Parallel()
	for _, off := range []int{-3, -1, 1, 2, 5, 40} {
		for _, empty := range []bool{false, true} {
			f := newFake(t)
			c := f.open(t, nil)
			for slot := uint64(101); slot <= 150; slot++ {
				if !empty || slot%4 > 0 {
					f.add(slot)
				}
			}
			unsigned, tx := signed(t, f, c)
			e, _, err := unpack(unsigned.Bytes)
			if err != nil {
				t.Fatal(err)
			}
			e.slot = uint64(int(e.slot) + off)
			unsigned.Bytes = e.pack()
			for slot := uint64(151); slot <= 150+lifetime; slot++ {
				f.add(slot)
			}
			if expired, err := c.Expired(t.Context(), unsigned, tx.TxID); expired || err != nil && !errors.Is(err, errUnproven) {
				t.Fatalf("%d off: while it can be included: %v, %v", off, expired, err)
			}
			for slot := uint64(151) + lifetime; slot <= 200+lifetime; slot++ {
				f.add(slot)
			}
			if expired, err := c.Expired(t.Context(), unsigned, tx.TxID); !expired || err != nil {
				t.Fatalf("%d off, empty slots %v: %v, %v", off, empty, expired, err)
			}
		}
	}
}

// A confirmed block that gave a blockhash may never become final. Then its transactions never will either, which is
// proven once another block is final at its height, and the last block height has passed.
func TestExpiryOfABlockhashThatIsOnNoFinalBlock(t *testing.T) {
	t.Parallel()
	for _, valid := range []any{false, true, nil} {
		f := newFake(t)
		c := f.open(t, nil)
		f.add(101)
		f.add(102)
		unsigned, tx := signed(t, f, c) // with the hash of block 102
		f.mu.Lock()
		f.blocks[102]["blockhash"] = hashOf("instead")
		f.mu.Unlock()
		for slot := uint64(103); slot <= 102+lifetime; slot++ {
			f.add(slot)
		}
		f.respond("isBlockhashValid", func(params []any) (any, error) {
			if params[0] != hashOf("block 102") {
				return nil, failure{code: -32602, message: "another blockhash"}
			}
			return object{"value": valid}, nil
		})
		if expired, err := c.Expired(t.Context(), unsigned, tx.TxID); expired || err != nil {
			t.Fatalf("before its last block height: %v, %v", expired, err)
		}
		f.add(103 + lifetime)
		expired, err := c.Expired(t.Context(), unsigned, tx.TxID)
		if expired != (valid == false) || (err == nil) != (valid == false) {
			t.Fatalf("a node that says %v: %v, %v", valid, expired, err)
		}
	}
}

// A proof of expiry takes a few calls, and none in a batch.
func TestExpiryTakesFewCalls(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	unsigned, tx := signed(t, f, c)
	for slot := uint64(101); slot <= 101+lifetime; slot++ {
		f.add(slot)
	}
	clear(f.asked)
	if expired, err := c.Expired(t.Context(), unsigned, tx.TxID); !expired || err != nil {
		t.Fatal(expired, err)
	}
	calls := 0
	for _, n := range f.asked {
		calls += n
	}
	if calls > 15 {
		t.Fatalf("%d calls: %v, want at most 15", calls, f.asked)
	}
}

// Slots without blocks do not bring expiry closer: block heights count, not slots.
func TestExpiryCountsBlocks(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	unsigned, tx := signed(t, f, c)
	for i := range uint64(lifetime) {
		f.add(103 + 3*i)
	}
	if expired, err := c.Expired(t.Context(), unsigned, tx.TxID); expired || err != nil {
		t.Fatalf("after %d blocks: %v, %v", lifetime, expired, err)
	}
	f.add(1000)
	if expired, err := c.Expired(t.Context(), unsigned, tx.TxID); !expired || err != nil {
		t.Fatalf("after %d blocks: %v, %v", lifetime+1, expired, err)
	}
	unsigned.Expires++
	if _, err := c.Expired(t.Context(), unsigned, tx.TxID); err == nil {
		t.Fatal("a last block height that differs from the unsigned transaction's was accepted, want an error")
	}
}
