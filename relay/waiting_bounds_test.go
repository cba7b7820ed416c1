package relay_test

import (
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/roster"
)

// A payment that a rule's limit leaves no capacity for waits as those beyond its other windows do: blocking no other,
// without an alarm, and it is paid as soon as it fits.
func TestAPaymentBeyondABoundWaitsUntilItFits(t *testing.T) {
	t.Parallel()
	hour := func(most uint64) []roster.Window {
		return []roster.Window{{Length: time.Hour, Most: bursar.Units(most)}}
	}
	for says, change := range map[string]func(r *roster.Rule){
		"1 of 1 payments were signed within 1h":     func(r *roster.Rule) { r.Payments = hour(1) },
		"may have been spent on fees within 1h":     func(r *roster.Rule) { r.Fees = hour(5_000) },
		"0.9 COIN and may cost":                     func(r *roster.Rule) { r.Windows = hour(905_000) },
		"no client of the account signed the order": func(r *roster.Rule) { r.PerAccount = hour(1e6) },
	} {
		bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
			d := newHarness(t, r, func(p *roster.Policy) { change(&p.Rules[0]); p.Rules = append(p.Rules[:1], p.Rules[2:]...) })
			r.Fund()
			var list []bursar.Withdrawal
			for _, name := range []string{"alice", "bob"} {
				list = append(list, r.Order(90_000_000, r.Chain.Named(name)))
			}
			r.Trouble = true // one waits
			for range 6 {
				r.Chain.Mine(1)
				r.Step()
			}
			r.WantAlarms()
			w := d.waiting()
			never := strings.HasPrefix(says, "no client")
			if want := map[bool]int{true: 2, false: 1}[never]; len(w.Orders) != want ||
				!strings.Contains(w.Orders[0].Reason, says) {
				t.Fatalf("what waits is %+v, want %d and %q in it", w.Orders, want, says)
			}
			if never {
				return // it waits for a client's signature
			}
			d.ahead.Store(int64(time.Hour + time.Second))
			r.Trouble = false
			r.Settle()
			for i, name := range []string{"alice", "bob"} {
				if got := r.Chain.Balance(r.Chain.Named(name), ""); got != bursar.Units(90_000_000) {
					t.Errorf("%s: %s got %s and the payment is %s, want 90000000", says, name, got, r.Now(list[i]).Status)
				}
			}
			r.WantAlarms()
			r.Must(r.Audit())
		})
	}
}
