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
				t.Fatalf("%v, want %v and %v", err, test.ok, test.rejected)
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
			t.Fatalf("byte %d: %v, want %v", i, err, chain.ErrRejected)
		}
	}
	if err := c.Broadcast(t.Context(), chain.SignedTx{TxID: signatureOf("x"),
		Raw: tx.Raw}); !errors.Is(err, chain.ErrRejected) {
		t.Fatalf("another id: %v, want %v", err, chain.ErrRejected)
	}
	if f.asked["sendTransaction"] > 0 {
		t.Fatal("corrupt bytes were sent, want 0")
	}
	f.respond("sendTransaction", func([]any) (any, error) { return signatureOf("x"), nil })
	if err := c.Broadcast(t.Context(), tx); err == nil || errors.Is(err, chain.ErrRejected) {
		t.Fatalf("a node that names another transaction: %v", err)
	}
}

// A refusal is not final if another node received the same bytes before and its answer is not known.
func TestARefusalAfterAnUnknownOutcomeIsNotFinal(t *testing.T) {
	t.Parallel()
	c := newFake(t).open(t, nil)
	for _, unsure := range []bool{false, true} {
		err := c.evaluate(t.Context(), nil, signature{}, &rpc.Error{Code: codeSignature, Unsure: unsure})
		if err == nil || errors.Is(err, chain.ErrRejected) == unsure {
			t.Fatalf("unsure %v: %v", unsure, err)
		}
	}
}
