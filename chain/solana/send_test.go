package solana

import (
	"encoding/base64"
	"errors"
	"slices"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// signed builds and signs a withdrawal at a fake node.
func signed(t *testing.T, f *fake, c *Chain) (chain.UnsignedTx, chain.SignedTx) {
	t.Helper()
	from := hotSource()
	f.mu.Lock()
	f.accounts[from.Base] = plainAccount(9 * sol)
	f.mu.Unlock()
	unsigned, err := c.Build(t.Context(), requestOf(chain.KindWithdrawal, from, outsider, sol))
	if err != nil {
		t.Fatal(err)
	}
	contents, err := c.Inspect(unsigned.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	tx, err := c.Assemble(unsigned,
		[][]byte{chaintest.Keys{Curve: chain.Ed25519}.Sign(from.Key, contents.Inputs[0].Digest)})
	if err != nil {
		t.Fatal(err)
	}
	return unsigned, tx
}

func TestTheMeaningOfAnswersToABroadcast(t *testing.T) {
	t.Parallel()
	preflight := func(why any) error {
		return failure{code: -32002, message: "Transaction simulation failed", data: object{"err": why, "logs": []string{}}}
	}
	cases := map[string]struct {
		answer   error
		inBlock  bool
		ok       bool
		rejected bool
	}{
		"taken":                         {ok: true},
		"already processed":             {answer: preflight("AlreadyProcessed"), ok: true},
		"blockhash gone":                {answer: preflight("BlockhashNotFound")},
		"blockhash gone and in a block": {answer: preflight("BlockhashNotFound"), inBlock: true, ok: true},
		"it would fail":                 {answer: preflight(object{"InstructionError": []any{2, object{"Custom": 1}}})},
		"no funds":                      {answer: preflight("InsufficientFundsForFee")},
		"a payer that does not exist":   {answer: preflight("AccountNotFound")},
		"bad signature": {answer: failure{code: -32003,
			message: "Transaction signature verification failure"}, rejected: true},
		"bad signature in the simulation": {answer: preflight("SignatureFailure"), rejected: true},
		"no transaction": {rejected: true, answer: failure{code: -32602,
			message: "failed to deserialize solana_transaction::versioned::VersionedTransaction: io error"}},
		"an unknown parameter":  {answer: failure{code: -32602, message: "Invalid params: unknown field"}},
		"a node that is behind": {answer: failure{code: -32005, message: "Node is behind by 42 slots"}},
		"any other error":       {answer: failure{code: -32603, message: "internal error"}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			c := f.open(t, nil)
			_, tx := signed(t, f, c)
			if test.inBlock {
				f.statuses[tx.TxID] = 100
			}
			f.respond("sendTransaction", func(params []any) (any, error) {
				if params[0] != base64.StdEncoding.EncodeToString(tx.Raw) || params[1].(object)["encoding"] != "base64" {
					return nil, failure{code: -32602, message: "other bytes"}
				}
				return tx.TxID, test.answer
			})
			err := c.Broadcast(t.Context(), tx)
			if (err == nil) != test.ok || errors.Is(err, chain.ErrRejected) != test.rejected {
				t.Fatalf("%v", err)
			}
		})
	}
}

// Bytes that do not match their transaction id are never sent.
func TestCorruptBytesAreRejected(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	c := f.open(t, nil)
	_, tx := signed(t, f, c)
	for i := range tx.Raw {
		spoilt := chain.SignedTx{TxID: tx.TxID, Raw: slices.Clone(tx.Raw)}
		spoilt.Raw[i] ^= 1
		if err := c.Broadcast(t.Context(), spoilt); !errors.Is(err, chain.ErrRejected) {
			t.Fatalf("byte %d: %v", i, err)
		}
	}
	if err := c.Broadcast(t.Context(), chain.SignedTx{TxID: signatureOf("x"),
		Raw: tx.Raw}); !errors.Is(err, chain.ErrRejected) {
		t.Fatalf("another id: %v", err)
	}
	if f.asked["sendTransaction"] > 0 {
		t.Fatal("corrupt bytes were sent")
	}
	f.respond("sendTransaction", func([]any) (any, error) { return signatureOf("x"), nil })
	if err := c.Broadcast(t.Context(), tx); err == nil || errors.Is(err, chain.ErrRejected) {
		t.Fatalf("a node that names another transaction: %v", err)
	}
}

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
				t.Fatalf("%v, %v", expired, err)
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
		if dead, err := c.Expired(t.Context(), unsigned, tx.TxID); dead || err != nil {
			t.Fatalf("before its last block height: %v, %v", dead, err)
		}
		f.add(103 + lifetime)
		dead, err := c.Expired(t.Context(), unsigned, tx.TxID)
		if dead != (valid == false) || (err == nil) != (valid == false) {
			t.Fatalf("a node that says %v: %v, %v", valid, dead, err)
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
		t.Fatalf("%d calls: %v", calls, f.asked)
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
		t.Fatal("a last block height that differs from the unsigned transaction's was accepted")
	}
}

// A refusal is not final if another node received the same bytes before and its answer is not known.
func TestARefusalAfterAnUnknownOutcomeIsNotFinal(t *testing.T) {
	t.Parallel()
	c := newFake(t).open(t, nil)
	for _, unsure := range []bool{false, true} {
		err := c.judge(t.Context(), nil, signature{}, &rpc.Error{Code: codeSignature, Unsure: unsure})
		if err == nil || errors.Is(err, chain.ErrRejected) == unsure {
			t.Fatalf("unsure %v: %v", unsure, err)
		}
	}
}
