package charge_test

import (
	"errors"
	"log/slog"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// secondRefund is a payment whose refund was sent and failed, and that was refunded again. The account could pay both.
type secondRefund struct {
	*harness
	d             bursar.InvoiceDetail
	first, second bursar.Withdrawal
	payouts       withdrawal.Payouts
}

func (r *harness) secondRefund() secondRefund {
	r.t.Helper()
	d, other := r.sum(nil), r.sum(nil)
	r.send(d, "BTC", "BTC", 100_000)
	r.send(other, "BTC", "BTC", 1_000_000) // its money would cover both
	r.mine(bursar.Bitcoin, 3)
	first, err := r.refund(d, 0, nil)
	r.must(err)
	two := secondRefund{harness: r, d: d, first: first, payouts: withdrawal.Payouts{Chain: bursar.Bitcoin,
		Registry: r.Registry, IDs: r.IDs, Log: slog.New(slog.DiscardHandler)}}
	two.changed(func(tx *store.Tx, w bursar.Withdrawal) error {
		return two.payouts.Signed(ctx, tx, []bursar.Withdrawal{w}, "aa")
	})
	two.changed(func(tx *store.Tx, w bursar.Withdrawal) error {
		return two.payouts.Broadcast(ctx, tx, []bursar.Withdrawal{w})
	})
	two.changed(two.fail)
	two.second, err = r.refund(d, 0, nil)
	r.must(err)
	return two
}

// changed changes the first refund.
func (s secondRefund) changed(f func(tx *store.Tx, w bursar.Withdrawal) error) {
	s.t.Helper()
	s.do(func(tx *store.Tx) error {
		w, err := tx.Withdrawals().Lock(ctx, s.first.ID)
		if err != nil {
			return err
		}
		return f(tx, w)
	})
}

func (s secondRefund) fail(tx *store.Tx, w bursar.Withdrawal) error {
	return s.payouts.Refund(ctx, tx, w, "failed")
}

func (s secondRefund) unsettle(tx *store.Tx, w bursar.Withdrawal) error {
	return s.payouts.Unsettle(ctx, tx, w, nil)
}

// isLeft checks that the second refund is as it was, and that an alarm names the first one.
func (s secondRefund) isLeft() {
	s.t.Helper()
	got, err := s.Withdrawals.Get(ctx, s.account, s.second.ID)
	if s.must(err); got.Status != bursar.WithdrawalQueued {
		s.t.Errorf("the second refund is %s, want queued", got.Status)
	}
	var alarms []store.Alarm
	s.do(func(tx *store.Tx) (err error) {
		alarms, err = tx.Alarms().OfKind(ctx, "refunded_twice")
		return err
	})
	if len(alarms) != 1 || alarms[0].Ref != s.first.ID.String() {
		s.t.Errorf("the alarms are %+v, want one about %s", alarms, s.first.ID)
	}
}

// A refund fails, the payment is refunded again, and a reorg has the first one paid after all: the second one is
// cancelled, and nothing is paid twice, though the account could.
func TestAFailedRefundThatIsPaidAfterAll(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		two := r.secondRefund()
		before, _ := r.balance(r.account, "BTC")
		two.changed(two.unsettle)
		got, err := r.Withdrawals.Get(ctx, r.account, two.second.ID)
		if r.must(err); got.Status != bursar.WithdrawalCancelled {
			t.Errorf("the second refund is %s, want cancelled", got.Status)
		}
		if after, _ := r.balance(r.account, "BTC"); after != before {
			t.Errorf("the balance is %d, want the %d of before: one refund is held in place of the other", after, before)
		}
		if v := r.view(two.d); v.Payments[0].Refundable != "0.00000000" {
			t.Errorf("%s can be refunded, want nothing", v.Payments[0].Refundable)
		}
		two.changed(two.fail) // in another block
		if v := r.view(two.d); v.Payments[0].Refundable != "0.00099000" {
			t.Errorf("%s can be refunded once it has failed again, want 0.00099000", v.Payments[0].Refundable)
		}
		third, err := r.refund(two.d, 0, nil)
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
		two := r.secondRefund()
		two.changed(func(tx *store.Tx, w bursar.Withdrawal) error {
			if err := tx.Recoveries().Begin(ctx, bursar.Bitcoin, "a test"); err != nil {
				return err
			}
			return two.unsettle(tx, w)
		})
		two.isLeft()
	})
}

// The books have ended a second refund whose row somebody has set back. The first one is unsettled all the same, and
// what the account holds for others is not given back for the second.
func TestASecondRefundThatIsNotHeldIsNotCancelled(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		two := r.secondRefund()
		r.do(func(tx *store.Tx) error {
			return tx.Ledger().Post(ctx, ledger.WithdrawalRefunded(two.second, 0, tx.Now()))
		})
		before, _ := r.balance(r.account, "BTC")
		two.changed(two.unsettle)
		two.isLeft()
		if after, _ := r.balance(r.account, "BTC"); after != before-100_000+1_000 {
			t.Errorf("the balance is %d, want the %d of before less the first refund", after, before)
		}
	})
}

// The journal says that a second refund was paid by a transaction that the database lacks: it is not given back.
func TestASecondRefundThatTheJournalHasPaidIsNotCancelled(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		two := r.secondRefund()
		r.do(func(tx *store.Tx) error { return paidByJournal(tx, two.second) })
		two.changed(two.unsettle)
		two.isLeft()
	})
}

// paidByJournal records that an external spend, which an operator took for a loss, paid what the journal says that a
// withdrawal was paid by.
func paidByJournal(tx *store.Tx, w bursar.Withdrawal) error {
	theirs := bursar.OutgoingTx{ID: bursar.ID{8}, Chain: bursar.Bitcoin, Kind: string(chain.KindWithdrawal),
		Currency: w.Currency, Request: []byte(`{"kind":"withdrawal"}`), Unsigned: []byte(`{}`), TxID: "theirs", Height: 1}
	err := errors.Join(tx.Outgoing().InsertAdopted(ctx, theirs, nil), tx.ExternalSpends().Put(ctx, store.ExternalSpend{
		Chain: theirs.Chain, TxID: theirs.TxID, Height: theirs.Height, Status: store.ExternalSettled, OutgoingID: theirs.ID}))
	if err != nil {
		return err
	}
	x, err := tx.ExternalSpends().ByTx(ctx, theirs.Chain, theirs.TxID)
	if err != nil {
		return err
	}
	x.Booked = store.UsedUpAsLoss
	forgotten := store.ForgottenPayment{Chain: theirs.Chain, Number: 99, OutgoingID: bursar.ID{7},
		Content: []byte(`{"withdrawals":[{"id":"` + w.ID.String() + `"}]}`)}
	err = errors.Join(tx.ExternalSpends().Set(ctx, x), tx.ForgottenPayments().Note(ctx, forgotten))
	forgotten.KnownAs = theirs.ID
	return errors.Join(err, tx.ForgottenPayments().PutBack(ctx, forgotten))
}
