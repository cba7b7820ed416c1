package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The pattern of a double-spender: a deposit, withdrawals of everything, and the deposit reorged out. Withdrawals that
// are queued or wait for approval are not paid while the account is frozen; once the deposit is back, they are.
func TestAFrozenAccountsWithdrawalsAreNotPaid(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(1).Address, 900_000_000) // another customer's money
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		gone := r.pay(r.wallet(0).Address, 900_000_000)
		r.chain.Mine(3)
		r.step()
		limited := r.currency
		limited.ApprovalAbove = bursar.Units(50_000_000)
		var err error
		r.registry, err = bursar.NewRegistry([]bursar.Currency{limited})
		r.must(err)
		r.restart()
		queued, err := r.withdraw(0, 50_000_000, r.chain.Named("queued"))
		r.must(err)
		honest, err := r.withdraw(1, 50_000_000, r.chain.Named("honest"))
		r.must(err)
		waiting, err := r.withdraw(0, 400_000_000, r.chain.Named("waiting"))
		r.must(err)
		r.chain.Reorg(3, gone)
		r.chain.Mine(2)
		for range 10 {
			r.step()
			r.chain.Mine(1)
		}
		if _, err := r.withdrawals.Approve(ctx, waiting.ID); !isCode(err, bursar.CodeWithdrawalsFrozen) {
			t.Errorf("a frozen account's withdrawal was approved: %v", err)
		}
		for range 10 {
			r.step()
			r.chain.Mine(1)
		}
		for _, to := range []string{"queued", "waiting"} {
			if got := r.chain.Balance(r.chain.Named(to), ""); !got.IsZero() {
				t.Errorf("%s was paid to %s with other customers' money", got, to)
			}
		}
		if got := r.chain.Balance(r.chain.Named("honest"), ""); got != honest.Amount {
			t.Errorf("the honest customer was paid %s", got)
		}
		r.chain.Restore(gone)
		r.chain.Mine(3)
		r.step()
		if _, err := r.withdrawals.Approve(ctx, waiting.ID); err != nil {
			t.Errorf("once the deposit is back: %v", err)
		}
		r.settle()
		for to, w := range map[string]bursar.Withdrawal{"queued": queued, "waiting": waiting} {
			if got := r.chain.Balance(r.chain.Named(to), ""); got != w.Amount {
				t.Errorf("once the deposit is back, %s has %s", to, got)
			}
		}
		r.must(r.audit())
	})
}

func (r *harness) halt(h store.Halt) {
	r.do(func(tx *store.Tx) error { return tx.Halts().Put(ctx, h) })
}

func (r *harness) resume(h store.Halt) {
	r.t.Helper()
	r.do(func(tx *store.Tx) error {
		if n, err := tx.Halts().Lift(ctx, h.Scope, h.Kind, h.Ref); err != nil || n != 1 {
			r.t.Errorf("%d halts of %s ended: %v", n, h.Scope, err)
		}
		return nil
	})
}

func (r *harness) freezeOf(account int) store.Halt {
	return store.Halt{Scope: store.HaltAccount(r.accounts[account]), Kind: store.HaltByOperator,
		Reason: "a call from the police", Actor: "ann"}
}

// A freeze by an operator and one by a reorg are independent: the end of one does not end the other.
func TestFreezesEndOneByOne(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		gone := r.pay(r.wallet(0).Address, 900_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 900_000_000)
		r.chain.Mine(3)
		r.step()
		r.chain.Reorg(3, gone)
		r.chain.Mine(3)
		r.step()
		r.halt(r.freezeOf(0))
		r.chain.Restore(gone)
		r.chain.Mine(4)
		r.step()
		if _, err := r.withdraw(0, 50_000_000, r.chain.Named("x")); !isCode(err, bursar.CodeWithdrawalsFrozen) {
			t.Fatalf("the return of the deposit ended an operator's freeze: %v", err)
		}
		r.resume(r.freezeOf(0))
		if _, err := r.withdraw(0, 50_000_000, r.chain.Named("x")); err != nil {
			t.Error(err)
		}
		r.settle()
		r.must(r.audit())
	})
}

// A batch that is assigned and even reserved is split: the frozen account's withdrawal waits, the others are paid.
func TestABatchIsSplit(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		r.pay(r.wallet(1).Address, 900_000_000)
		r.chain.Mine(3)
		r.step()
		var orders []bursar.Withdrawal
		for i, account := range []int{0, 1, 0, 1} {
			w, err := r.withdraw(account, 50_000_000, r.chain.Named(string(rune('a'+i))))
			r.must(err)
			orders = append(orders, w)
		}
		r.signer, r.trouble = nil, true // nothing is signed yet when the process ends
		r.restart()
		r.sender.Signer = mute{}
		r.step()
		r.halt(r.freezeOf(0))
		r.trouble = false
		r.restart()
		r.sender.Signer = honest(r)
		r.stepAndMine(8)
		for i, w := range orders {
			want := w.Amount
			if w.AccountID == r.accounts[0] {
				want = bursar.Amount{}
			}
			if got := r.chain.Balance(w.Address.Base, ""); got != want {
				t.Errorf("withdrawal %d has paid %s, want %s", i, got, want)
			}
		}
		r.resume(r.freezeOf(0))
		r.settle()
		for i, w := range orders {
			if got := r.chain.Balance(w.Address.Base, ""); got != w.Amount {
				t.Errorf("after the freeze withdrawal %d has paid %s", i, got)
			}
		}
		r.must(r.audit())
	})
}

func (r *harness) stepAndMine(n int) {
	r.t.Helper()
	for range n {
		r.step()
		r.chain.Mine(1)
	}
	r.step()
}

// Two deposits are reversed. One is credited again, the other is only seen again: the account stays frozen, because
// that block may be reorged out as well, and a queued withdrawal would be paid with other customers' money. The freeze
// ends once both are credited.
func TestAFreezeLastsUntilAllThatWasReversedIsCredited(t *testing.T) {
	each(t, utxoModel, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(bursar.Address{Base: r.hot.Base}, 2_000_000_000)
		first, second := r.pay(w.Address, 10_000_000), r.pay(w.Address, 1_000_000_000)
		r.chain.Mine(3)
		r.step()
		r.do(func(tx *store.Tx) error { // the withdrawal waits for another reason
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltCurrency("COIN"), Kind: store.HaltByOperator,
				Reason: "a look"})
		})
		order := r.order(900_000_000, r.chain.Named("double spender"))
		r.undo(first, first, second)
		r.step()
		r.do(func(tx *store.Tx) error {
			_, err := tx.Halts().Lift(ctx, store.HaltCurrency("COIN"), store.HaltByOperator, "")
			return err
		})
		wantFrozen := func(when string, want bool) {
			t.Helper()
			r.view(func(tx *store.Tx) error {
				a, err := tx.Accounts().Get(ctx, r.accounts[0])
				if (a.Frozen != "") != want {
					t.Errorf("%s the account's freeze is %q", when, a.Frozen)
				}
				return err
			})
		}
		wantFrozen("reversed,", true)
		r.chain.Restore(first)
		r.chain.Mine(2)
		r.step()
		r.chain.Restore(second)
		r.chain.Mine(1) // the first is final, the second is seen
		r.step()
		wantFrozen("with one of them pending,", true)
		r.step()
		r.chain.Reorg(1, second)
		r.step()
		r.chain.Mine(4)
		r.step()
		r.step()
		wantFrozen("with one of them orphaned,", true)
		if got := r.chain.Balance(r.chain.Named("double spender"), ""); !got.IsZero() {
			t.Errorf("%s were paid with other customers' money", got)
		}
		r.chain.Restore(second)
		r.settle()
		wantFrozen("with both of them credited,", false)
		if got := r.chain.Balance(r.chain.Named("double spender"), ""); got != order.Amount {
			t.Errorf("once both are credited, %s was paid", got)
		}
	})
}
