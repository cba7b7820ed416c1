package bursar_test

import (
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
)

var (
	btc  = bursar.Currency{Code: "BTC", Chain: "bitcoin", Decimals: 8, Places: 8}
	usdt = bursar.Currency{Code: "USDT", Chain: "tron", Contract: "T", Decimals: 6, Places: 2}
)

func TestFeesAreReadAndWritten(t *testing.T) {
	for _, c := range []struct {
		text, written string
		fee           bursar.Fee
	}{
		{"0", "0", bursar.Fee{}},
		{"0%", "0", bursar.Fee{}},
		{"network", "network", bursar.Fee{Network: true}},
		{"0.5 % + 0.1", "0.5% + 0.10", bursar.Fee{Millionths: 5000, Fixed: bursar.Units(100_000)}},
		{"0.000001+99.9999%+network", "network + 99.9999% + 0.000001",
			bursar.Fee{Network: true, Millionths: 999_999, Fixed: bursar.Units(1)}},
	} {
		fee, err := bursar.ParseFee(c.text, usdt.Decimals)
		if err != nil || fee != c.fee || fee.Text(usdt) != c.written {
			t.Errorf("%q is read as %+v, %v and written %q, want %v and %v", c.text, fee, err, fee.Text(usdt), c.fee, c.written)
		}
	}
	for text, want := range map[string]string{
		"":                                   `"" is not a fee; allowed are network, an amount such as 0.5, a percentage such as 1%, or several with a + between`,
		"-1":                                 `"-1" is not a fee; allowed are network, an amount such as 0.5, a percentage such as 1%, or several with a + between`,
		"1e3":                                `"1e3" is not a fee; allowed are network, an amount such as 0.5, a percentage such as 1%, or several with a + between`,
		"100%":                               `"100%" is not a percentage below 100% with at most 4 decimals`,
		"0.00001%":                           `"0.00001%" is not a percentage below 100% with at most 4 decimals`,
		"1% + 2%":                            `"1% + 2%" has a percentage twice`,
		"network+":                           `"" is not a fee; allowed are network, an amount such as 0.5, a percentage such as 1%, or several with a + between`,
		"0.0000001":                          `"0.0000001" has too many decimals; at most 6 are allowed`,
		"9999999999999999999999999999999999": `"9999999999999999999999999999999999" is too large`,
	} {
		if fee, err := bursar.ParseFee(text, usdt.Decimals); err == nil || err.Error() != want {
			t.Errorf("%q is read as %+v, %v, want an error and %v", text, fee, err, want)
		}
	}
}

func fees(t *rapid.T) bursar.Fee {
	fee := bursar.Fee{Network: rapid.Bool().Draw(t, "network"),
		Millionths: rapid.Uint32Range(0, 1_000_000).Draw(t, "millionths")}
	if rapid.Bool().Draw(t, "fixed") {
		fee.Fixed = amounts(t, "fixed")
	}
	return fee
}

func TestWhatIsWrittenOfAFeeIsReadBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fee := fees(t)
		fee.Millionths %= 1_000_000
		if back, err := bursar.ParseFee(fee.Text(usdt), usdt.Decimals); err != nil || back != fee {
			t.Fatalf("%+v is written %q and read as %+v, %v", fee, fee.Text(usdt), back, err)
		}
	})
}

// For every fee, a deposit is its fee and the rest, to the unit; the fee is the exact share and the fixed part, the
// share rounded up to the unit, or the whole deposit where that is less.
func TestAFeeIsNeverMoreThanTheDeposit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		fee, amount := fees(t), amounts(t, "amount")
		taken := fee.Within(amount)
		left, err := amount.Sub(taken)
		if err != nil {
			t.Fatalf("%s are taken of %s", taken, amount)
		}
		if whole, err := left.Add(taken); err != nil || whole != amount {
			t.Fatalf("%s and %s are %s, %v; not %s", left, taken, whole, err, amount)
		}
		want := new(big.Int).Mul(amount.Big(), big.NewInt(int64(fee.Millionths)))
		want.Add(want, big.NewInt(999_999)).Quo(want, big.NewInt(1_000_000)).Add(want, fee.Fixed.Big())
		if want.Cmp(amount.Big()) > 0 {
			want = amount.Big()
		}
		if taken.Big().Cmp(want) != 0 {
			t.Fatalf("%+v takes %s of %s, not %s", fee, taken, amount, want)
		}
	})
}

func TestTheNearestRuleCounts(t *testing.T) {
	one, two := bursar.ID{1}, bursar.ID{2}
	own := bursar.Fee{Millionths: 1}
	rule := func(account bursar.ID, code bursar.CurrencyCode, kind bursar.FeeKind, millionths uint32) bursar.FeeRule {
		return bursar.FeeRule{AccountID: account, Currency: code, Kind: kind,
			Fee: bursar.Fee{Network: true, Millionths: millionths}}
	}
	rules := bursar.FeeRules{
		rule(one, "BTC", bursar.FeeOfDeposit, 2), rule(one, "", bursar.FeeOfDeposit, 3),
		rule(one, "", bursar.FeeOfWithdrawal, 4), rule(one, "USDT", bursar.FeeOfWithdrawal, 5),
	}
	b, u := btc, usdt
	b.DepositFee, b.WithdrawalFee, u.DepositFee, u.WithdrawalFee = own, own, own, own
	for name, c := range map[string]struct {
		account             bursar.ID
		currency            bursar.Currency
		deposit, withdrawal uint32
		network             bool
	}{
		"own of the currency":   {one, b, 2, 4, true},
		"own of every currency": {one, u, 3, 5, false}, // a token's withdrawals have no network fee
		"another account":       {two, b, 1, 1, false},
	} {
		got := rules.For(c.account, c.currency)
		if got.DepositFee.Millionths != c.deposit || got.WithdrawalFee.Millionths != c.withdrawal ||
			got.WithdrawalFee.Network != c.network {
			t.Errorf("%s: %+v, want %v and %v and %v", name, got, c.deposit, c.withdrawal, c.network)
		}
	}
	u.WithdrawalFee.Network = true
	if got := (bursar.FeeRules)(nil).For(one, u); got.WithdrawalFee.Network {
		t.Error("a token's withdrawals have a fee in its chain's native asset")
	}
}

func FuzzParseFee(f *testing.F) {
	for _, seed := range []string{"0", "network", "0.5% + 0.10", "network + 1% + 2", "1%+1%", "+", "%"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		fee, err := bursar.ParseFee(text, usdt.Decimals)
		if err != nil {
			return
		}
		if back, err := bursar.ParseFee(fee.Text(usdt), usdt.Decimals); err != nil || back != fee {
			t.Fatalf("%q is read as %+v, written as %q and read as %+v, %v", text, fee, fee.Text(usdt), back, err)
		}
	})
}
