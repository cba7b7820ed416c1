package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// reconfigure starts another process with other settings of COIN.
func (r *harness) reconfigure(change func(*bursar.Currency)) {
	r.t.Helper()
	change(&r.currency)
	var err error
	r.registry, err = bursar.NewRegistry([]bursar.Currency{r.currency})
	r.must(err)
	r.restart()
}

// chargeOf is a charge as it is now.
func (r *harness) chargeOf(w bursar.Wallet) (c bursar.Charge) {
	r.t.Helper()
	r.view(func(tx *store.Tx) (err error) {
		c, err = tx.Charges().Get(ctx, w.AccountID, w.ID)
		return err
	})
	return c
}

// The minimum of a currency is raised after a charge was made. Anyone who pays what the charge asks for has paid it;
// anyone who pays less has not, and neither has one who pays to a wallet what is too little by now.
func TestAChargeIsPaidByWhatItsPayerWasAskedFor(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		paid, short, plain := r.charge(0, 2000), r.charge(1, 2000), r.wallet(2)
		r.reconfigure(func(c *bursar.Currency) { c.Minimum = bursar.Units(5000) })
		r.pay(paid.Address, 2000)
		r.pay(short.Address, 1999)
		r.pay(plain.Address, 2000)
		r.chain.Mine(3)
		r.step()
		if !r.chargeOf(paid).Paid() || r.available(0) != bursar.Units(1980) {
			t.Errorf("who paid what was asked for: paid %v, credited %s", r.chargeOf(paid).Paid(), r.available(0))
		}
		if r.chargeOf(short).Paid() || !r.available(1).IsZero() || !r.available(2).IsZero() {
			t.Errorf("less is credited: paid %v, %s and %s", r.chargeOf(short).Paid(), r.available(1), r.available(2))
		}
		r.wantEvents(0, bursar.EventPaid)
		r.wantEvents(1)
	})
}

// Two payments reach a charge. The one that pays it is reorged out after it was credited: the other, which stays, pays
// it then, and the merchant hears of both.
func TestAChargeIsPaidByThePaymentThatStays(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		charge := r.charge(0, 50_000)
		r.reconfigure(func(c *bursar.Currency) {
			c.Confirmations = bursar.Confirmations{Above: []bursar.ConfirmationsAbove{{Amount: bursar.Units(80_000), Count: 6}}}
		})
		r.pay(charge.Address, 90_000) // needs six confirmations, and so is credited after the other
		r.chain.Mine(1)
		r.pay(charge.Address, 10_000) // too little
		r.chain.Mine(1)
		second := r.pay(charge.Address, 60_000)
		r.chain.Mine(3)
		r.step()
		if c := r.chargeOf(charge); !c.Paid() || len(c.Deposits) != 2 {
			t.Fatalf("it is paid: %v, by %d deposits", c.Paid(), len(c.Deposits))
		}
		r.chain.Mine(1)
		r.step()
		r.wantEvents(0, bursar.EventDeposit, bursar.EventPaid, bursar.EventDeposit)
		by := r.chargeOf(charge).PaidBy
		r.trouble = true
		r.undo(second, second)
		r.chain.Mine(8)
		r.step()
		if c := r.chargeOf(charge); !c.Paid() || c.PaidBy == by {
			t.Errorf("after the first that paid it has left, it is paid: %v, by the same: %v", c.Paid(), c.PaidBy == by)
		}
		// The newest comes first.
		r.wantEvents(0, bursar.EventPaid, bursar.EventDepositReversed, bursar.EventDeposit, bursar.EventPaid,
			bursar.EventDeposit)
	})
}

// What was too small to credit is reorged out: it was never anybody's, and nothing of it stays in the books.
func TestWhatWasTooSmallAndLeavesIsForgotten(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		small := r.pay(w.Address, 999)
		r.chain.Mine(4)
		r.step()
		if got := r.firstDeposit(w).Status; got != bursar.DepositBelowMinimum {
			t.Fatalf("it is %s", got)
		}
		r.undo(small, small)
		r.chain.Mine(4)
		r.step()
		if got := r.firstDeposit(w).Status; got != bursar.DepositOrphaned {
			t.Errorf("after it left it is %s", got)
		}
		r.must(r.audit())
	})
}
