package storetest

import (
	"maps"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// entryRates holds that entries are given the rates that count after they were posted, those that take another one back
// the rates of that one, and those that are too old none.
func entryRates(t *testing.T, db *store.DB) {
	now := db.Now().UTC().Truncate(time.Second)
	rate := func(text string, unit bursar.CurrencyCode) bursar.PairRate {
		r, err := bursar.ParseRate(text)
		if err != nil {
			t.Fatal(err)
		}
		return bursar.PairRate{Currency: "BTC", Unit: unit, Rate: r, Source: "a", At: now}
	}
	d := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(500)}
	e := bursar.Deposit{ID: bursar.ID{3}, AccountID: bursar.ID{2}, Currency: "ETH", Amount: bursar.Units(500)}
	w := bursar.Withdrawal{ID: bursar.ID{4}, AccountID: bursar.ID{2}, Currency: "BTC", Amount: bursar.Units(5),
		Status: bursar.WithdrawalConfirmed}
	post := func(entries ...ledger.Entry) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error { return tx.Ledger().Post(t.Context(), entries...) })
	}
	waits := func(want bool) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			got, err := tx.EntryRates().Waiting(t.Context())
			if got != want {
				t.Errorf("entries wait: got %v, want %v", got, want)
			}
			return err
		})
	}
	note := func(rates ...bursar.PairRate) {
		t.Helper()
		do(t, db, func(tx *store.Tx) error {
			more, err := tx.EntryRates().Note(t.Context(), rates, time.Hour)
			if more {
				t.Error("more entries wait, want none")
			}
			return err
		})
	}
	post(ledger.DepositCredited(bursar.Deposit{ID: bursar.ID{5}, AccountID: bursar.ID{2}, Currency: "BTC",
		Amount: bursar.Units(1)}, now)) // 1: before the first reading
	waits(true)
	note(rate("50000", "EUR"))
	waits(false)
	post(ledger.DepositCredited(d, now), ledger.DepositCredited(e, now)) // 2, 3
	post(ledger.WithdrawalHeld(w, now))                                  // 4
	note(rate("60000.5", "EUR"), rate("70000", "USD"))
	post(ledger.WithdrawalSettled(w, 0, now.Add(-2*time.Hour))) // 5: too old
	post(ledger.DepositReversed(d, now.Add(-2*time.Hour)))      // 6: its original has one
	post(ledger.WithdrawalUnsettled(w, 1, now))                 // 7: its original has none
	waits(true)
	note(rate("80000", "EUR"))
	note(rate("90000", "EUR")) // nothing is left
	wantRates(t, db, now, map[int64]string{2: "60000.5", 6: "60000.5"})
}

// wantRates compares the rates in euros of the entries 1 to 7, by their numbers, all noted from one source at one time.
func wantRates(t *testing.T, db *store.DB, at time.Time, want map[int64]string) {
	t.Helper()
	do(t, db, func(tx *store.Tx) error {
		got, err := tx.EntryRates().Of(t.Context(), "EUR", []int64{1, 2, 3, 4, 5, 6, 7})
		rates := map[int64]string{}
		for key, r := range got {
			rates[key.Entry] = r.Rate.String()
			if key.Asset != "BTC" || r.Source != "a" || !r.At.Equal(at) || r.Unit != "EUR" {
				t.Errorf("a rate is %+v of %+v, want what was noted", r, key)
			}
		}
		if !maps.Equal(rates, want) {
			t.Errorf("the rates are %v, want %v", rates, want)
		}
		return err
	})
}
