package sweep

import (
	"testing"

	"github.com/bursar/bursar"
)

// A sweep is worth it from 20 times what it costs; where payments wait, from twice, and of a token whatever it is
// worth. Without rates a token is swept from an amount on.
func TestWhatIsWorthASweep(t *testing.T) {
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
		wanted uint64 // the least where payments wait
	}{
		{"native", native, 20_000_000_000_000_000, 2_000_000_000_000_000},
		{"rated", rated, 40_000_000, 1},
		{"unrated", unrated, 20_000_000, 1},
		{"of the operator", ofOperator, 5_000_000, 1},
	} {
		if test.price.worth(bursar.Units(test.from-1), false) || !test.price.worth(bursar.Units(test.from), false) {
			t.Errorf("%s: it is not swept from %d on", test.name, test.from)
		}
		if test.price.worth(bursar.Units(test.wanted-1), true) && test.wanted > 1 ||
			!test.price.worth(bursar.Units(test.wanted), true) {
			t.Errorf("%s: where it is wanted it is not swept from %d on", test.name, test.wanted)
		}
		if test.price.never = true; test.price.worth(bursar.Units(1<<60), true) {
			t.Errorf("%s: it is swept where that costs more than is allowed", test.name)
		}
	}
}

// Where twenty times a minimum is more than any amount, no amount is worth a sweep.
func TestAMinimumBeyondAllAmounts(t *testing.T) {
	beyond, err := bursar.Units(1 << 63).Mul(1 << 62)
	if err != nil {
		t.Fatal(err)
	}
	p := price{currency: bursar.Currency{Code: "TOKEN", Contract: "t", Minimum: beyond}, fee: bursar.Units(1)}
	if p.worth(beyond, false) {
		t.Error("it is swept")
	}
}
