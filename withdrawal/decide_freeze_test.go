package withdrawal_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
)

// The pattern of a double-spender: a deposit, withdrawals of everything, and the deposit reorged out. Withdrawals that
// are queued or wait for approval are not paid while the account is frozen; once the deposit is back, they are.
func TestAFrozenAccountsWithdrawalsAreNotPaid(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		r.Pay(r.Wallet(1).Address, 900_000_000) // another customer's money
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		gone := r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Currency.ApprovalAbove = bursar.Units(50_000_000)
		r.Reconfigure()
		queued, err := r.Withdraw(0, 50_000_000, r.Chain.Named("queued"))
		r.Must(err)
		honest, err := r.Withdraw(1, 50_000_000, r.Chain.Named("honest"))
		r.Must(err)
		waiting, err := r.Withdraw(0, 400_000_000, r.Chain.Named("waiting"))
		r.Must(err)
		r.Chain.Reorg(3, gone)
		r.Chain.Mine(2)
		for range 10 {
			r.Step()
			r.Chain.Mine(1)
		}
		if _, err := r.Withdrawals.Approve(ctx, waiting.ID); !bursartest.IsCode(err, bursar.CodeWithdrawalsFrozen) {
			t.Errorf("a frozen account's withdrawal was approved: %v, want %v", err, bursar.CodeWithdrawalsFrozen)
		}
		for range 10 {
			r.Step()
			r.Chain.Mine(1)
		}
		for _, to := range []string{"queued", "waiting"} {
			if got := r.Chain.Balance(r.Chain.Named(to), ""); !got.IsZero() {
				t.Errorf("%s was paid to %s with other customers' money, want zero", got, to)
			}
		}
		if got := r.Chain.Balance(r.Chain.Named("honest"), ""); got != honest.Amount {
			t.Errorf("the honest customer was paid %s, want %s", got, honest.Amount)
		}
		r.Chain.Restore(gone)
		r.Chain.Mine(3)
		r.Step()
		if _, err := r.Withdrawals.Approve(ctx, waiting.ID); err != nil {
			t.Errorf("once the deposit is back: %v", err)
		}
		r.Settle()
		for to, w := range map[string]bursar.Withdrawal{"queued": queued, "waiting": waiting} {
			if got := r.Chain.Balance(r.Chain.Named(to), ""); got != w.Amount {
				t.Errorf("once the deposit is back, %s has %s, want %s", to, got, w.Amount)
			}
		}
		r.Must(r.Audit())
	})
}

// A freeze by an operator and one by a reorg are independent: the end of one does not end the other.
func TestEachFreezeEndsByItself(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		gone := r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Chain.Reorg(3, gone)
		r.Chain.Mine(3)
		r.Step()
		r.Halt(r.FreezeOf(0))
		r.Chain.Restore(gone)
		r.Chain.Mine(4)
		r.Step()
		if _, err := r.Withdraw(0, 50_000_000, r.Chain.Named("x")); !bursartest.IsCode(err, bursar.CodeWithdrawalsFrozen) {
			t.Fatalf("the return of the deposit ended an operator's freeze: %v, want %v", err, bursar.CodeWithdrawalsFrozen)
		}
		r.Resume(r.FreezeOf(0))
		if _, err := r.Withdraw(0, 50_000_000, r.Chain.Named("x")); err != nil {
			t.Error(err)
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// A batch that is assigned and even reserved is split: the frozen account's withdrawal waits, the others are paid.
func TestAFrozenAccountsWithdrawalIsTakenOutOfItsBatch(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Fund()
		r.Pay(r.Wallet(1).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		var orders []bursar.Withdrawal
		for i, account := range []int{0, 1, 0, 1} {
			w, err := r.Withdraw(account, 50_000_000, r.Chain.Named(string(rune('a'+i))))
			r.Must(err)
			orders = append(orders, w)
		}
		r.Sender.Signer, r.Trouble = bursartest.NoSigner, true // nothing is signed yet when the process ends
		r.Step()
		r.Halt(r.FreezeOf(0))
		r.Trouble = false
		r.Restart()
		r.StepAndMine(8)
		for i, w := range orders {
			want := w.Amount
			if w.AccountID == r.Accounts[0] {
				want = bursar.Amount{}
			}
			if got := r.Chain.Balance(w.Address.Base, ""); got != want {
				t.Errorf("withdrawal %d has paid %s, want %s", i, got, want)
			}
		}
		r.Resume(r.FreezeOf(0))
		r.Settle()
		for i, w := range orders {
			if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
				t.Errorf("after the freeze withdrawal %d has paid %s, want %s", i, got, w.Amount)
			}
		}
		r.Must(r.Audit())
	})
}

// Two deposits are reversed. One is credited again, the other is only seen again: the account stays frozen, because
// that block may be reorged out as well, and a queued withdrawal would be paid with other customers' money. The freeze
// ends once both are credited.
func TestAFreezeLastsUntilAllThatWasReversedIsCredited(t *testing.T) {
	bursartest.On(t, bursartest.UTXOModel, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 2_000_000_000)
		first, second := r.Pay(w.Address, 10_000_000), r.Pay(w.Address, 1_000_000_000)
		r.Chain.Mine(3)
		r.Step()
		r.Do(func(tx *store.Tx) error { // the withdrawal waits for another reason
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltCurrency("COIN"), Kind: store.HaltByOperator,
				Reason: "a look"})
		})
		order := r.Order(900_000_000, r.Chain.Named("double spender"))
		r.Undo(first, first, second)
		r.Step()
		r.Do(func(tx *store.Tx) error {
			_, err := tx.Halts().Lift(ctx, store.HaltCurrency("COIN"), store.HaltByOperator, "")
			return err
		})
		wantFrozen := func(when string, want bool) {
			t.Helper()
			r.View(func(tx *store.Tx) error {
				a, err := tx.Accounts().Get(ctx, r.Accounts[0])
				if (a.Frozen != "") != want {
					t.Errorf("%s the account's freeze is %q, want %v", when, a.Frozen, want)
				}
				return err
			})
		}
		wantFrozen("reversed,", true)
		r.Chain.Restore(first)
		r.Chain.Mine(2)
		r.Step()
		r.Chain.Restore(second)
		r.Chain.Mine(1) // the first is final, the second is seen
		r.Step()
		wantFrozen("with one of them pending,", true)
		r.Step()
		r.Chain.Reorg(1, second)
		r.Step()
		r.Chain.Mine(4)
		r.Step()
		r.Step()
		wantFrozen("with one of them orphaned,", true)
		if got := r.Chain.Balance(r.Chain.Named("double spender"), ""); !got.IsZero() {
			t.Errorf("%s were paid with other customers' money, want 0", got)
		}
		r.Chain.Restore(second)
		r.Settle()
		wantFrozen("with both of them credited,", false)
		if got := r.Chain.Balance(r.Chain.Named("double spender"), ""); got != order.Amount {
			t.Errorf("once both are credited, %s was paid, want %s", got, order.Amount)
		}
	})
}
