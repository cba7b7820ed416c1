package tron

import (
	"testing"

	"github.com/bursar/bursar/chain/rpc"
)

// A node with default settings keeps no internal transactions, and so cannot deny that contracts sent value: its block
// says so, or a second opinion from it would stop crediting or reject an honest deposit.
func TestANodeWithoutInternalTransactionsSaysSo(t *testing.T) {
	t.Parallel()
	call := func(steps ...any) fakeTx {
		return fakeTx{kind: triggerType, to: fakeContract, sun: 100, internal: steps}
	}
	for name, tc := range map[string]struct {
		tx   fakeTx
		want bool
	}{
		"a call without any": {call(), true},
		"a call with one":    {call(internalTx("call", fakeContract, fakeOurs, sunOf(5))), false},
		"a payment":          {fakeTx{to: fakeOurs, sun: 7}, false},
	} {
		f := newFake(t)
		f.add(tc.tx)
		blocks := f.after(t, f.open(t, nil), fakeWatch())
		if len(blocks) != 1 || blocks[0].Untraced != tc.want {
			t.Errorf("%s: got %+v, want 1 of them and %v", name, blocks, tc.want)
		}
	}
}

// While catching up another endpoint helps, but it keeps no internal transactions. Payments of contracts are found all
// the same, since the node that is read keeps them.
func TestNoHelpFromANodeWithoutInternalTransactions(t *testing.T) {
	t.Parallel()
	keeps, keepsNone := newFake(t), newFake(t)
	const n = 40
	for range n {
		tx := fakeTx{kind: triggerType, to: fakeContract, sun: 100}
		keepsNone.add(tx)
		tx.internal = []any{internalTx("call", fakeContract, fakeOurs, sunOf(5))}
		keeps.add(tx)
	}
	c, err := New(Config{}, rpc.Config{URLs: []string{keeps.url, keepsNone.url}, Fetchers: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	if _, err := c.Head(t.Context()); err != nil {
		t.Fatal(err)
	}
	last, found := keeps.at(0), 0
	for last.Height < n {
		blocks, err := c.After(t.Context(), last, 20, fakeWatch())
		if err != nil || len(blocks) == 0 {
			t.Fatalf("%d blocks after %d, %v, want some", len(blocks), last.Height, err)
		}
		for _, b := range blocks {
			found += len(b.Transfers)
		}
		last = blocks[len(blocks)-1].Ref
	}
	if keepsNone.calls() < 4 {
		t.Error("the other node was asked for no block")
	}
	if found != n {
		t.Errorf("%d payments of %d were found", found, n)
	}
}
