package roster

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
)

// cases are payments with what is known of them, by name.
func cases() map[string]Question {
	with := func(units uint64, change func(q *Question)) Question {
		q := bitcoins(units)
		change(&q)
		return q
	}
	approved := func(q *Question) { q.Signed = map[string][]string{RoleApprover: {"ann", "bob"}} }
	held := func(since time.Duration) func(q *Question) {
		return func(q *Question) {
			approved(q)
			q.Since = func(string) time.Time { return noon.Add(-since) }
		}
	}
	used := func(rule, most string) func(q *Question) {
		return func(q *Question) {
			q.Used = func(_ Measure, of string, _ time.Time) Value {
				if of == rule {
					return value(most)
				}
				return Value{}
			}
		}
	}
	return map[string]Question{
		"01 a small one":                     bitcoins(100_000),
		"02 worth just what is allowed":      bitcoins(833_333),
		"03 a unit more":                     bitcoins(833_334),
		"04 to an address that is not known": with(100_000, func(q *Question) { q.Listed = false }),
		"05 to a denied address":             with(100_000, func(q *Question) { q.To.Base = "bc1qbad" }),
		"06 in the last of an hour":          with(100_000, used("small", "4880")),
		"07 beyond the hour":                 with(100_000, used("small", "4880.000001")),
		"08 beyond, and approved": with(100_000, func(q *Question) {
			used("small", "5000")(q)
			held(time.Hour)(q)
		}),
		"09 large without approvals": bitcoins(10_000_000),
		"10 large with one": with(10_000_000, func(q *Question) {
			q.Signed = map[string][]string{RoleApprover: {"ann"}, "auditor": {"dan", "eve"}}
		}),
		"11 large, just approved": with(10_000_000, approved),
		"12 large, in its hold":   with(10_000_000, held(time.Hour-time.Second)),
		"13 large, past its hold": with(10_000_000, held(time.Hour)),
		"14 too large":            with(50_000_000, held(time.Hour)),
		"15 large at the weekend": with(10_000_000,
			func(q *Question) { held(time.Hour)(q); q.Now = noon.AddDate(0, 0, 4) }),
		"16 large in the evening": with(10_000_000,
			func(q *Question) { held(time.Hour)(q); q.Now = noon.Add(7 * time.Hour) }),
		"17 an asset without a price": with(1, func(q *Question) { q.Chain = "ethereum" }),
		"18 a token, small": with(900_000_000,
			func(q *Question) { q.Chain, q.Contract = "tron", policy().Assets[1].Contract }),
		"19 a token, large": with(10_000_000_000,
			func(q *Question) { q.Chain, q.Contract = "tron", policy().Assets[1].Contract; held(time.Hour)(q) }),
		"20 a sweep":                    with(10_000_000_000, func(q *Question) { q.Kind = KindSweep }),
		"21 a sweep without a price":    with(1, func(q *Question) { q.Kind, q.Chain = KindSweep, "ethereum" }),
		"22 gas":                        with(4_000, func(q *Question) { q.Kind = KindGasTopUp }),
		"23 too much gas":               with(5_000, func(q *Question) { q.Kind = KindGasTopUp }),
		"24 gas without a price":        with(1, func(q *Question) { q.Kind, q.Chain = KindGasTopUp, "ethereum" }),
		"25 another kind":               with(1, func(q *Question) { q.Kind = "approve" }),
		"26 more than can be counted":   with(1, func(q *Question) { q.Units = bursar.LargestAmount() }),
		"27 approved, small, its limit": with(100_000, held(time.Hour)),
	}
}

// The table of answers is read by people: a change in it is a change of what leaves.
func TestWhatIsAllowed(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for _, table := range []struct {
		policy Policy
		list   map[string]Question
	}{{policy(), cases()}, {bounded(), boundedCases()}} {
		for _, name := range slices.Sorted(maps.Keys(table.list)) {
			a := table.policy.Evaluate(table.list[name])
			if a.Allowed {
				fmt.Fprintf(&text, "%s: allowed by %s, worth %s\n", name, a.Rule, valueText(a.Worth))
			} else {
				fmt.Fprintf(&text, "%s: %s: %s\n", name, a.Lacks, a.Detail)
			}
		}
	}
	path := filepath.Join("testdata", "answers.txt")
	if *update {
		if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	golden, err := os.ReadFile(path)
	if err != nil || string(golden) != text.String() {
		t.Errorf("got\n%s, want\n%s (%v)", &text, golden, err)
	}
}

// The signer notes when approvals were complete for the rules that wait from then on.
func TestAHoldBeginsWithTheLastApproval(t *testing.T) {
	t.Parallel()
	list := cases()
	for name, want := range map[string]string{"11 large, just approved": "large", "12 large, in its hold": "",
		"10 large with one": "", "01 a small one": ""} {
		if got := strings.Join(policy().Evaluate(list[name]).Holds, " "); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
}

func TestNothingIsAllowedWithoutARule(t *testing.T) {
	t.Parallel()
	p := policy()
	p.Rules = nil
	for name, q := range cases() {
		if a := p.Evaluate(q); a.Allowed || a.Lacks != Matches {
			t.Errorf("%s: got %+v, want it refused", name, a)
		}
	}
}

func TestHoursAreThoseOfUTC(t *testing.T) {
	t.Parallel()
	monday := time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)
	for _, test := range []struct {
		hours Hours
		at    time.Time
		want  bool
	}{
		{"Mon-Fri 07-19", monday.Add(7 * time.Hour), true},
		{"Mon-Fri 07-19", monday.Add(7*time.Hour - 1), false},
		{"Mon-Fri 07-19", monday.Add(19*time.Hour - 1), true},
		{"Mon-Fri 07-19", monday.Add(19 * time.Hour), false},
		{"Mon-Fri 07-19", monday.Add(-time.Hour), false},
		{"Sat-Sun 00-24", monday.Add(-time.Second), true},
		{"Sun-Sun 00-24", monday, false},
		{"Mon-Mon 00-24", monday.In(time.FixedZone("", -3600)), true},
		{"", monday, true},
		{"nonsense", monday, false},
	} {
		if got := test.hours.Open(test.at); got != test.want {
			t.Errorf("%q at %s: got %t, want %t", test.hours, test.at, got, test.want)
		}
	}
}

func TestAWorthIsRoundedUp(t *testing.T) {
	t.Parallel()
	cheap := Asset{Decimals: 18, Price: value("0.000001")}
	for units, want := range map[uint64]string{0: "0", 1: "0.000001", 1_000_000_000_000_000_000: "0.000001",
		1_000_000_000_000_000_001: "0.000002"} {
		if got := valueText(cheap.worth(bursar.Units(units))); got != want {
			t.Errorf("%d units: got %s, want %s", units, got, want)
		}
	}
}
