package deposit_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
)

// A charge is paid by one deposit in time and in full; a deposit that is too small or too late is credited.
func TestChargesArePaidByDeposits(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		paid, short := r.Charge(0, 50_000_000), r.Charge(0, 50_000_000)
		r.Pay(paid.Address, 50_000_000)
		r.Pay(paid.Address, 7_000_000)
		r.Pay(short.Address, 49_999_999)
		r.Chain.Mine(3)
		r.Step()
		r.View(func(tx *store.Tx) error {
			a, err := tx.Charges().Get(ctx, r.Accounts[0], paid.ID)
			b, _ := tx.Charges().Get(ctx, r.Accounts[0], short.ID)
			if !a.Paid() || len(a.Deposits) != 2 || b.Paid() || len(b.Deposits) != 1 {
				t.Errorf("paid %v with %d deposits, short %v with %d", a.Paid(), len(a.Deposits), b.Paid(), len(b.Deposits))
			}
			events, _ := tx.Deliveries().List(ctx, r.Accounts[0], store.Page{Limit: 10})
			kinds := map[bursar.EventKind]int{}
			for _, e := range events {
				kinds[e.Kind]++
			}
			if kinds[bursar.EventPaid] != 1 || kinds[bursar.EventDeposit] != 2 {
				t.Errorf("the events are %v, want 1 and 2", kinds)
			}
			return err
		})
		if got := r.Available(0); got != bursar.Units(105_929_999) { // 106,999,999 less 1 %, each fee rounded up
			t.Errorf("available is %s, want %v", got, bursar.Units(105_929_999))
		}
	})
}

// chargeOf returns a charge as it is now.
func chargeOf(r *bursartest.OneChain, w bursar.Wallet) (c bursar.Charge) {
	r.T.Helper()
	r.View(func(tx *store.Tx) (err error) {
		c, err = tx.Charges().Get(ctx, w.AccountID, w.ID)
		return err
	})
	return c
}

// If the minimum of a currency is raised after a charge was made, a payer who pays what the charge asks for has paid
// it. A payer who pays less has not, and neither has one who pays a wallet less than the new minimum.
func TestARaisedMinimumChangesNoCharge(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		paid, short, plain := r.Charge(0, 2000), r.Charge(1, 2000), r.Wallet(2)
		r.Currency.Minimum = bursar.Units(5000)
		r.Reconfigure()
		r.Pay(paid.Address, 2000)
		r.Pay(short.Address, 1999)
		r.Pay(plain.Address, 2000)
		r.Chain.Mine(3)
		r.Step()
		if !chargeOf(r, paid).Paid() || r.Available(0) != bursar.Units(1980) {
			t.Errorf("who paid what was asked for: paid %v, credited %s", chargeOf(r, paid).Paid(), r.Available(0))
		}
		if chargeOf(r, short).Paid() || !r.Available(1).IsZero() || !r.Available(2).IsZero() {
			t.Errorf("less is credited: paid %v, %s and %s", chargeOf(r, short).Paid(), r.Available(1), r.Available(2))
		}
		r.WantEvents(0, bursar.EventPaid)
		r.WantEvents(1)
	})
}
