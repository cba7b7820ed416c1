package sweep

import (
	"testing"

	"github.com/bursar/bursar"
)

// A sweep is worth it from 20 times its cost on; if payments wait, from twice its cost, and for a token at any worth.
// Without rates a token is swept from a configured amount on.
func TestAmountsWorthASweep(t *testing.T) {
	gas := bursar.Currency{Code: "COIN", Decimals: 18, Minimum: bursar.Units(1)}
	token := bursar.Currency{Code: "TOKEN", Contract: "t", Decimals: 6, Minimum: bursar.Units(1_000_000)}
	named := token
	named.SweepFrom = bursar.Units(5_000_000)
	high, err := bursar.ParseRate("2000")
	if err != nil {
		t.Fatal(err)
	}
	fee := bursar.Units(1_000_000_000_000_000) // 0.001, which is worth 2 at the high rate
	native := price{currency: gas, native: gas, fee: fee}
	rated := price{currency: token, native: gas, fee: fee, rate: bursar.Par(), nativeRate: high}
	unrated, ofOperator := price{currency: token, native: gas, fee: fee}, price{currency: named, native: gas, fee: fee}
	for _, test := range []struct {
		name   string
		price  price
		from   uint64
		wanted uint64 // the minimum if payments wait
	}{
		{"native", native, 20_000_000_000_000_000, 2_000_000_000_000_000},
		{"rated", rated, 40_000_000, 1},
		{"unrated", unrated, 20_000_000, 1},
		{"configured by the operator", ofOperator, 5_000_000, 1},
	} {
		if test.price.worth(bursar.Units(test.from-1), false) || !test.price.worth(bursar.Units(test.from), false) {
			t.Errorf("%s: an amount of %d or more is not swept", test.name, test.from)
		}
		if test.price.worth(bursar.Units(test.wanted-1), true) && test.wanted > 1 ||
			!test.price.worth(bursar.Units(test.wanted), true) {
			t.Errorf("%s: with payments waiting, an amount of %d or more is not swept", test.name, test.wanted)
		}
		if test.price.never = true; test.price.worth(bursar.Units(1<<60), true) {
			t.Errorf("%s: it is swept above the fee limit", test.name)
		}
	}
}

// If twenty times the cost exceeds every amount, no amount is worth a sweep.
func TestAMinimumBeyondAllAmounts(t *testing.T) {
	beyond, err := bursar.Units(1 << 63).Mul(1 << 62)
	if err != nil {
		t.Fatal(err)
	}
	p := price{currency: bursar.Currency{Code: "TOKEN", Contract: "t", Minimum: beyond}, fee: bursar.Units(1)}
	if p.worth(beyond, false) {
		t.Error("an amount is worth a sweep, want none")
	}
}
