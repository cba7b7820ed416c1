package bursar_test

import (
	"errors"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
)

// amounts draws from the whole range, its edges more often.
func amounts(t *rapid.T, name string) bursar.Amount {
	n := new(big.Int).SetUint64(rapid.Uint64().Draw(t, name+" high"))
	n.Lsh(n, uint(rapid.SampledFrom([]int{0, 1, 63, 64}).Draw(t, name+" shift")))
	n.Add(n, new(big.Int).SetUint64(rapid.Uint64().Draw(t, name+" low")))
	if n.BitLen() > 128 {
		n.Sub(new(big.Int).Lsh(big.NewInt(1), 128), big.NewInt(1))
	}
	a, err := bursar.AmountFromBig(n)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestArithmeticAgreesWithBigIntegers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, n := amounts(t, "a"), amounts(t, "b"), rapid.Uint64Range(1, 1<<63).Draw(t, "n")
		agree := func(name string, got bursar.Amount, err error, want *big.Int) {
			expected, expectedErr := bursar.AmountFromBig(want)
			if got != expected || !errors.Is(err, expectedErr) {
				t.Fatalf("%s gave %s, %v; want %s, %v", name, got, err, want, expectedErr)
			}
		}
		sum, err := a.Add(b)
		agree("a+b", sum, err, new(big.Int).Add(a.Big(), b.Big()))
		if capped, largest := a.AddCapped(b), bursar.LargestAmount(); err == nil && capped != sum ||
			err != nil && capped != largest {
			t.Fatalf("a+b capped gave %s; want %s, or %s where that is an error: %v", capped, sum, largest, err)
		}
		difference, err := a.Sub(b)
		agree("a-b", difference, err, new(big.Int).Sub(a.Big(), b.Big()))
		product, err := a.Mul(n)
		agree("a*n", product, err, new(big.Int).Mul(a.Big(), new(big.Int).SetUint64(n)))
		quotient, rest := a.Div(n)
		wantQuotient, wantRest := new(big.Int).QuoRem(a.Big(), new(big.Int).SetUint64(n), new(big.Int))
		agree("a/n", quotient, nil, wantQuotient)
		if rest != wantRest.Uint64() {
			t.Fatalf("the rest is %d, want %s", rest, wantRest)
		}
		if a.Cmp(b) != a.Big().Cmp(b.Big()) || a.Less(b) != (a.Big().Cmp(b.Big()) < 0) {
			t.Fatalf("%s against %s", a, b)
		}
		if a.String() != a.Big().String() {
			t.Fatalf("%s is written %s", a.Big(), a)
		}
		back, err := bursar.ParseUnits(a.String())
		agree("read back", back, err, a.Big())
	})
}

func TestDecimalsAreExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, decimals := amounts(t, "a"), rapid.IntRange(0, 30).Draw(t, "decimals")
		places := rapid.IntRange(0, decimals).Draw(t, "places")
		exact := a.Decimal(decimals, places)
		back, err := bursar.ParseDecimal(exact, decimals)
		if err != nil || back != a {
			t.Fatalf("%s with %d decimals is written %s and read back as %s, %v", a, decimals, exact, back, err)
		}
		if _, fraction, _ := strings.Cut(exact, "."); len(fraction) < places ||
			len(fraction) > places && strings.HasSuffix(fraction, "0") {
			t.Fatalf("%s has the wrong number of places for %d", exact, places)
		}
		down, err := bursar.ParseDecimal(a.Rounded(decimals, places), decimals)
		if err != nil || a.Less(down) {
			t.Fatalf("%s is rounded up to %s", a, down)
		}
	})
}

func TestAmountTexts(t *testing.T) {
	usdt := bursar.Currency{Code: "USDT", Decimals: 6, Places: 2}
	for _, c := range []struct{ units, exact, balance string }{
		{"1999999", "1.999999", "1.99"}, {"0", "0.00", "0.00"}, {"1", "0.000001", "0.00"}, {"1500000", "1.50", "1.50"},
		{"12345678901234567890", "12345678901234.56789", "12345678901234.56"},
	} {
		a, err := bursar.ParseUnits(c.units)
		if err != nil || usdt.Exact(a) != c.exact || usdt.Balance(a) != c.balance {
			t.Errorf("%s: %s %s, %v, want %v and %v", c.units, usdt.Exact(a), usdt.Balance(a), err, c.exact, c.balance)
		}
	}
	for _, text := range []string{"", ".", "1.", ".5", "-1", "+1", "1e3", "01", "00", "0x1", "1_0", " 1", "1 ", "1.234",
		"1,5", "٣", "1.0.0", "NaN", "Infinity",
		strings.Repeat("9", 40), "340282366920938463463374607431768211.456"} {
		if a, err := usdt.Parse(text); err == nil {
			t.Errorf("%q is read as %s, want an error", text, a)
		}
	}
	for text, units := range map[string]uint64{"1": 1_000_000, "1.2": 1_200_000, "1.23": 1_230_000, "0.01": 10_000,
		"0": 0} {
		if a, err := usdt.Parse(text); err != nil || a != bursar.Units(units) {
			t.Errorf("%q is read as %s, %v, want %v", text, a, err, bursar.Units(units))
		}
	}
}

func TestMillionthsRoundUp(t *testing.T) {
	for _, c := range []struct {
		amount uint64
		ppm    uint32
		want   uint64
	}{{1_000_000, 10_000, 10_000}, {1, 1, 1}, {0, 1, 0}, {999, 1000, 1}, {1_000_001, 1_000_000, 1_000_001}} {
		if got, err := bursar.Units(c.amount).PPM(c.ppm); err != nil || got != bursar.Units(c.want) {
			t.Errorf("%d millionths of %d are %s, %v, want %v", c.ppm, c.amount, got, err, bursar.Units(c.want))
		}
	}
}

// A share of an amount is exact, rounded up, over the whole range: a token of 24 decimals fills it.
func TestMillionthsAreExactOverTheWholeRange(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, ppm := amounts(t, "a"), rapid.Uint32().Draw(t, "ppm")
		want := new(big.Int).Mul(a.Big(), big.NewInt(int64(ppm)))
		want.Add(want, big.NewInt(999_999)).Quo(want, big.NewInt(1_000_000))
		expected, expectedErr := bursar.AmountFromBig(want)
		got, err := a.PPM(ppm)
		if got != expected || !errors.Is(err, expectedErr) {
			t.Fatalf("%d millionths of %s are %s, %v; want %s, %v", ppm, a, got, err, want, expectedErr)
		}
	})
}

func FuzzParseDecimal(f *testing.F) {
	for _, seed := range []string{"0", "1.5", "0.00000001", "21000000", "1e8", "-0", "00.1", strings.Repeat("9", 39)} {
		f.Add(seed, 8)
	}
	f.Fuzz(func(t *testing.T, text string, decimals int) {
		decimals = min(max(decimals, 0), 38)
		a, err := bursar.ParseDecimal(text, decimals)
		if err != nil {
			return
		}
		// An accepted text has its plain meaning: the same number, written by the package itself.
		_, fraction, _ := strings.Cut(text, ".")
		if got := a.Decimal(decimals, len(fraction)); got != text {
			t.Fatalf("%q with %d decimals is read as %s", text, decimals, got)
		}
	})
}

// What exceeds 128 bits by one unit is the highest amount, and so is what reaches it.
func TestSumsAreCappedAtTheLargestAmount(t *testing.T) {
	largest, one := bursar.LargestAmount(), bursar.Units(1)
	if got, want := largest.String(), "340282366920938463463374607431768211455"; got != want {
		t.Errorf("the largest amount is %s, want %s", got, want)
	}
	below, err := largest.Sub(one)
	if err != nil {
		t.Fatal(err)
	}
	for _, sum := range [][2]bursar.Amount{{below, one}, {largest, {}}, {largest, one}, {one, largest},
		{largest, largest}} {
		if got := sum[0].AddCapped(sum[1]); got != largest {
			t.Errorf("%s + %s is %s, want %s", sum[0], sum[1], got, largest)
		}
	}
	if got := one.AddCapped(one); got != bursar.Units(2) {
		t.Errorf("1 + 1 is %s, want 2", got)
	}
}
