package recovery_test

import (
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// delivers has an external spend that an operator booked as a loss be one whose block shows these payments.
func (r *harness) delivers(id bursar.ID, payments ...chain.Payment) {
	r.Helper()
	text, err := json.Marshal(payments)
	r.Must(err)
	r.Do(func(tx *store.Tx) error {
		x, err := tx.ExternalSpends().Behind(ctx, id)
		if err != nil {
			return err
		}
		x.Payments = text
		return tx.ExternalSpends().Move(ctx, x)
	})
}

func (r *harness) settles(id bursar.ID) {
	r.Helper()
	r.Do(func(tx *store.Tx) error { return recovery.Settle(ctx, tx, r.Registry, r.outgoingIn(tx, id)) })
}

func (r *harness) unsettles(id bursar.ID) {
	r.Helper()
	r.Do(func(tx *store.Tx) error { return recovery.Unsettle(ctx, tx, r.Registry, r.outgoingIn(tx, id)) })
}

// lost has an operator book payments as a loss that a transaction was asked for.
func (r *harness) lost(asked ...chain.Payment) bursar.ID {
	r.Helper()
	x := r.mineExternal(asked...)
	found := r.evaluate(x, true)
	r.Must(r.answer(x, recovery.Answer{Rest: store.UsedUpAsLoss, Note: "nobody knows"}))
	return found.OutgoingID
}

// Of a token that a restored database lacks a payment of, as much is booked as left us: nothing where the token moved
// nothing, all where it kept a part, and what it moved elsewhere.
func TestWhatATokenTookIsBooked(t *testing.T) {
	for name, tc := range map[string]struct {
		delivered []chain.Payment
		want      string
	}{
		"all of it":                {[]chain.Payment{pays("x", "token", 100)}, "100"},
		"less than all":            {[]chain.Payment{pays("x", "token", 98)}, "100"},
		"nothing":                  {[]chain.Payment{}, "0"},
		"all of it elsewhere":      {[]chain.Payment{pays("taker", "token", 100)}, "100"},
		"a part elsewhere":         {[]chain.Payment{pays("taker", "token", 30)}, "30"},
		"more than that elsewhere": {[]chain.Payment{pays("taker", "token", 300)}, "100"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			id := r.lost(pays("x", "token", 100))
			r.delivers(id, tc.delivered...)
			r.settles(id)
			r.sums(ledger.Losses, "TOKEN", tc.want)
			r.unsettles(id)
			r.sums(ledger.Losses, "TOKEN", "0")
		})
	}
}

// What one receiver was delivered counts once, for the withdrawal that explains it first.
func TestWhatATokenDeliveredCountsOnce(t *testing.T) {
	r := newHarness(t, numbered)
	w := r.order(ann, "x", "TOKEN", 100)
	x := r.mineExternal(pays("x", "token", 100), pays("x", "token", 70))
	found := r.evaluate(x, true)
	r.Must(r.answer(x, recovery.Answer{Withdrawals: []bursar.ID{w.ID}, Rest: store.UsedUpAsLoss, Note: "nobody knows"}))
	r.delivers(found.OutgoingID, pays("x", "token", 100))
	r.settles(found.OutgoingID)
	r.sums(ledger.Losses, "TOKEN", "0")
}

// What is reversed is what was booked, although it would be booked otherwise now.
func TestWhatWasBookedIsReversed(t *testing.T) {
	for name, tc := range map[string]struct {
		first, then []chain.Payment
		want        string
	}{
		"more was booked": {[]chain.Payment{pays("x", "token", 100)}, []chain.Payment{}, "0"},
		"less was booked": {[]chain.Payment{}, []chain.Payment{pays("x", "token", 100)}, "100"},
		"another sum was": {[]chain.Payment{pays("t", "token", 30)}, []chain.Payment{pays("x", "token", 100)}, "100"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newHarness(t, numbered)
			id := r.lost(pays("x", "token", 100))
			r.delivers(id, tc.first...)
			r.settles(id)
			r.delivers(id, tc.then...)
			r.unsettles(id)
			r.sums(ledger.Losses, "TOKEN", "0")
			for range 2 {
				r.settles(id)
				r.sums(ledger.Losses, "TOKEN", tc.want)
				r.unsettles(id)
				r.sums(ledger.Losses, "TOKEN", "0")
			}
		})
	}
}
