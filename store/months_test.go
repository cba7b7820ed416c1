package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The balances at any time are what the entries of before it make them, however many of them are summed by month: the
// service's own role sums them, in parts, and each once.
func TestBalancesAtATime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, opened *store.DB) {
		clock := clocktest.At(time.Date(2026, 1, 30, 0, 0, 0, 0, time.UTC))
		db := storetest.OpenAt(t, storetest.URL(opened), clock.Now)
		accounts := []ledger.Account{ledger.Available(bursar.ID{1}), ledger.Held(bursar.ID{1})}
		var entries []ledger.Entry
		post := func(e ledger.Entry) {
			inTx(t, db, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, e) })
			entries = append(entries, e)
		}
		for n := range 40 {
			w := bursar.Withdrawal{ID: bursar.ID{2, byte(n)}, AccountID: bursar.ID{byte(1 + n%2)}, Currency: "BTC",
				Amount: bursar.Units(uint64(n) + 1)}
			d := bursar.Deposit{ID: bursar.ID{3, byte(n)}, AccountID: w.AccountID, Currency: "BTC",
				Amount: bursar.Units(uint64(n) + 7)}
			post(ledger.DepositCredited(d, clock.Now()))
			post(ledger.WithdrawalHeld(w, clock.Now().Add(-time.Minute))) // of a transaction that lasted
			clock.Advance(37 * time.Hour)
			if n%9 == 4 {
				foldAll(t, db)
			}
		}
		for back := time.Duration(0); back < 1600*time.Hour; back += 97 * time.Hour {
			at := clock.Now().Add(-back)
			var got map[ledger.Key]ledger.Balance
			inTx(t, db, func(tx *store.Tx) (err error) {
				got, err = tx.MonthSums().At(ctx, accounts, at)
				return err
			})
			if want := balancesAt(t, entries, accounts, at); fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("at %s the balances are %v, want %v", at, got, want)
			}
		}
	})
}

func inTx(t *testing.T, db *store.DB, f func(tx *store.Tx) error) {
	t.Helper()
	if err := db.Do(ctx, f); err != nil {
		t.Fatal(err)
	}
}

func foldAll(t *testing.T, db *store.DB) {
	t.Helper()
	for more := true; more; {
		inTx(t, db, func(tx *store.Tx) (err error) {
			more, err = tx.MonthSums().Fold(ctx)
			return err
		})
	}
}

// balancesAt adds up entries by hand.
func balancesAt(
	t *testing.T, entries []ledger.Entry, accounts []ledger.Account, at time.Time,
) map[ledger.Key]ledger.Balance {
	t.Helper()
	sums := map[ledger.Key]ledger.Balance{}
	for _, e := range entries {
		for _, p := range e.Postings {
			for _, account := range accounts {
				if !e.At.Before(at) || p.Debit != account && p.Credit != account {
					continue
				}
				k := ledger.Key{Account: account, Asset: p.Asset}
				sum, err := sums[k].Apply(account, p)
				if err != nil {
					t.Fatal(err)
				}
				sums[k] = sum
			}
		}
	}
	return sums
}
