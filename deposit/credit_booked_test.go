package deposit_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
	"pgregory.net/rapid"
)

// Whatever the fees of a currency and of an account are, a deposit's amount is the sum of what is credited and what is
// taken, in the API's answer as in the books, on either database.
func TestADepositIsTheSumOfCreditAndFee(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := bursartest.NewOneChain(t, db, sim.Config{ID: bursar.Bitcoin, Family: "bitcoin"})
		r.Step()
		w := r.Wallet(0)
		rapid.Check(t, func(t *rapid.T) {
			fee := bursar.Fee{Millionths: rapid.Uint32Range(0, 1_000_000).Draw(t, "millionths"),
				Fixed: bursar.Units(rapid.Uint64().Draw(t, "fixed"))}
			if rapid.Bool().Draw(t, "small") {
				fee.Fixed = bursar.Units(rapid.Uint64Range(0, 5000).Draw(t, "fixed"))
			}
			brought := bursar.Units(rapid.Uint64Range(1000, 1<<40).Draw(t, "amount"))
			r.Charged(0, bursar.FeeOfDeposit, fee)
			before, taken := r.Available(0), r.Income(ledger.DepositFees)
			r.Pay(w.Address, bursartest.Fit(brought))
			r.Chain.Mine(1)
			r.Step()
			var d bursar.Deposit
			r.View(func(tx *store.Tx) error {
				list, err := tx.Deposits().List(ctx, r.Accounts[0], w.ID, store.Page{Limit: 1})
				if err == nil {
					d = list[0]
				}
				return err
			})
			if d.Amount != brought || d.Status != bursar.DepositConfirmed || d.Fee != fee.Within(brought) {
				t.Fatalf("by %+v the deposit of %s is %+v", fee, brought, d)
			}
			left := brought.SubOrZero(d.Fee)
			if whole, _ := before.Add(left); r.Available(0) != whole {
				t.Fatalf("%s and %s are %s, want %v", before, left, r.Available(0), whole)
			}
			if whole, _ := taken.Add(d.Fee); r.Income(ledger.DepositFees) != whole {
				t.Fatalf("the operator had %s and took %s: %s, want %v", taken, d.Fee, r.Income(ledger.DepositFees), whole)
			}
		})
		r.Must(r.Audit())
	})
}

// Zero-value spam is no deposit and delays no deposit.
func TestAZeroValueTransferIsNoDeposit(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 0)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 0)
		r.Pay(w.Address, 100_000_000)
		r.Chain.Mine(3)
		r.Step()
		if got := r.Available(0); got != bursar.Units(99_000_000) {
			t.Errorf("%s is credited, want %v", got, bursar.Units(99_000_000))
		}
		r.View(func(tx *store.Tx) error {
			list, err := tx.Deposits().List(ctx, r.Accounts[0], w.ID, store.Page{Limit: 10})
			if len(list) != 1 {
				t.Errorf("%d deposits are recorded, want 1", len(list))
			}
			return err
		})
	})
}
