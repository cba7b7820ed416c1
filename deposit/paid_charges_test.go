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
				t.Errorf("the events are %v", kinds)
			}
			return err
		})
		if got := r.Available(0); got != bursar.Units(105_929_999) { // 106,999,999 less 1 %, each fee rounded up
			t.Errorf("available is %s", got)
		}
	})
}
