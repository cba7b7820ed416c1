package charge_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// What was paid too much is refunded, and then another payment is reorged out: the charge is unpaid by what was
// refunded.
func TestARefundedSurplusPaysForNothing(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		r.send(d, "BTC", "BTC", 110_000)
		r.mine(bursar.Bitcoin, 3)
		first := r.send(d, "BTC", "BTC", 30_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid over !")
		over := func(o *charge.Refund) { o.Part = charge.RefundOver }
		w, err := r.refund(d, 0, over)
		if r.must(err); w.Amount != bursar.Units(40_000) {
			t.Fatalf("the refund is %s, want 40000", w.Amount)
		}
		if v := r.shows(d, "paid over part_refunded"); v.Returned != "0.00040000" || v.Over != "0.00040000" {
			t.Fatalf("returned are %s of %s, want 0.00040000", v.Returned, v.Over)
		}
		r.reorg(bursar.Bitcoin, 3, first)
		if v := r.view(d); v.Paid || v.Due != "0.00030000" {
			t.Fatalf("the charge is paid: %v, with %s due and %s received of which %s is returned, want 0.00030000 due", v.Paid,
				v.Due, v.Received, v.Returned)
		}
		r.chains[bursar.Bitcoin].Restore(first)
		r.mine(bursar.Bitcoin, 3)
		if v := r.view(d); !v.Paid {
			t.Fatalf("the charge is %s, want paid again", v.Status)
		}
		_, err = r.Withdrawals.Cancel(ctx, w.ID)
		r.must(err)
		if v := r.view(d); v.Returned != "0.00000000" {
			t.Fatalf("%s are returned, want nothing once the refund is cancelled", v.Returned)
		}
	})
}

// What was over is paid back by today's rate, and is not over any more by the rate of then.
func TestWhatIsOverIsRefundedByOneRate(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		d := r.inEuro("BTC")
		r.send(d, "BTC", "BTC", 400_000)
		r.mine(bursar.Bitcoin, 3)
		r.prices.rates["BTC"] = "100000"
		w, err := r.refund(d, 0, func(o *charge.Refund) { o.Part, o.Rate = charge.RefundOver, charge.RateNow })
		if r.must(err); w.Amount != bursar.Units(100_000) {
			t.Fatalf("the refund is %s, want 100000", w.Amount)
		}
		for _, rate := range []string{charge.RateThen, charge.RateNow} {
			w, err := r.refund(d, 0, func(o *charge.Refund) { o.Part, o.Rate = charge.RefundOver, rate })
			if got := refusal(err); got == nil || got.Code != bursar.CodeAboveMaximum {
				t.Errorf("a second refund by the rate of %s is %s, %v, want above_maximum", rate, w.Amount, err)
			}
		}
		r.prices.rates["BTC"] = "50000"
		if w, err := r.refund(d, 0, func(o *charge.Refund) { o.Part = charge.RefundOver }); refusal(err) == nil {
			t.Errorf("once the rate is what it was, another refund is %s, want above_maximum", w.Amount)
		}
	})
}
