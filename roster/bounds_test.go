package roster

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
)

// bounded is policy with each kind of bound, and a price of what fees on Tron are paid in.
func bounded() Policy {
	p := policy()
	p.Assets = slices.Insert(p.Assets, 1, Asset{Name: "TRX", Chain: "tron", Decimals: 6, Price: value("0.3")})
	p.Rules[0].Fees = []Window{{24 * time.Hour, value("200")}}
	p.Rules[0].Payments = []Window{{time.Hour, bursar.Units(5)}}
	p.Rules[0].PerAccount = []Window{{time.Hour, value("1500")}, {24 * time.Hour, value("3000")}}
	p.Rules[2].Fees = []Window{{24 * time.Hour, value("200")}}
	p.Rules[2].Payments = []Window{{time.Hour, bursar.Units(500)}}
	return p
}

// measure is that so much of a measure counts, in windows of every length.
func measure(of Measure, most string) func(q *Question) {
	return func(q *Question) {
		q.Used = func(asked Measure, _ string, _ time.Time) Value {
			if asked != of {
				return Value{}
			}
			v, err := of.parse(most)
			if err != nil {
				panic(err)
			}
			return v
		}
	}
}

// boundedCases are payments under bounded, of 120 EUR with a fee of 1.2 EUR where nothing else is said.
func boundedCases() map[string]Question {
	with := func(changes ...func(q *Question)) Question {
		q := bitcoins(100_000)
		q.Fee, q.Ordered = bursar.Units(1000), true
		for _, change := range changes {
			change(&q)
		}
		return q
	}
	sweep := func(q *Question) { q.Kind, q.Ordered = KindSweep, false }
	tether := func(q *Question) {
		q.Chain, q.Contract, q.Units, q.Fee = "tron", policy().Assets[1].Contract, bursar.Units(1e6), bursar.Units(1e6)
	}
	return map[string]Question{
		"30 of a client":                     with(),
		"31 that only the service orders":    with(func(q *Question) { q.Ordered = false }),
		"32 with its fee in the window":      with(measure(MeasureWorth, "4878.8")),
		"33 with its fee beyond the window":  with(measure(MeasureWorth, "4878.800001")),
		"34 the last of the fees":            with(measure(MeasureFees, "198.8")),
		"35 beyond the fees":                 with(measure(MeasureFees, "198.800001")),
		"36 the last payment":                with(measure(MeasurePayments, "4")),
		"37 a payment more":                  with(measure(MeasurePayments, "5")),
		"38 the last of its account":         with(measure(MeasureAccount, "1378.8")),
		"39 beyond its account":              with(measure(MeasureAccount, "1378.800001")),
		"40 beyond its account for a day":    with(measure(MeasureAccount, "2900")),
		"41 a token":                         with(tether),
		"42 a token beyond the fees":         with(tether, measure(MeasureFees, "199.700001")),
		"43 a sweep":                         with(sweep),
		"44 a sweep beyond the fees":         with(sweep, measure(MeasureFees, "199")),
		"45 a sweep too many":                with(sweep, measure(MeasurePayments, "500")),
		"46 a sweep whose fee has no price":  with(sweep, func(q *Question) { q.Chain = "ethereum" }),
		"47 a sweep that costs nothing":      with(sweep, func(q *Question) { q.Chain, q.Fee = "ethereum", Value{} }),
		"48 more fees than can be counted":   with(func(q *Question) { q.Fee = bursar.LargestAmount() }),
		"49 more used than can be counted":   with(measure(MeasureWorth, valueText(bursar.LargestAmount()))),
		"50 a rule without bounds, any fee":  with(func(q *Question) { q.Kind, q.Units = KindGasTopUp, bursar.Units(4000) }),
		"51 beyond, and approved by persons": with(measure(MeasureAccount, "3000"), largeHeld),
	}
}

// largeHeld meets what the rule large asks for.
func largeHeld(q *Question) {
	q.Signed = map[string][]string{RoleApprover: {"ann", "bob"}}
	q.Since = func(string) time.Time { return noon.Add(-time.Hour) }
	inner := q.Used
	q.Used = func(of Measure, rule string, from time.Time) Value {
		if rule == "large" {
			return Value{}
		}
		return inner(of, rule, from)
	}
}

// What was signed once must be readable for ever: the golden file never changes.
func TestTheTextOfBoundsIsAsItWas(t *testing.T) {
	t.Parallel()
	path := filepath.Join("testdata", "bounds.txt")
	text := bounded().Text()
	if *update {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil || string(golden) != text {
		t.Errorf("got\n%s, want\n%s (%v)", text, golden, err)
	}
	if p, err := Parse(text); err != nil || p.Text() != text || p.Longest() != 24*time.Hour {
		t.Errorf("read as\n%s, %s, %v", p.Text(), p.Longest(), err)
	}
}

// A word that a signer does not know is refused: it would otherwise allow more than was signed.
func TestABoundOfALaterReleaseIsRefused(t *testing.T) {
	t.Parallel()
	for _, change := range [][2]string{
		{"fees: 24h 200\n", "fees: 24h 200\nper_key: 24h 200\n"},
		{"fees: 24h 200\n", "inputs: 24h 200\n"},
		{"fees: 24h 200\ncount: 1h 5\n", "count: 1h 5\nfees: 24h 200\n"},
		{"fees: 24h 200", "fees: 24h 200 EUR"}, {"fees: 24h 200", "fees: 200"}, {"fees: 24h 200", "fees: 24h 200.0"},
		{"count: 1h 5\n", "count: 1h 5.0\n"}, {"count: 1h 5\n", "count: 1h 05\n"}, {"count: 1h 5\n", "count: 1h -1\n"},
		{"per_account: 1h 1500", "per_account: 60m 1500"}, {"count: 1h 5\n", "count: 1h 0\n"},
	} {
		text := strings.Replace(bounded().Text(), change[0], change[1], 1)
		if text == bounded().Text() {
			t.Fatalf("%q is not in the policy", change[0])
		}
		if _, err := Parse(text); !errors.Is(err, approval.ErrText) && !errors.Is(err, ErrUnsound) {
			t.Errorf("%q for %q: got %v, want a refusal", change[1], change[0], err)
		}
	}
}

func TestAReplacementCountsWhatItCostsMore(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		rule  string
		used  func(q *Question)
		more  string
		chain bursar.ChainID
		want  Condition
		says  string
	}{
		"within every window":    {"small", measure(MeasureFees, "199"), "1", "bitcoin", "", ""},
		"beyond the fees":        {"small", measure(MeasureFees, "199"), "1.000001", "bitcoin", InWindow, "on fees within"},
		"beyond the window":      {"small", measure(MeasureWorth, "4999"), "2", "bitcoin", InWindow, "4999 of 5000"},
		"beyond its account":     {"small", measure(MeasureAccount, "1499"), "2", "bitcoin", InWindow, "for its account"},
		"no payment more":        {"small", measure(MeasurePayments, "5"), "1", "bitcoin", "", ""},
		"nothing more":           {"small", measure(MeasureFees, "1000"), "0", "bitcoin", "", ""},
		"no bound of fees":       {"large", measure(MeasureFees, "1000"), "1", "bitcoin", "", ""},
		"a rule that is gone":    {"former", measure(MeasureFees, "1000"), "1", "bitcoin", "", ""},
		"a fee without a price":  {"sweeps", func(*Question) {}, "0", "ethereum", Matches, "no price of the native asset"},
		"no rule, and no prices": {"former", func(*Question) {}, "0", "ethereum", "", ""},
	} {
		q := bitcoins(100_000)
		q.Chain, q.Fee = test.chain, bursar.Units(1)
		test.used(&q)
		a := bounded().Replace(test.rule, q, value(test.more))
		if a.Allowed != (test.want == "") || a.Lacks != test.want || !strings.Contains(a.Detail, test.says) {
			t.Errorf("%s: got %+v, want %q: %s", name, a, test.want, test.says)
		}
	}
}

func TestFeesWithoutAPriceAreNamed(t *testing.T) {
	t.Parallel()
	want := []string{"fees on tron count in no window: the policy has no price of its native asset"}
	if got := policy().Uncounted(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := bounded().Uncounted(); len(got) > 0 {
		t.Errorf("got %q, want none", got)
	}
}

// A number of payments limits what leaves only where each payment is limited; an account's part never does.
func TestWhatBoundsLimit(t *testing.T) {
	t.Parallel()
	p := policy()
	count, fees := []Window{{time.Hour, bursar.Units(5)}}, []Window{{time.Hour, value("5")}}
	p.Rules = []Rule{
		{ID: "counted", For: []string{KindWithdrawal}, Each: value("5"), Payments: count},
		{ID: "anyone", For: []string{KindWithdrawal}, Each: value("5"), PerAccount: fees, Fees: fees},
		{ID: "large", For: []string{KindWithdrawal}, Payments: count},
		{ID: "moves", For: []string{KindSweep}, Fees: fees},
	}
	want := []string{
		"rule anyone has no limit within a time: without any approval, up to 5 EUR may leave any number of times",
		"rule large has no limit: without any approval, any amount may leave, any number of times"}
	if got := append(p.Unlimited(), p.UnlimitedMoves()...); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
