package charge_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
)

// refund requests a refund of the nth payment of a charge.
func (r *harness) refund(d bursar.InvoiceDetail, n int, change func(*charge.Refund)) (bursar.Withdrawal, error) {
	r.t.Helper()
	o := charge.Refund{Account: r.account, Charge: d.ID, Deposit: r.deposit(d, n), Part: charge.RefundAll,
		Address: r.chains[bursar.Bitcoin].Named("buyer")}
	if change != nil {
		change(&o)
	}
	_, w, err := r.Charges.Refund(ctx, o)
	return w, err
}

// A refund is a withdrawal; all refunds of a payment never exceed what it credited.
func TestARefundIsAWithdrawal(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(every)
		r.send(d, "BTC", "BTC", 160_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid over !")
		r.holds("BTC", 158_400)
		w, err := r.refund(d, 0, func(o *charge.Refund) { o.Part, o.By = charge.RefundOver, "key-1" })
		if err != nil || w.Amount != bursar.Units(60_000) || w.Status != bursar.WithdrawalQueued || w.RequestedBy != "key-1" {
			t.Fatalf("the refund is %+v, %v, want 60000 queued", w, err)
		}
		if v := r.shows(d, "paid over part_refunded"); len(v.Refunds) != 1 || v.Refunds[0].WithdrawalID != w.ID ||
			v.Payments[0].Refundable != "0.00098400" || *v.Payments[0].Resolution != bursar.ResolveRefund {
			t.Fatalf("after it the charge is %+v, want 1 of them and %v and %q and %v", v, w.ID, "0.00098400",
				bursar.ResolveRefund)
		}
		r.holds("BTC", 98_400)
		for name, change := range map[string]func(*charge.Refund){
			"over again": func(o *charge.Refund) { o.Part = charge.RefundOver },
			"too much":   func(o *charge.Refund) { o.Part, o.Amount = "", "0.00098401" },
		} {
			if _, err := r.refund(d, 0, change); refusal(err) == nil || refusal(err).Code != bursar.CodeAboveMaximum {
				t.Errorf("%s: %v, want above_maximum", name, err)
			}
		}
		_, err = r.refund(d, 0, nil)
		r.must(err)
		r.shows(d, "paid over refunded")
		r.heardOf("pending", "paid", "overpaid", "attention", "refunded", "refunded")
	})
}

// A payment may be refunded again once its refund has ended unpaid.
func TestARefundThatIsTakenBack(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(func(t *charge.Terms) { t.Life = 2 * time.Minute })
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "expired partial !")
		w, err := r.refund(d, 0, nil)
		r.must(err)
		r.shows(d, "expired refunded")
		version := r.view(d).Version
		_, err = r.Withdrawals.Cancel(ctx, w.ID)
		r.must(err)
		if v := r.shows(d, "expired partial !"); v.Version != version+1 || v.Payments[0].Refundable != "0.00049500" {
			t.Fatalf("after the refund ended unpaid the charge is %+v, want %v and %q", v, version+1, "0.00049500")
		}
		r.heardOf("attention", "attention") // the second one, because it waits again
		_, err = r.refund(d, 0, nil)
		r.must(err)
		r.shows(d, "expired refunded")
	})
}

// A charge that takes payments cannot be refunded; once it is cancelled, what is refunded counts no more.
func TestAnOpenChargeIsCancelledBeforeARefund(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		hash := r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		if _, err := r.refund(d, 0, nil); refusal(err) == nil || refusal(err).Field != "chargeID" {
			t.Errorf("an open charge: %v, want invalid_request", err)
		}
		r.clock.Set(started.Add(10 * time.Minute))
		_, err := r.Charges.Cancel(ctx, r.change(d))
		r.must(err)
		_, err = r.refund(d, 0, nil)
		r.must(err)
		r.reorg(bursar.Bitcoin, 3, hash)
		r.shows(d, "cancelled reversed refunded !")
		r.chains[bursar.Bitcoin].Restore(hash)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "cancelled refunded")
	})
}

// Many refunds at the same time pay back a payment once.
func TestRefundsAtTheSameTime(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		other := r.sum(nil) // its money would cover the refunds
		r.send(other, "BTC", "BTC", 1_000_000)
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid")
		errs := make(chan error)
		for range 8 {
			go func() {
				_, err := r.refund(d, 0, nil)
				errs <- err
			}()
		}
		paid := 0
		for range 8 {
			err := <-errs
			if err == nil {
				paid++
			} else if got := refusal(err); got == nil || got.Code != bursar.CodeAboveMaximum {
				t.Errorf("a second refund: %v, want above_maximum", err)
			}
		}
		if paid != 1 {
			t.Errorf("%d refunds are paid, want 1", paid)
		}
		r.holds("BTC", 990_000)
	})
}

// By today's rate a refund returns what the payment was worth, and never more than was paid.
func TestARefundByTodaysRate(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.prices.rates["BTC"] = "50000"
		d := r.inEuro("BTC")
		r.send(d, "BTC", "BTC", 200_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "paid")
		now := func(o *charge.Refund) { o.Rate = charge.RateNow }
		delete(r.prices.rates, "BTC")
		if _, err := r.refund(d, 0, now); refusal(err) == nil || refusal(err).Code != bursar.CodeRateUnavailable {
			t.Errorf("without a rate: %v, want rate_unavailable", err)
		}
		r.prices.rates["BTC"] = "100000"
		if w, err := r.refund(d, 0, now); err != nil || w.Amount != bursar.Units(100_000) {
			t.Errorf("at twice the rate: %s, %v, want 100000", w.Amount, err)
		}
		r.prices.rates["BTC"] = "10000"
		if w, err := r.refund(d, 0, now); err != nil || w.Amount != bursar.Units(98_000) {
			t.Errorf("at a fifth of the rate: %s, %v, want the rest of 98000", w.Amount, err)
		}
	})
}

// What was paid too much is refunded once, whichever payment it is taken from.
func TestWhatIsOverIsRefundedOnce(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 3)
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		over := func(o *charge.Refund) { o.Part = charge.RefundOver }
		if w, err := r.refund(d, 0, over); err != nil || w.Amount != bursar.Units(50_000) {
			t.Fatalf("the refund is %s, %v, want 50000", w.Amount, err)
		}
		for n := range 2 {
			if w, err := r.refund(d, n, over); refusal(err) == nil || refusal(err).Code != bursar.CodeAboveMaximum {
				t.Errorf("a second refund, of payment %d, is %s, %v, want above_maximum", n, w.Amount, err)
			}
		}
	})
}

// The same at the same time.
func TestWhatIsOverIsRefundedOnceAtTheSameTime(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		for range 3 {
			r.send(d, "BTC", "BTC", 60_000)
			r.mine(bursar.Bitcoin, 3)
		}
		errs := make(chan error)
		for n := range 3 {
			deposit := r.deposit(d, n)
			go func() {
				_, _, err := r.Charges.Refund(ctx, charge.Refund{Account: r.account, Charge: d.ID, Deposit: deposit,
					Part: charge.RefundOver, Address: r.chains[bursar.Bitcoin].Named("buyer")})
				errs <- err
			}()
		}
		for range 3 {
			if err := <-errs; err != nil && (refusal(err) == nil || refusal(err).Code != bursar.CodeAboveMaximum) {
				t.Errorf("a refund: %v, want above_maximum", err)
			}
		}
		total := bursar.Amount{}
		found := r.now(d)
		for _, f := range found.Refunds {
			total, _ = total.Add(f.Amount)
		}
		if total.IsZero() || bursar.Units(80_000).Less(total) {
			t.Errorf("%s are refunded, want at most 80000, and something", total)
		}
	})
}
