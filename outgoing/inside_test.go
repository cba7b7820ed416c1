package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// What a withdrawal pays to an address that became a wallet of this service meanwhile is a deposit there.
func TestAPaymentToAWalletThatIsNewIsItsDeposit(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		before := r.prepare()
		to := r.futureAddress(1)
		w := r.order(300_000_000, to.Base)
		if got := r.wallet(1).Address; got != to {
			t.Fatal("the address is not the one that is paid")
		}
		r.settle()
		r.settle()
		left := before.SubOrZero(w.Amount).SubOrZero(w.Fee)
		if a, b := r.available(0), r.available(1); a != left || b != bursar.Units(297_000_000) {
			t.Errorf("the payer has %s, want %s; the receiver %s", a, left, b)
		}
		r.must(r.audit())
	})
}

// The operator approves an order whose address became another currency's wallet meanwhile: it could not be credited.
func TestAnApprovalToAnotherCurrencysWalletIsRefused(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		limited, other := r.currency, r.currency
		limited.ApprovalAbove = bursar.Units(50_000_000)
		other.Code, other.Contract = "OTHER", r.chain.Named("contract")
		var err error
		r.registry, err = bursar.NewRegistry([]bursar.Currency{limited, other})
		r.must(err)
		r.restart()
		before := r.prepare()
		to := r.futureAddress(1)
		w := r.order(300_000_000, to.Base)
		r.walletOf(1, "OTHER")
		if _, err := r.withdrawals.Approve(ctx, w.ID); !isCode(err, bursar.CodeDestinationRefused) {
			t.Errorf("the approval gave %v", err)
		}
		if _, err := r.withdrawals.Reject(ctx, w.ID, "no"); err != nil {
			t.Error(err)
		}
		if got := r.available(0); got != before {
			t.Errorf("the payer has %s of %s", got, before)
		}
	})
}

// Zero-value spam is no deposit and holds nobody's deposit up.
func TestNothingArrivesWithNoValue(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 0)
		r.pay(bursar.Address{Base: r.hot.Base}, 0)
		r.pay(w.Address, 100_000_000)
		r.chain.Mine(3)
		r.step()
		if got := r.available(0); got != bursar.Units(99_000_000) {
			t.Errorf("%s is credited", got)
		}
		r.view(func(tx *store.Tx) error {
			list, err := tx.Deposits().List(ctx, r.accounts[0], w.ID, store.Page{Limit: 10})
			if len(list) != 1 {
				t.Errorf("%d deposits are recorded", len(list))
			}
			return err
		})
	})
}
