package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Withdrawals that were settled or refunded, and sweeps that were settled, before a reorg deeper than finality.

func TestARefundIsUndoneWhenThePaymentSucceedsAfterAll(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("closed at first")
		r.Chain.Close(to)
		w := r.Order(300_000_000, to)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalFailed, before)
		r.Chain.Open(to)
		r.Undo(r.Now(w).TxID)
		r.Step()
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

func TestASettledPaymentIsRefundedWhenItFailsAfterAll(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("closed later")
		w := r.Order(300_000_000, to)
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		r.Chain.Close(to)
		r.Undo(r.Now(w).TxID)
		r.Step()
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalFailed, before)
		r.Chain.Open(to)
		r.Undo(r.Now(w).TxID)
		r.Step()
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// A customer who has spent a refund that is undone owes it, and is frozen.
func TestARefundThatWasSpentAlreadyIsOwed(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		before, closed, second := r.Prepare(), r.Chain.Named("closed at first"), r.Chain.Named("second")
		r.Chain.Close(closed)
		w := r.Order(600_000_000, closed)
		r.Settle()
		again := r.Order(600_000_000, second)
		r.Settle()
		r.Chain.Open(closed)
		r.Undo(r.Now(w).TxID)
		r.Step()
		r.Settle()
		r.View(func(tx *store.Tx) error {
			b, err := tx.Ledger().Balance(ctx, ledger.Available(r.Accounts[0]), "COIN")
			owed, negative := b.Net(ledger.Liability)
			sum, _ := bursar.Sum(w.Amount, w.Fee, again.Amount, again.Fee)
			if err != nil || !negative || owed != sum.SubOrZero(before) {
				t.Errorf("the balance is %s, below zero: %v (%v)", owed, negative, err)
			}
			account, err := tx.Accounts().Get(ctx, r.Accounts[0])
			if account.Frozen == "" {
				t.Error("the account is not frozen")
			}
			return err
		})
		if a, b := r.Chain.Balance(closed, ""), r.Chain.Balance(second, ""); a != w.Amount || b != again.Amount {
			t.Errorf("the receivers hold %s and %s, want %s and %s", a, b, w.Amount, again.Amount)
		}
		r.Must(r.Audit())
	})
}

// In another block a transaction's fee may differ: the fee of the last block is booked.
func TestTheFeeOfTheLastBlockIsBooked(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Settle()
		id := r.Now(w).TxID
		r.Chain.SetRate(7)
		r.Undo(id, id)
		r.Step()
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// Both versions of a replaced transaction become final, one after the other.
func TestAnotherVersionBecomesFinalAfterAll(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Step()
		first := r.Now(w).TxID
		r.Chain.SetRate(40)
		r.Settle()
		second := r.Now(w).TxID
		if first == second {
			t.Fatal("its fee was not bumped")
		}
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
		r.Chain.SetRate(10)
		r.Undo(second, second)
		r.Must(r.Chain.Broadcast(ctx, r.version(first)))
		r.Chain.Mine(1)
		r.Step()
		r.Settle()
		if got := r.Now(w).TxID; got != first {
			t.Errorf("the withdrawal is paid by %s, want %s", got, first)
		}
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// The books of an address are right after its sweep was final, was reorged out and was included again beside a new
// deposit.
func TestASweepThatComesBackTakesNothingElse(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 400_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Step()
		sweep := r.Open()[0]
		r.Settle()
		r.Undo(sweep.TxID, sweep.TxID)
		r.Step()
		r.Pay(w.Address, 500_000_000)
		r.Chain.Mine(3)
		r.Settle()
		for range 3 {
			r.Step()
			r.Settle()
		}
		if left := r.Chain.Balance(w.Address.Base, ""); !left.Less(bursar.Units(10_000_000)) {
			t.Errorf("%s stays at the address", left)
		}
		r.Must(r.Audit())
	})
}

// A version that was not included is built again, byte for byte, when the one that was included has been reorged out
// and its fee is too low again.
func TestABumpThatLostIsMadeAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		w := r.Order(300_000_000, to)
		r.Step()
		low, _ := r.loseBump(w)
		r.Settle()
		if got := r.Now(w).TxID; got != low.TxID {
			t.Fatalf("the withdrawal is paid by %s, want %s", got, low.TxID)
		}
		r.Chain.SetRate(40)
		r.Undo(low.TxID, low.TxID)
		r.Step()
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}
