package roster

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
)

func drawValue(t *rapid.T, label string) Value {
	return bursar.Units(rapid.SampledFrom([]uint64{0, 1, 5, 100, 1000}).Draw(t, label) * 1e6)
}

func drawRule(t *rapid.T, id string, deny bool) Rule {
	r := Rule{ID: id, Deny: deny, To: rapid.SampledFrom([]string{ToListed, ToAny}).Draw(t, "to"),
		Each: drawValue(t, "each"),
		For:  []string{rapid.SampledFrom([]string{KindWithdrawal, KindWithdrawal, KindSweep}).Draw(t, "for")}}
	r.Assets = rapid.SampledFrom([][]string{nil, {"BTC"}, {"USDT"}, {"BTC", "USDT"}}).Draw(t, "assets")
	if deny {
		r.To = rapid.SampledFrom([]string{ToAny, "bc1qgood", "bc1qother"}).Draw(t, "denied")
		return r
	}
	if r.For[0] == KindSweep {
		r.To, r.Fees, r.Payments = ToOwn, drawWindows(t, MeasureFees), drawWindows(t, MeasurePayments)
		return r
	}
	r.Windows = drawWindows(t, MeasureWorth)
	r.Fees, r.Payments, r.PerAccount = drawWindows(t, MeasureFees), drawWindows(t, MeasurePayments), drawPerAccount(t)
	if r.Need = rapid.IntRange(0, 2).Draw(t, "need"); r.Need > 0 {
		r.Role = RoleApprover
		r.Hold = rapid.SampledFrom([]time.Duration{0, time.Hour}).Draw(t, "hold")
	}
	r.Hours = rapid.SampledFrom([]Hours{"", "Mon-Fri 07-19", "Tue-Tue 12-13", "Sat-Sun 00-24"}).Draw(t, "hours")
	return r
}

// drawWindows draws windows of a measure, mostly of none.
func drawWindows(t *rapid.T, of Measure) (list []Window) {
	for _, length := range []time.Duration{time.Hour, 24 * time.Hour} {
		if rapid.Bool().Draw(t, string(of)) {
			list = append(list, Window{length, drawMost(t, of)})
		}
	}
	return list
}

func drawMost(t *rapid.T, of Measure) Value {
	if of == MeasurePayments {
		return bursar.Units(rapid.Uint64Range(1, 4).Draw(t, "most payments"))
	}
	return drawValue(t, "most")
}

// drawPerAccount is drawWindows of accounts, of which most rules have none.
func drawPerAccount(t *rapid.T) []Window {
	if rapid.IntRange(0, 3).Draw(t, "accounts") > 0 {
		return nil
	}
	return drawWindows(t, MeasureAccount)
}

func drawPolicy(t *rapid.T) Policy {
	p := policy()
	p.Rules = nil
	for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
		p.Rules = append(p.Rules, drawRule(t, fmt.Sprintf("r%d", i), rapid.IntRange(0, 4).Draw(t, "deny") == 0))
	}
	return p
}

func drawQuestion(t *rapid.T) Question {
	q := bitcoins(rapid.SampledFrom([]uint64{1, 800, 4_000, 80_000, 833_333, 1_000_000}).Draw(t, "units"))
	q.Kind = rapid.SampledFrom([]string{KindWithdrawal, KindWithdrawal, KindWithdrawal, KindSweep}).Draw(t, "kind")
	if rapid.IntRange(0, 3).Draw(t, "token") == 0 {
		q.Chain, q.Contract, q.Units = "tron", policy().Assets[1].Contract, bursar.Units(90_000_000)
	}
	q.Listed = rapid.Bool().Draw(t, "listed")
	q.Signed = map[string][]string{RoleApprover: []string{"ann", "bob"}[:rapid.IntRange(0, 2).Draw(t, "signed")]}
	q.Now = noon.Add(time.Duration(rapid.IntRange(0, 167).Draw(t, "hour")) * time.Hour)
	held := rapid.SampledFrom([]time.Duration{0, time.Minute, time.Hour, 2 * time.Hour}).Draw(t, "held")
	q.Since = func(string) time.Time {
		if held == 0 {
			return time.Time{}
		}
		return q.Now.Add(-held)
	}
	type measured struct {
		of   Measure
		rule string
	}
	used := map[measured]Value{}
	for i := range 4 {
		for _, of := range []Measure{MeasureWorth, MeasureFees, MeasureAccount} {
			used[measured{of, fmt.Sprintf("r%d", i)}] = drawValue(t, "used")
		}
		used[measured{MeasurePayments, fmt.Sprintf("r%d", i)}] = bursar.Units(rapid.Uint64Range(0, 4).Draw(t, "paid"))
	}
	q.Used = func(of Measure, rule string, _ time.Time) Value { return used[measured{of, rule}] }
	q.Fee = bursar.Units(rapid.SampledFrom([]uint64{0, 1, 4_000, 80_000}).Draw(t, "fee"))
	q.Ordered = rapid.Bool().Draw(t, "ordered")
	return q
}

// neverMore fails if a policy allows what another does not.
func neverMore(t *rapid.T, old, next Policy, q Question, what string) {
	if a := next.Evaluate(q); a.Allowed && !old.Evaluate(q).Allowed {
		t.Fatalf("%s allows more: %+v by\n%s\nwhat was refused by\n%s", what, a, next.Text(), old.Text())
	}
}

func TestADenyMoreOrAnAllowLessNeverAllowsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, q := drawPolicy(t), drawQuestion(t)
		next := old
		next.Rules = append(slices.Clone(old.Rules), drawRule(t, "more", true))
		neverMore(t, old, next, q, "a deny more")
		for i, r := range old.Rules {
			if !r.Deny {
				next.Rules = slices.Delete(slices.Clone(old.Rules), i, i+1)
				neverMore(t, old, next, q, "an allow less")
			}
		}
	})
}

// A bound more, of any measure and whatever it holds, is a tightening, and allows nothing that was refused: neither a
// payment nor a replacement.
func TestABoundMoreNeverAllowsMore(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		old, q := drawPolicy(t), drawQuestion(t)
		for i, r := range old.Rules {
			if r.Deny {
				continue
			}
			of := rapid.SampledFrom([]Measure{MeasureWorth, MeasureFees, MeasurePayments, MeasureAccount}).Draw(t, "of")
			added := Window{7 * 24 * time.Hour, drawMost(t, of)}
			for _, list := range []struct {
				of Measure
				to *[]Window
			}{{MeasureWorth, &r.Windows}, {MeasureFees, &r.Fees}, {MeasurePayments, &r.Payments},
				{MeasureAccount, &r.PerAccount}} {
				if list.of == of {
					*list.to = append(slices.Clone(*list.to), added)
				}
			}
			next := old
			next.Rules = slices.Clone(old.Rules)
			next.Rules[i] = r
			if changes := Diff(old, next); len(changes) != 1 || Loosens(changes) {
				t.Fatalf("got %v, want one tightening", changes)
			}
			neverMore(t, old, next, q, "a bound more")
			more := drawValue(t, "more")
			if next.Replace(r.ID, q, more).Allowed && !old.Replace(r.ID, q, more).Allowed {
				t.Fatalf("a bound more lets %s be replaced by\n%s\nand not by\n%s", r.ID, next.Text(), old.Text())
			}
		}
	})
}

// Whatever is taken for a tightening allows nothing that was refused: otherwise it would begin without its wait.
func TestATighteningNeverAllowsMore(t *testing.T) {
	t.Parallel()
	tightenings := 0
	rapid.Check(t, func(t *rapid.T) {
		old, q := drawPolicy(t), drawQuestion(t)
		next := old
		next.Rules = slices.Clone(old.Rules)
		if len(next.Rules) > 0 {
			i := rapid.IntRange(0, len(next.Rules)-1).Draw(t, "rule")
			was := next.Rules[i]
			drawn := drawRule(t, was.ID, was.Deny)
			change := func(label string, f func()) {
				if rapid.IntRange(0, 3).Draw(t, label) == 0 {
					f()
				}
			}
			r := &next.Rules[i]
			change("for", func() { r.For = drawn.For })
			change("assets", func() { r.Assets = drawn.Assets })
			change("to", func() { r.To = drawn.To })
			change("each", func() { r.Each = drawn.Each })
			change("windows", func() { r.Windows = drawn.Windows })
			change("fees", func() { r.Fees = drawn.Fees })
			change("count", func() { r.Payments = drawn.Payments })
			change("accounts", func() { r.PerAccount = drawn.PerAccount })
			change("need", func() { r.Need, r.Role, r.Hold = drawn.Need, drawn.Role, drawn.Hold })
			change("hours", func() { r.Hours = drawn.Hours })
			change("delete", func() { next.Rules = slices.Delete(next.Rules, i, i+1) })
		}
		next.Assets = slices.Clone(old.Assets)
		next.Assets[0].Price = value(rapid.SampledFrom([]string{"120000", "130000", "100000"}).Draw(t, "price"))
		if Loosens(Diff(old, next)) {
			return
		}
		tightenings++
		neverMore(t, old, next, q, "a tightening")
	})
	if tightenings < 5 && !testing.Short() { // about a quarter of 100 are, and of 20 with -short
		t.Errorf("%d of the drawn changes are tightenings, want more", tightenings)
	}
}
