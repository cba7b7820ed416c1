package charge_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/screening"
	"github.com/bursar/bursar/store"
)

// A payment that is rejected after screening counts for nothing, before and after it is booked; assigned to the charge
// by an operator it counts.
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

// A payment that was seen in time and is held until after the end pays nothing while it is held, and pays in time once
// it passes.
func TestAHeldPaymentCountsByWhenItWasSeen(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, r *harness) {
		d := r.sum(nil)
		r.send(d, "BTC", "BTC", 100_000)
		r.mine(bursar.Bitcoin, 1)
		id := r.deposit(d, 0)
		r.do(func(tx *store.Tx) error {
			found, err := tx.Deposits().ByID(ctx, id)
			if err != nil {
				return err
			}
			asked := store.Screening{Subject: id, Kind: store.ScreenDeposit, Chain: found.Chain, Block: found.BlockHash}
			if err := tx.Screenings().Ask(ctx, asked); err != nil {
				return err
			}
			asked.Outcome = store.ScreeningReview
			_, err = tx.Screenings().Answered(ctx, asked)
			return err
		})
		r.mine(bursar.Bitcoin, 4)
		r.holds("BTC", 0)
		if v := r.shows(d, "confirming"); v.Received != "0.00000000" {
			t.Errorf("while it is held it is %+v, want nothing received", v)
		}
		r.clock.Advance(48 * time.Hour)
		if n, err := r.Charges.Turn(ctx); n != 0 || err != nil {
			t.Errorf("%d charges expire, %v, want none: the payment was seen in time", n, err)
		}
		r.mine(bursar.Bitcoin, 1)
		if v := r.shows(d, "confirming"); v.Received != "0.00000000" {
			t.Errorf("after its end it is %+v, want nothing received", v)
		}
		_, err := r.Screenings.Decide(ctx, screening.Decision{Subject: id, Release: true, Actor: "ann", Reason: "case 19"})
		r.must(err)
		r.mine(bursar.Bitcoin, 1)
		if v := r.shows(d, "paid"); len(v.Labels) != 0 {
			t.Errorf("once it is released it is %+v, want one that was paid in time", v)
		}
		r.holds("BTC", 99_000)
	})
}
