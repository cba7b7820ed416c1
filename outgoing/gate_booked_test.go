package outgoing_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// timed is both, over chains whose blocks have the time of now.
func timed(t *testing.T, now func() time.Time, test func(t *testing.T, r *harness)) {
	for name, config := range map[string]sim.Config{"utxo": bursartest.UTXOModel, "numbered": bursartest.Numbered} {
		config.Now = now
		t.Run(name, func(t *testing.T) { each(t, config, test) })
	}
}

// bookedWhileHidden has somebody with write access to the database hide a withdrawal while an external spend makes its
// payment, which an operator books as a loss, and show the withdrawal again afterwards.
func (r *harness) bookedWhileHidden(hide, show string) (w bursar.Withdrawal, x store.ExternalSpend) {
	r.T.Helper()
	r.Prepare()
	r.Settle()
	w = r.Order(200_000_000, r.Chain.Named("receiver"))
	sql := intruder(r.T.(*testing.T), r.DB)
	sql(hide, w.ID[:])
	hash := r.Chain.ExternalSpend(r.Hot.Base, r.toReceiver())
	r.Trouble, r.Forged = true, true
	r.Chain.Mine(4)
	r.Step()
	if _, err := r.SettleExternal(); err != nil {
		r.T.Fatal(err)
	}
	sql(show, w.ID[:])
	r.Blocks(10)
	return w, r.externalSpend(hash)
}

// A payment that an operator booked as a loss may be that of a withdrawal which nobody could see then. It is not paid
// before the operator says that it was another payment.
func TestWhatWasBookedMayHavePaidAWithdrawalThatWasHidden(t *testing.T) {
	for name, tc := range map[string]struct{ hide, show string }{
		"it looked ended": {`UPDATE withdrawals SET completed_at = 5 WHERE id = $1`,
			`UPDATE withdrawals SET completed_at = 0 WHERE id = $1`},
		"it looked paid": {`UPDATE withdrawals SET status = 'confirmed', completed_at = 5 WHERE id = $1`,
			`UPDATE withdrawals SET status = 'queued', completed_at = 0 WHERE id = $1`},
	} {
		t.Run(name, func(t *testing.T) {
			timed(t, time.Now, func(t *testing.T, r *harness) {
				w, x := r.bookedWhileHidden(tc.hide, tc.show)
				if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
					t.Fatalf("the receiver holds %s, want the %s that it was paid once", got, w.Amount)
				}
				r.noted(r.Now(w).OutgoingID, x.TxID, fmt.Sprintf("`bursar recovery adopt %d --withdrawal %s`", x.Number, w.ID),
					fmt.Sprintf("`bursar recovery deny %s %s", w.ID, x.TxID))
				if !r.alarmed(recovery.AlarmUnclear) {
					t.Error("no alarm says so")
				}
				r.Must(r.Resolve(recovery.Answer{Item: x.Number, Withdrawals: []bursar.ID{w.ID}, Actor: "ann"}))
				r.Blocks(10)
				if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID != x.TxID {
					t.Errorf("the withdrawal is %s by %s, want %s by %s", now.Status, now.TxID, bursar.WithdrawalConfirmed, x.TxID)
				}
				if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
					t.Errorf("the receiver holds %s, want %s", got, w.Amount)
				}
				r.wantNone(recovery.AlarmUnclear)
				r.Must(r.Audit())
			})
		})
	}
}

// The operator says that it was another payment: the withdrawal is paid.
func TestAWithdrawalIsPaidBesideAnEqualPaymentThatWasBooked(t *testing.T) {
	timed(t, time.Now, func(t *testing.T, r *harness) {
		w, x := r.bookedWhileHidden(`UPDATE withdrawals SET completed_at = 5 WHERE id = $1`,
			`UPDATE withdrawals SET completed_at = 0 WHERE id = $1`)
		r.Must(r.deny(w.ID, x.TxID))
		r.Blocks(10)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID == x.TxID {
			t.Errorf("the withdrawal is %s by %s, want %s by another one", now.Status, now.TxID, bursar.WithdrawalConfirmed)
		}
		r.wantNone(recovery.AlarmUnclear)
	})
}

// Nobody cancels the withdrawal before the operator says that it was another payment: its money would be given back
// although it was paid. Then they may: the alarm is closed.
func TestAWithdrawalThatMayHaveBeenPaidIsNotCancelled(t *testing.T) {
	timed(t, time.Now, func(t *testing.T, r *harness) {
		w, x := r.bookedWhileHidden(`UPDATE withdrawals SET completed_at = 5 WHERE id = $1`,
			`UPDATE withdrawals SET completed_at = 0 WHERE id = $1`)
		if _, err := r.Withdrawals.Cancel(ctx, w.ID); !errors.Is(err, withdrawal.ErrTooLate) ||
			!strings.Contains(err.Error(), "recovery deny "+w.ID.String()+" "+x.TxID) {
			t.Errorf("it is cancelled with %v, want %v and the command", err, withdrawal.ErrTooLate)
		}
		if !r.alarmed(recovery.AlarmUnclear) {
			t.Error("no alarm says that it waits")
		}
		r.Must(r.deny(w.ID, x.TxID))
		if _, err := r.Withdrawals.Cancel(ctx, w.ID); err != nil {
			t.Fatal(err)
		}
		r.Blocks(5)
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		r.wantNone(recovery.AlarmUnclear)
	})
}

// Of the withdrawals that one transaction would pay, only the one that may have been paid waits.
func TestOthersDoNotWaitForAnAnswer(t *testing.T) {
	timed(t, time.Now, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		hash := r.Chain.ExternalSpend(r.Hot.Base, r.toReceiver())
		r.Chain.Mine(4)
		r.Trouble = true
		r.Step()
		var others []bursar.Withdrawal
		suspect := bursar.Withdrawal{}
		for i := range 5 {
			if i == 2 {
				suspect = r.Order(200_000_000, r.Chain.Named("receiver"))
			}
			others = append(others, r.Order(1_000_000, r.Chain.Named(fmt.Sprint("other ", i))))
		}
		_, err := r.SettleExternal()
		r.Must(err)
		r.Blocks(10)
		for _, w := range others {
			if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed {
				t.Errorf("withdrawal %s is %s: %s, want %s", w.ID, now.Status, r.errors(), bursar.WithdrawalConfirmed)
			}
		}
		if now := r.Now(suspect); now.Status != bursar.WithdrawalQueued {
			t.Errorf("what %s may have paid is %s, want %s", hash, now.Status, bursar.WithdrawalQueued)
		}
	})
}

// One external spend may have paid either of two equal withdrawals. An answer about one leaves the alarm of the other.
func TestAnAnswerIsAboutOneWithdrawal(t *testing.T) {
	timed(t, time.Now, func(t *testing.T, r *harness) {
		first, x := r.bookedWhileHidden(`UPDATE withdrawals SET completed_at = 5 WHERE id = $1`,
			`UPDATE withdrawals SET completed_at = 0 WHERE id = $1`)
		second := r.Order(200_000_000, r.Chain.Named("receiver"))
		r.Step()
		r.Must(r.deny(second.ID, x.TxID))
		r.Blocks(10)
		if now := r.Now(second); now.Status != bursar.WithdrawalConfirmed || now.TxID == x.TxID {
			t.Errorf("the second is %s by %s: %s, want %s by another one", now.Status, now.TxID, r.errors(),
				bursar.WithdrawalConfirmed)
		}
		if now := r.Now(first); now.Status != bursar.WithdrawalQueued || !r.alarmed(recovery.AlarmUnclear) {
			t.Errorf("the first is %s, want %s and an alarm", now.Status, bursar.WithdrawalQueued)
		}
	})
}

// A payment that was made long before a withdrawal was ordered did not pay it.
func TestAnEqualPaymentOfBeforeHoldsNothingBack(t *testing.T) {
	timed(t, func() time.Time { return time.Now().Add(-4 * time.Hour) }, func(t *testing.T, r *harness) {
		w, x := r.bookedWhileHidden(`UPDATE withdrawals SET completed_at = 5 WHERE id = $1`,
			`UPDATE withdrawals SET completed_at = 0 WHERE id = $1`)
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID == x.TxID {
			t.Errorf("the withdrawal is %s by %s: %s, want %s by another one", now.Status, now.TxID, r.errors(),
				bursar.WithdrawalConfirmed)
		}
	})
}

// A chain is not resumed, and what halted it not booked, while an order is altered: it may have paid that.
func TestAChainIsNotResumedWhileAnOrderIsAltered(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(200_000_000, r.Chain.Named("receiver"))
		sql := intruder(t, r.DB)
		sql(`UPDATE withdrawals SET amount = '200000001' WHERE id = $1`, w.ID[:])
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: w.Address, Amount: w.Amount})
		r.Trouble, r.Forged = true, true
		r.Chain.Mine(4)
		r.Step()
		if _, err := r.SettleExternal(); !errors.Is(err, store.ErrAltered) {
			t.Errorf("resuming gives %v, want %v", err, store.ErrAltered)
		}
		sql(`UPDATE withdrawals SET amount = '200000000' WHERE id = $1`, w.ID[:])
		if _, err := r.SettleExternal(); err != nil {
			t.Errorf("resuming after the repair gives %v, want none", err)
		}
	})
}
