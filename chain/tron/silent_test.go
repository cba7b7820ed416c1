package tron

import "testing"

// A node that keeps no internal transactions, as java-tron is configured when it comes, does not deny what contracts sent: its
// block says so, or a second opinion from it would stop crediting or end an honest deposit.
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
			t.Errorf("%s: got %+v", name, blocks)
		}
	}
}
