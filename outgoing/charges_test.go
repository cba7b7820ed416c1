package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// reconfigure starts another process with other settings of COIN.
func (r *harness) reconfigure(change func(*bursar.Currency)) {
	r.T.Helper()
	change(&r.Currency)
	var err error
	r.Registry, err = bursar.NewRegistry([]bursar.Currency{r.Currency})
	r.Must(err)
	r.Restart()
}

// chargeOf returns a charge as it is now.
func (r *harness) chargeOf(w bursar.Wallet) (c bursar.Charge) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		c, err = tx.Charges().Get(ctx, w.AccountID, w.ID)
		return err
	})
	return c
}

// If the minimum of a currency is raised after a charge was made, a payer who pays what the charge asks for has paid
// it. A payer who pays less has not, and neither has one who pays a wallet less than the new minimum.
func TestAChargeIsPaidByWhatItsPayerWasAskedFor(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		paid, short, plain := r.Charge(0, 2000), r.Charge(1, 2000), r.Wallet(2)
		r.reconfigure(func(c *bursar.Currency) { c.Minimum = bursar.Units(5000) })
		r.Pay(paid.Address, 2000)
		r.Pay(short.Address, 1999)
		r.Pay(plain.Address, 2000)
		r.Chain.Mine(3)
		r.Step()
		if !r.chargeOf(paid).Paid() || r.Available(0) != bursar.Units(1980) {
			t.Errorf("who paid what was asked for: paid %v, credited %s", r.chargeOf(paid).Paid(), r.Available(0))
		}
		if r.chargeOf(short).Paid() || !r.Available(1).IsZero() || !r.Available(2).IsZero() {
			t.Errorf("less is credited: paid %v, %s and %s", r.chargeOf(short).Paid(), r.Available(1), r.Available(2))
		}
		r.WantEvents(0, bursar.EventPaid)
		r.WantEvents(1)
	})
}

// If two payments reach a charge and the one that pays it is reorged out after it was credited, the other one pays it,
// and the merchant is notified of both.
func TestAChargeIsPaidByThePaymentThatStays(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		charge := r.Charge(0, 50_000)
		r.reconfigure(func(c *bursar.Currency) {
			c.Confirmations = bursar.Confirmations{Above: []bursar.ConfirmationsAbove{{Amount: bursar.Units(80_000), Count: 6}}}
		})
		r.Pay(charge.Address, 90_000) // needs six confirmations, and so is credited after the other
		r.Chain.Mine(1)
		r.Pay(charge.Address, 10_000) // too little
		r.Chain.Mine(1)
		second := r.Pay(charge.Address, 60_000)
		r.Chain.Mine(3)
		r.Step()
		if c := r.chargeOf(charge); !c.Paid() || len(c.Deposits) != 2 {
			t.Fatalf("it is paid: %v, by %d deposits", c.Paid(), len(c.Deposits))
		}
		r.Chain.Mine(1)
		r.Step()
		r.WantEvents(0, bursar.EventDeposit, bursar.EventPaid, bursar.EventDeposit)
		by := r.chargeOf(charge).PaidBy
		r.Trouble = true
		r.Undo(second, second)
		r.Chain.Mine(8)
		r.Step()
		if c := r.chargeOf(charge); !c.Paid() || c.PaidBy == by {
			t.Errorf("after the first that paid it was reorged out, it is paid: %v, by the same: %v", c.Paid(), c.PaidBy == by)
		}
		// The newest comes first.
		r.WantEvents(0, bursar.EventPaid, bursar.EventDepositReversed, bursar.EventDeposit, bursar.EventPaid,
			bursar.EventDeposit)
	})
}

// A deposit below the minimum that is reorged out was never credited, and leaves nothing in the books.
func TestAReorgedOutDepositBelowTheMinimumIsNotBooked(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		small := r.Pay(w.Address, 999)
		r.Chain.Mine(4)
		r.Step()
		if got := r.FirstDeposit(w).Status; got != bursar.DepositBelowMinimum {
			t.Fatalf("it is %s", got)
		}
		r.Undo(small, small)
		r.Chain.Mine(4)
		r.Step()
		if got := r.FirstDeposit(w).Status; got != bursar.DepositOrphaned {
			t.Errorf("after the reorg it is %s", got)
		}
		r.Must(r.Audit())
	})
}
