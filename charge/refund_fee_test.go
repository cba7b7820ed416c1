package charge_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/charge"
	"github.com/bursar/bursar/store"
)

// feePayer has the recipient bear the fee.
func feePayer(o *charge.Refund) { o.Fee = charge.FeePayer }

// setFee gives the account a withdrawal fee in BTC.
func (r *harness) setFee(millionths uint32, fixed uint64) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		return tx.FeeRules().Set(ctx, bursar.FeeRule{AccountID: r.account, Currency: "BTC", Kind: bursar.FeeOfWithdrawal,
			Fee: bursar.Fee{Millionths: millionths, Fixed: bursar.Units(fixed)}})
	})
}

// With fee=payer the withdrawal and its fee together are what is refunded: the account pays nothing on top, whatever
// part of the amount the fee is, and the payment is refunded whole.
func TestARefundWhoseFeeThePayerBears(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.setFee(10_000, 700) // 1 %
		d := r.sum(func(t *charge.Terms) { t.Life = 2 * time.Minute })
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		r.shows(d, "expired partial !")
		r.holds("BTC", 49_500)
		w, err := r.refund(d, 0, feePayer)
		r.must(err)
		total, err := w.Amount.Add(w.Fee)
		r.must(err)
		if bursar.Units(49_500).Less(total) || total.Less(bursar.Units(49_499)) || w.Amount.IsZero() || w.Fee.IsZero() {
			t.Fatalf("the withdrawal of %s and its fee of %s are %s, want 49500 or one less", w.Amount, w.Fee, total)
		}
		v := r.shows(d, "expired refunded")
		if f := v.Refunds[0]; f.Amount != "0.00049500" || f.Fee != bursar.Units(49_500).SubOrZero(w.Amount).Decimal(8, 8) {
			t.Errorf("the refund is %+v, want 0.00049500 with its fee", f)
		}
		r.holds("BTC", 49_500-must64(total))
		if _, err := r.refund(d, 0, feePayer); refusal(err) == nil || refusal(err).Code != bursar.CodeAboveMaximum {
			t.Errorf("again: %v, want above_maximum", err)
		}
		_, err = r.Withdrawals.Cancel(ctx, w.ID)
		r.must(err)
		r.shows(d, "expired partial !")
		r.holds("BTC", 49_500)
	})
}

// What cannot be paid from a refund is refused, and nothing changes.
func TestRefundsWhoseFeeThePayerCannotBear(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.setFee(0, 20_000)
		d := r.sum(func(t *charge.Terms) { t.Life = 2 * time.Minute })
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		for name, c := range map[string]struct {
			change func(*charge.Refund)
			code   bursar.ErrorCode
		}{
			"less than the fee":  {func(o *charge.Refund) { o.Part, o.Amount = "", "0.00019999" }, bursar.CodeBelowMinimum},
			"as much as the fee": {func(o *charge.Refund) { o.Part, o.Amount = "", "0.0002" }, bursar.CodeBelowMinimum},
			"more than was paid": {func(o *charge.Refund) { o.Part, o.Amount = "", "0.0005" }, bursar.CodeAboveMaximum},
			"an order":           {func(o *charge.Refund) { o.Order.Text = "{}" }, bursar.CodeInvalidRequest},
		} {
			_, err := r.refund(d, 0, func(o *charge.Refund) {
				feePayer(o)
				c.change(o)
			})
			if refusal(err) == nil || refusal(err).Code != c.code {
				t.Errorf("%s: %v, want %s", name, err, c.code)
			}
		}
		r.shows(d, "expired partial !")
		r.holds("BTC", 49_500)
	})
}

// What is left by a fee is paid from the smallest withdrawal on; a fee whose share of the whole refund is all of it
// leaves nothing, although a smaller payment with a smaller fee would.
func TestTheRestThatAFeeLeaves(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.setFee(0, 20_000)
		d := r.sum(func(t *charge.Terms) { t.Life = 2 * time.Minute })
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		part := func(amount string) func(*charge.Refund) {
			return func(o *charge.Refund) {
				feePayer(o)
				o.Part, o.Amount = "", amount
			}
		}
		for _, short := range []string{"0.00020001", "0.00020999"} {
			if _, err := r.refund(d, 0, part(short)); refusal(err) == nil || refusal(err).Code != bursar.CodeBelowMinimum {
				t.Errorf("a refund of %s: %v, want below_minimum", short, err)
			}
		}
		w, err := r.refund(d, 0, part("0.00021"))
		if r.must(err); w.Amount != bursar.Units(1_000) || w.Fee != bursar.Units(20_000) {
			t.Errorf("the withdrawal is of %s with a fee of %s, want 1000 and 20000", w.Amount, w.Fee)
		}
		r.setFee(500_000, 5_500) // of 10000 it is 10500, and of 3000 7000
		if _, err := r.refund(d, 0, part("0.0001")); refusal(err) == nil || refusal(err).Code != bursar.CodeBelowMinimum {
			t.Errorf("a fee of more than the refund: %v, want below_minimum", err)
		}
	})
}

// A fee that rises between its estimate and the withdrawal is not debited on top.
func TestAFeeThatRisesIsNotTheAccounts(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		r.setFee(0, 1_000)
		d := r.sum(func(t *charge.Terms) { t.Life = 2 * time.Minute })
		other := r.sum(nil) // its money would cover the fee
		r.send(other, "BTC", "BTC", 100_000)
		r.send(d, "BTC", "BTC", 50_000)
		r.mine(bursar.Bitcoin, 3)
		r.Charges.Payer = risingFee{r.Charges.Payer, func() { r.setFee(0, 1_001) }}
		if _, err := r.refund(d, 0, feePayer); refusal(err) == nil || refusal(err).Code != bursar.CodeUnavailable {
			t.Errorf("the fee rose: %v, want unavailable", err)
		}
		r.holds("BTC", 49_500+99_000)
		w, err := r.refund(d, 0, feePayer)
		r.must(err)
		if w.Amount != bursar.Units(48_499) || w.Fee != bursar.Units(1_001) {
			t.Errorf("the withdrawal is of %s with a fee of %s, want 48499 and 1001", w.Amount, w.Fee)
		}
		r.shows(d, "expired refunded")
	})
}

// risingFee has the fee change after it was said.
type risingFee struct {
	charge.Payer
	rise func()
}

// Pay has the fee rise first.
func (p risingFee) Pay(ctx context.Context, o charge.Payout) (bursar.Withdrawal, error) {
	p.rise()
	return p.Payer.Pay(ctx, o)
}

func must64(a bursar.Amount) uint64 {
	n, _ := a.Uint64()
	return n
}
