package charge_test

import (
	"log/slog"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// A refund fails, the payment is refunded again, and a reorg has the first one paid after all: the second one is
// cancelled, and nothing is paid twice, though the account could.
func TestAFailedRefundThatIsPaidAfterAll(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d, other := r.sum(nil), r.sum(nil)
		r.send(d, "BTC", "BTC", 100_000)
		r.send(other, "BTC", "BTC", 1_000_000) // its money would cover both
		r.mine(bursar.Bitcoin, 3)
		first, err := r.refund(d, 0, nil)
		r.must(err)
		payouts := withdrawal.Payouts{Chain: bursar.Bitcoin, Registry: r.Registry, IDs: r.IDs,
			Log: slog.New(slog.DiscardHandler)}
		changed := func(f func(tx *store.Tx, w bursar.Withdrawal) error) {
			t.Helper()
			r.do(func(tx *store.Tx) error {
				w, err := tx.Withdrawals().Lock(ctx, first.ID)
				if err != nil {
					return err
				}
				return f(tx, w)
			})
		}
		fail := func(tx *store.Tx, w bursar.Withdrawal) error { return payouts.Refund(ctx, tx, w, "failed") }
		changed(func(tx *store.Tx, w bursar.Withdrawal) error {
			return payouts.Signed(ctx, tx, []bursar.Withdrawal{w}, "aa")
		})
		changed(func(tx *store.Tx, w bursar.Withdrawal) error {
			return payouts.Broadcast(ctx, tx, []bursar.Withdrawal{w})
		})
		changed(fail)
		second, err := r.refund(d, 0, nil)
		r.must(err)
		before, _ := r.balance(r.account, "BTC")
		changed(func(tx *store.Tx, w bursar.Withdrawal) error { return payouts.Unsettle(ctx, tx, w, nil) })
		got, err := r.Withdrawals.Get(ctx, r.account, second.ID)
		if r.must(err); got.Status != bursar.WithdrawalCancelled {
			t.Errorf("the second refund is %s, want cancelled", got.Status)
		}
		if after, _ := r.balance(r.account, "BTC"); after != before {
			t.Errorf("the balance is %d, want the %d of before: one refund is held in place of the other", after, before)
		}
		if v := r.view(d); v.Payments[0].Refundable != "0.00000000" {
			t.Errorf("%s can be refunded, want nothing", v.Payments[0].Refundable)
		}
		changed(fail) // in another block
		if v := r.view(d); v.Payments[0].Refundable != "0.00099000" {
			t.Errorf("%s can be refunded once it has failed again, want 0.00099000", v.Payments[0].Refundable)
		}
		third, err := r.refund(d, 0, nil)
		r.must(err)
		if frozen := r.frozen(); third.Status != bursar.WithdrawalQueued || frozen != "" {
			t.Errorf("another refund is %s and the account is frozen by %q, want queued and not frozen", third.Status, frozen)
		}
	})
}

// While a restored database may not know what was signed, a second refund that looks as if it were not may have left:
// its money is not given back, and an alarm says so.
func TestASecondRefundIsNotCancelledDuringARecovery(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d, other := r.sum(nil), r.sum(nil)
		r.send(d, "BTC", "BTC", 100_000)
		r.send(other, "BTC", "BTC", 1_000_000)
		r.mine(bursar.Bitcoin, 3)
		first, err := r.refund(d, 0, nil)
		r.must(err)
		payouts := withdrawal.Payouts{Chain: bursar.Bitcoin, Registry: r.Registry, IDs: r.IDs,
			Log: slog.New(slog.DiscardHandler)}
		changed := func(f func(tx *store.Tx, w bursar.Withdrawal) error) {
			t.Helper()
			r.do(func(tx *store.Tx) error {
				w, err := tx.Withdrawals().Lock(ctx, first.ID)
				if err != nil {
					return err
				}
				return f(tx, w)
			})
		}
		changed(func(tx *store.Tx, w bursar.Withdrawal) error {
			return payouts.Signed(ctx, tx, []bursar.Withdrawal{w}, "aa")
		})
		changed(func(tx *store.Tx, w bursar.Withdrawal) error {
			return payouts.Broadcast(ctx, tx, []bursar.Withdrawal{w})
		})
		changed(func(tx *store.Tx, w bursar.Withdrawal) error { return payouts.Refund(ctx, tx, w, "failed") })
		second, err := r.refund(d, 0, nil)
		r.must(err)
		changed(func(tx *store.Tx, w bursar.Withdrawal) error {
			if err := tx.Recoveries().Begin(ctx, bursar.Bitcoin, "a test"); err != nil {
				return err
			}
			return payouts.Unsettle(ctx, tx, w, nil)
		})
		got, err := r.Withdrawals.Get(ctx, r.account, second.ID)
		if r.must(err); got.Status != bursar.WithdrawalQueued {
			t.Errorf("the second refund is %s, want queued", got.Status)
		}
		var alarms []store.Alarm
		r.do(func(tx *store.Tx) (err error) {
			alarms, err = tx.Alarms().OfKind(ctx, "refunded_twice")
			return err
		})
		if len(alarms) != 1 || alarms[0].Ref != first.ID.String() {
			t.Errorf("the alarms are %+v, want one about %s", alarms, first.ID)
		}
	})
}
