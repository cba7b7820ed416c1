package charge_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A flood of small payments leaves a charge with as many as it takes, whose version no further one raises, and does not
// keep the payer's own payments out.
func TestAFloodOfSmallPayments(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		r.flood(d, 120)
		if v := r.now(d); len(v.Payments) != bursar.FreePayments || v.Count != bursar.FreePayments || !v.Crowded {
			t.Fatalf("the charge has %d payments, crowded %v, want %d and crowded", len(v.Payments), v.Crowded,
				bursar.FreePayments)
		}
		r.shows(d, "open crowded")
		version := r.view(d).Version
		r.flood(d, 50)
		if v := r.now(d); len(v.Payments) != bursar.FreePayments || v.Recorded.Version != version {
			t.Errorf("more of them make version %d with %d payments, want %d with %d", v.Recorded.Version, len(v.Payments),
				version, bursar.FreePayments)
		}
		r.send(d, "BTC", "BTC", 50_000)
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		if v := r.shows(d, "paid crowded"); len(v.Payments) > 100 || len(v.Timeline) > 100 {
			t.Errorf("%d payments and %d moments are shown, want at most 100", len(v.Payments), len(v.Timeline))
		}
	})
}

// flood pays a charge many times less than a hundredth of its price, and less than the smallest deposit.
func (r *harness) flood(d bursar.InvoiceDetail, n int) {
	r.t.Helper()
	small := chain.Payment{Address: d.Options[0].Address, Amount: bursar.Units(100)}
	var payments []chain.Payment
	for range n {
		payments = append(payments, small)
	}
	r.chains[bursar.Bitcoin].Pay(payments...)
	r.mine(bursar.Bitcoin, 4)
}
