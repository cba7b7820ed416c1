package bursar_test

import (
	"encoding/json"
	"math/big"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/wire"
)

func TestRatesAreReadExactly(t *testing.T) {
	for text, want := range map[string]string{
		"65000.5": "65000.5", "65000.50000000000000000000000000": "65000.5", "1": "1", "1.0": "1", "100": "100",
		"0.000000000000000001":                    "0.000000000000000001",
		"340282366920938463463374607431768211455": "340282366920938463463374607431768211455",
	} {
		if r, err := bursar.ParseRate(text); err != nil || r.String() != want || !r.IsKnown() {
			t.Errorf("%q is read as %q, %v", text, r, err)
		}
	}
	for _, text := range []string{"", "0", "0.000", "-1", "+1", "1e3", ".5", "5.", ".", "01", "1,5", "NaN", "Infinity",
		"0x1", "0.1.0", " 1", "0.0000000000000000001",
		"340282366920938463463374607431768211456", strings.Repeat("9", 99)} {
		if r, err := bursar.ParseRate(text); err == nil {
			t.Errorf("%q is read as %q, want an error", text, r)
		}
	}
	if r := (bursar.Rate{}); r.IsKnown() || r.String() != "" || r.Worth(bursar.Units(1), btc) != "" {
		t.Error("the zero rate says something")
	}
}

func TestWorth(t *testing.T) {
	eth := bursar.Currency{Code: "ETH", Decimals: 18, Places: 8}
	whole := bursar.Currency{Code: "N", Decimals: 0}
	for _, c := range []struct {
		rate, amount string
		currency     bursar.Currency
		want         string
	}{
		{"65000.5", "100000000", btc, "65000.50"},
		{"65000.5", "1", btc, "0.00065"},
		{"65000.999999", "1", btc, "0.00065"}, // cut off, never rounded up
		{"0.01", "1", btc, "0.00"},
		{"3200.123456789", "1000000000000000000", eth, "3200.123456"},
		{"1", "1999999", usdt, "1.999999"},
		{"2.5", "3", whole, "7.50"},
		{"340282366920938463463374607431768211455", "340282366920938463463374607431768211455", whole, ""},
	} {
		rate, err := bursar.ParseRate(c.rate)
		if err != nil {
			t.Fatal(err)
		}
		amount, err := bursar.ParseUnits(c.amount)
		if err != nil {
			t.Fatal(err)
		}
		if got := rate.Worth(amount, c.currency); got != c.want {
			t.Errorf("%s units of %s at %s are worth %q, want %q", c.amount, c.currency.Code, c.rate, got, c.want)
		}
	}
}

// Worth returns the exact product, at most a millionth of a USDT too small, for every amount and rate.
func TestWorthAgreesWithRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(0, 18).Draw(t, "places")
		text := amounts(t, "rate").Decimal(places, 0)
		rate, err := bursar.ParseRate(text)
		if err != nil {
			return // zero
		}
		amount := amounts(t, "amount")
		c := bursar.Currency{Decimals: rapid.IntRange(0, 30).Draw(t, "decimals")}
		figure := rate.Worth(amount, c)
		factor, _ := new(big.Rat).SetString(text)
		exact := new(big.Rat).SetFrac(amount.Big(), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(c.Decimals)), nil))
		exact.Mul(exact, factor)
		got, ok := new(big.Rat).SetString(figure)
		if !ok {
			if limit := new(big.Rat).SetInt(new(big.Int).Lsh(big.NewInt(1),
				128)); exact.Mul(exact, big.NewRat(1_000_000, 1)).Cmp(limit) < 0 {
				t.Fatalf("%s at %s has no figure", amount, text)
			}
			return
		}
		short := exact.Sub(exact, got)
		if short.Sign() < 0 || short.Cmp(big.NewRat(1, 1_000_000)) >= 0 {
			t.Fatalf("%s at %s is worth %s, which is off by %s, want at least 0 and less than 0", amount, text, figure, short)
		}
	})
}

// Only an event about a credit to a charge carries values in USDT, with the rate by which they were computed.
func TestOnlyACreditToAChargeHasValuesInUSDT(t *testing.T) {
	rate, err := bursar.ParseRate("65000.5")
	if err != nil {
		t.Fatal(err)
	}
	d := bursar.Deposit{ID: bursar.ID{1}, Purpose: bursar.ForCharge, WalletID: bursar.ID{3}, Currency: "BTC",
		Amount: bursar.Units(2e7), Fee: bursar.Units(1e5)}
	figures := func(rate bursar.Rate, kind bursar.EventKind, d bursar.Deposit) map[string]any {
		t.Helper()
		e, err := wire.DepositEvent(rate, bursar.ID{9}, kind, d, btc, wire.ConfirmationContext{}, time.Unix(0, 0).UTC())
		if err != nil {
			t.Fatal(err)
		}
		var body struct {
			Response struct {
				Webhook struct{ Charge map[string]any }
			}
		}
		if err := json.Unmarshal(e.Body, &body); err != nil {
			t.Fatal(err)
		}
		return body.Response.Webhook.Charge
	}
	for _, kind := range []bursar.EventKind{bursar.EventPaid, bursar.EventDeposit} {
		got := figures(rate, kind, d)
		if got["amount"] != "0.20000000" || got["amountUSDT"] != "13000.10" || got["feeUSDT"] != "65.0005" ||
			got["rateUSDT"] != "65000.5" {
			t.Errorf("the body of %s has %v, want %q and %q and %q and %q", kind, got, "0.20000000", "13000.10", "65.0005",
				"65000.5")
		}
	}
	free := d
	free.Fee = bursar.Amount{}
	if got := figures(rate, bursar.EventPaid, free); got["feeUSDT"] != "0.00" {
		t.Errorf("a fee of zero is worth %v, want %q", got, "0.00")
	}
	for name, got := range map[string]map[string]any{
		"without a rate": figures(bursar.Rate{}, bursar.EventPaid, d),
		"pending":        figures(rate, bursar.EventDepositPending, d),
		"reversed":       figures(rate, bursar.EventDepositReversed, d),
	} {
		if len(got) != 5 || got["amountUSDT"] != nil {
			t.Errorf("%s: %v, want 5 of them and nil", name, got)
		}
	}
	d.Purpose = bursar.ForWallet
	if got := figures(rate, bursar.EventDeposit, d); got != nil {
		t.Errorf("a wallet's deposit has a charge: %v, want nil", got)
	}
}

func FuzzParseRate(f *testing.F) {
	for _, seed := range []string{"65000.5", "1", "0.000001", "1e3", "0", "1.0", "00"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := bursar.ParseRate(text)
		if err != nil {
			return
		}
		exact, ok := new(big.Rat).SetString(text)
		back, err := bursar.ParseRate(r.String())
		if written, okay := new(big.Rat).SetString(r.String()); !ok || !okay || written.Cmp(exact) != 0 || err != nil ||
			back != r {
			t.Fatalf("%q is read as %q and that as %q, %v", text, r, back, err)
		}
	})
}

// Covers compares amounts of two currencies by their exact value, whatever their decimals.
func TestCoversComparesValuesExactly(t *testing.T) {
	token, native := bursar.Currency{Decimals: 6}, bursar.Currency{Decimals: 18}
	rate := func(text string) bursar.Rate {
		r, err := bursar.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	fee := bursar.Units(10_000_000_000_000_000) // 0.01
	for _, test := range []struct {
		units             uint64
		token, nativeRate bursar.Rate
		covers, known     bool
	}{
		{25_000_000, bursar.Par(), rate("2500"), true, true},
		{24_999_999, bursar.Par(), rate("2500"), false, true},
		{25_000_001, bursar.Par(), rate("2500.0001"), true, true},
		{25_000_000, bursar.Par(), rate("2500.0001"), false, true},
		{25_000_000, rate("0.5"), rate("1250"), true, true},
		{25_000_000, bursar.Par(), bursar.Rate{}, false, false},
		{25_000_000, bursar.Rate{}, rate("1"), false, false},
	} {
		covers, known := test.token.Covers(bursar.Units(test.units), token, test.nativeRate, fee, native)
		if covers != test.covers || known != test.known {
			t.Errorf("%d at %s against %s: %t, %t, want %v and %v", test.units, test.token, test.nativeRate, covers, known,
				test.covers, test.known)
		}
	}
}
