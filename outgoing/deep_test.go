package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Withdrawals that were settled or refunded, and sweeps that were settled, before a reorg deeper than finality.

func TestARefundIsUndoneWhenThePaymentSucceedsAfterAll(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("closed at first")
		r.chain.Close(to)
		w := r.order(300_000_000, to)
		r.settle()
		r.ends(w, to, bursar.WithdrawalFailed, before)
		r.chain.Open(to)
		r.undo(r.now(w).TxID)
		r.step()
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

func TestASettledPaymentIsRefundedWhenItFailsAfterAll(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("closed later")
		w := r.order(300_000_000, to)
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
		r.chain.Close(to)
		r.undo(r.now(w).TxID)
		r.step()
		r.settle()
		r.ends(w, to, bursar.WithdrawalFailed, before)
		r.chain.Open(to)
		r.undo(r.now(w).TxID)
		r.step()
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// A customer who has spent a refund that is undone owes it, and is frozen.
func TestARefundThatWasSpentAlreadyIsOwed(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		before, closed, second := r.prepare(), r.chain.Named("closed at first"), r.chain.Named("second")
		r.chain.Close(closed)
		w := r.order(600_000_000, closed)
		r.settle()
		again := r.order(600_000_000, second)
		r.settle()
		r.chain.Open(closed)
		r.undo(r.now(w).TxID)
		r.step()
		r.settle()
		r.view(func(tx *store.Tx) error {
			b, err := tx.Ledger().Balance(ctx, ledger.Available(r.accounts[0]), "COIN")
			owed, negative := b.Net(ledger.Liability)
			sum, _ := bursar.Sum(w.Amount, w.Fee, again.Amount, again.Fee)
			if err != nil || !negative || owed != sum.SubOrZero(before) {
				t.Errorf("the balance is %s, below zero: %v (%v)", owed, negative, err)
			}
			account, err := tx.Accounts().Get(ctx, r.accounts[0])
			if account.Frozen == "" {
				t.Error("the account is not frozen")
			}
			return err
		})
		if a, b := r.chain.Balance(closed, ""), r.chain.Balance(second, ""); a != w.Amount || b != again.Amount {
			t.Errorf("the receivers hold %s and %s", a, b)
		}
		r.must(r.audit())
	})
}

// In another block a transaction's fee may differ: the fee of the last block is booked.
func TestTheFeeOfTheLastBlockIsBooked(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.settle()
		id := r.now(w).TxID
		r.chain.SetRate(7)
		r.undo(id, id)
		r.step()
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// Both versions of a replaced transaction become final, one after the other.
func TestAnotherVersionBecomesFinalAfterAll(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.step()
		first := r.now(w).TxID
		r.chain.SetRate(40)
		r.settle()
		second := r.now(w).TxID
		if first == second {
			t.Fatal("its fee was not bumped")
		}
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
		r.chain.SetRate(10)
		r.undo(second, second)
		r.must(r.chain.Broadcast(ctx, r.version(first)))
		r.chain.Mine(1)
		r.step()
		r.settle()
		if got := r.now(w).TxID; got != first {
			t.Errorf("it is paid by %s, want %s", got, first)
		}
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// The books of an address are right after its sweep was final, was reorged out and was included again beside a new
// deposit.
func TestASweepThatComesBackTakesNothingElse(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 400_000_000)
		r.chain.Mine(3)
		r.step()
		r.step()
		sweep := r.open()[0]
		r.settle()
		r.undo(sweep.TxID, sweep.TxID)
		r.step()
		r.pay(w.Address, 500_000_000)
		r.chain.Mine(3)
		r.settle()
		for range 3 {
			r.step()
			r.settle()
		}
		if left := r.chain.Balance(w.Address.Base, ""); !left.Less(bursar.Units(10_000_000)) {
			t.Errorf("%s stays at the address", left)
		}
		r.must(r.audit())
	})
}

// A version that was not included is built again, byte for byte, when the one that was included has been reorged out
// and its fee is too low again.
func TestABumpThatLostIsMadeAgain(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.step()
		low := r.version(r.now(w).TxID)
		r.chain.SetRate(40)
		for range 9 {
			if r.now(w).TxID == low.TxID {
				r.chain.Mine(1)
				r.step()
			}
		}
		r.chain.SetRate(10)
		r.chain.Forget()
		r.must(r.chain.Broadcast(ctx, low))
		r.settle()
		if got := r.now(w).TxID; got != low.TxID {
			t.Fatalf("it is paid by %s", got)
		}
		r.chain.SetRate(40)
		r.undo(low.TxID, low.TxID)
		r.step()
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}
