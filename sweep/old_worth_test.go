package sweep

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// The last of the native asset leaves a hot wallet of an earlier epoch for less than a deposit address. A token does
// not: anyone may pay a little of it there.
func TestAnOldHotWalletIsEmptiedForLess(t *testing.T) {
	s := &Sweeper{Old: []chain.Source{{Base: "old"}}}
	native := price{fee: bursar.Units(100)}
	tokens := price{fee: bursar.Units(100), currency: bursar.Currency{Contract: "0xT"}}
	for name, test := range map[string]struct {
		price
		base   string
		amount uint64
		want   bool
	}{
		"an old hot wallet, twice the fee":       {native, "old", 200, true},
		"an old hot wallet, less than twice":     {native, "old", 199, false},
		"a deposit address, nineteen times":      {native, "a customer's", 1900, false},
		"an old hot wallet, a token":             {tokens, "old", 1_000_000, false},
		"the fee is above the limit of a sweep":  {price{fee: bursar.Units(1), never: true}, "old", 1_000_000, false},
		"a deposit address, as much as any more": {native, "a customer's", 1_000_000, false},
	} {
		h := store.Holding{Base: test.base, Amount: bursar.Units(test.amount)}
		if got := s.leaves(h, test.price); got != test.want {
			t.Errorf("%s: %t, want %t", name, got, test.want)
		}
	}
}
