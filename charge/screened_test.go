package charge_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
)

// A payment that is rejected after screening counts for nothing, before and after it is booked; assigned to the charge by
// an operator it counts.
func TestASumDoesNotCountWhatScreeningRejects(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 1)
		r.shows(d, "confirming")
		id, wallet := r.deposit(d, 0), d.Options[0].WalletID
		r.do(func(tx *store.Tx) error {
			found, err := tx.Deposits().ByID(ctx, id)
			if err != nil {
				return err
			}
			wallet = found.WalletID
			return tx.Screenings().Ask(ctx, store.Screening{Subject: id, Kind: store.ScreenDeposit, Chain: found.Chain,
				Block: found.BlockHash})
		})
		_, err := r.Screenings.Decide(ctx, screening.Decision{Subject: id, Actor: "ann", Reason: "case 17"})
		r.must(err)
		if v := r.shows(d, "open"); v.Pending != "0.00000000" || v.Due != "0.00100000" || len(v.DepositIDs) != 0 {
			t.Errorf("after the rejection it is %+v, want one without payments", v)
		}
		r.mine(bursar.Bitcoin, 3)
		if v := r.shows(d, "open"); v.Received != "0.00000000" {
			t.Errorf("after the booking it is %+v, want one without payments", v)
		}
		r.holds("BTC", 0)
		_, err = r.Unattributed.AssignToWallet(ctx, id, wallet, "case 17")
		r.must(err)
		r.shows(d, "paid")
		r.holds("BTC", 99_000)
	})
}
