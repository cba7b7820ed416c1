package charge_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// A payment that was not needed is refunded, and then the one that paid is reorged out: the charge is unpaid, since
// nothing of it is left.
func TestARefundedPaymentDoesNotPayInPlaceOfAnother(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		first := r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid over !")
		_, err := r.refund(d, 1, nil)
		r.must(err)
		r.shows(d, "paid part_refunded")
		r.reorg(bursar.Bitcoin, 6, first)
		r.mine(bursar.Bitcoin, 3)
		if v := r.view(d); v.Paid {
			t.Fatalf("the charge is paid with %s while the balance keeps nothing of it; its payments are %+v", v.Received,
				v.Payments)
		}
		r.chains[bursar.Bitcoin].Restore(first)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid part_refunded")
	})
}

// By the rate of today a payment is paid back once, however often that is asked for.
func TestARefundByTodaysRateIsPaidOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		d := r.inEuro("BTC")
		r.send(d, "BTC", "BTC", 400_000)
		r.mine(bursar.Bitcoin, 3)
		r.prices.rates["BTC"] = "100000"
		for _, c := range []struct {
			part  string
			units uint64
		}{
			{charge.RefundOver, 100_000},
			{charge.RefundOver, 0},
			{charge.RefundAll, 100_000},
			{charge.RefundAll, 0},
		} {
			w, err := r.refund(d, 0, func(o *charge.Refund) { o.Part, o.Rate = c.part, charge.RateNow })
			if c.units > 0 && (err != nil || w.Amount != bursar.Units(c.units)) {
				t.Fatalf("the refund of %s is %s, %v, want %d", c.part, w.Amount, err, c.units)
			}
			if got := refusal(err); c.units == 0 && (got == nil || got.Code != bursar.CodeAboveMaximum) {
				t.Fatalf("a second refund of %s is %s, %v, want above_maximum", c.part, w.Amount, err)
			}
		}
	})
}

// The same at the same time.
func TestRefundsByTodaysRateAtTheSameTime(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		d := r.inEuro("BTC")
		r.send(d, "BTC", "BTC", 200_000)
		r.mine(bursar.Bitcoin, 3)
		r.prices.rates["BTC"] = "200000"
		deposit := r.deposit(d, 0)
		errs := make(chan error)
		for range 4 {
			go func() {
				_, _, err := r.Charges.Refund(ctx, charge.Refund{Account: r.account, Charge: d.ID, Deposit: deposit,
					Part: charge.RefundAll, Rate: charge.RateNow, Address: r.chains[bursar.Bitcoin].Named("buyer")})
				errs <- err
			}()
		}
		for range 4 {
			if err := <-errs; err != nil && (refusal(err) == nil || refusal(err).Code != bursar.CodeAboveMaximum) {
				t.Errorf("a refund: %v, want above_maximum", err)
			}
		}
		if v := r.view(d); len(v.Refunds) != 1 || v.Refunds[0].Amount != "0.00050000" {
			t.Errorf("the refunds are %+v, want one of 0.00050000", v.Refunds)
		}
	})
}

// What was paid back of a payment that counts no more is no part of what was paid too much.
func TestWhatIsOverIsWhatIsOverAmongWhatCounts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) { t.Life, t.Late = 2*time.Minute, bursar.HandlingAccept })
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "expired partial !")
		_, err := r.refund(d, 0, nil)
		r.must(err)
		r.send(d, "BTC", "BTC", 140_000)
		r.mine(bursar.Bitcoin, 3)
		if w, err := r.refund(d, 1, func(o *charge.Refund) { o.Part = charge.RefundOver }); err != nil ||
			w.Amount != bursar.Units(40_000) {
			t.Errorf("the refund is %s, %v, want 40000", w.Amount, err)
		}
	})
}
