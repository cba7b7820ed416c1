package evm

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
)

// A nonce is used up once the final block has a higher one; that of a Safe is in its contract alone.
func TestANonceIsUsedUpInTheFinalBlock(t *testing.T) {
	t.Parallel()
	b := newColdHarness(t)
	for name, test := range map[string]struct {
		kind bursar.ColdKind
		next uint64 // in the final block
		want bool
	}{
		"the account's own":      {bursar.ColdAddress, 7, false},
		"the account's next":     {bursar.ColdAddress, 8, true},
		"the Safe's own":         {bursar.ColdSafe, 3, false},
		"the Safe's next":        {bursar.ColdSafe, 4, true},
		"the Safe's long before": {bursar.ColdSafe, 1, false},
	} {
		f := newFake(t)
		for range 3 {
			f.add()
		}
		f.final = 2
		asked := func(params []any) {
			if at := params[1]; at != "0x2" {
				t.Errorf("%s: asked at %v, want the final block 0x2", name, at)
			}
		}
		f.script["eth_getTransactionCount"] = func(params []any) (any, error) {
			asked(params)
			return fmt.Sprintf("0x%x", test.next), nil
		}
		f.script["eth_call"] = func(params []any) (any, error) {
			asked(params)
			return fmt.Sprintf("0x%064x", test.next), nil
		}
		r, data := b.refill(bursar.ColdAddress, b.bases[0]), b.account(nil)
		if test.kind == bursar.ColdSafe {
			r, data = b.refill(bursar.ColdSafe, safeAt), b.safe(nil)
			r.Wallet.Executor = b.bases[2].String()
		}
		used, height, err := f.open(t, nil).UsedUp(t.Context(), r.Wallet, data, 0)
		if used != test.want || height != 2 || err != nil {
			t.Errorf("%s: got %v at %d, %v, want %v at 2", name, used, height, err, test.want)
		}
	}
	f := newFake(t)
	f.final = 0
	f.script["eth_getTransactionCount"] = func([]any) (any, error) { return nil, errNoMethod }
	if _, _, err := f.open(t, nil).UsedUp(t.Context(), b.refill(bursar.ColdAddress, b.bases[0]).Wallet,
		b.account(nil), 0); err == nil {
		t.Error("without an answer: got none, want an error")
	}
}
