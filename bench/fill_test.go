package main

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

// hot is the account that fillers give every tenth row.
var hot = bursar.ID{1}

// filled runs a test on each kind of database, with a filler and the account hot.
func filled(t *testing.T, test func(t *testing.T, db *store.DB, f filler)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		url, kind := storetest.AsOwner(storetest.URL(db)), "postgres"
		if url[:7] == "sqlite:" {
			kind = "sqlite"
		}
		db = storetest.Open(t, url) // the owner's: the service may remove nothing
		raw, err := openSQL(kind, url)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = raw.Close() })
		in(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.Accounts().Insert(ctx, bursar.Account{ID: hot, Name: "hot", CreatedAt: tx.Now(), WebhookGeneration: 1})
		})
		test(t, db, filler{raw, kind == "postgres"})
	})
}

func in(t *testing.T, db *store.DB, f func(ctx context.Context, tx *store.Tx) error) {
	t.Helper()
	if err := db.Do(t.Context(), func(tx *store.Tx) error { return f(t.Context(), tx) }); err != nil {
		t.Fatal(err)
	}
}

func (f filler) count(t *testing.T, query string) (n int) {
	t.Helper()
	if err := f.db.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

func TestFilledWalletsAreWalletsOfTheService(t *testing.T) {
	t.Parallel()
	filled(t, func(t *testing.T, db *store.DB, f filler) {
		const count = walletsEach + 500
		if err := f.wallets(t.Context(), hot.String(), count); err != nil {
			t.Fatal(err)
		}
		in(t, db, func(ctx context.Context, tx *store.Tx) error {
			newest, err := tx.Wallets().Newest(ctx)
			if err != nil || newest != count {
				t.Errorf("the newest wallet is %d, %v; want %d", newest, err, count)
			}
			watched := map[string]bool{}
			err = tx.Wallets().EachWatched(ctx, "bitcoin", 0, newest, func(base string) { watched[base] = true }, nil)
			if err != nil || len(watched) != count {
				t.Errorf("%d addresses are watched, %v; want %d", len(watched), err, count)
			}
			number, err := tx.Wallets().TakeNumbers(ctx, 1)
			if err != nil || number != count+1 {
				t.Errorf("the next number is %d, %v; want %d", number, err, count+1)
			}
			index, err := tx.KeyIndexes().Take(ctx, "bitcoin", 1)
			if err != nil || index != count {
				t.Errorf("the next key index is %d, %v; want %d", index, err, count)
			}
			page, err := tx.Wallets().List(ctx, hot, "BTC", store.Page{Limit: 100})
			if err != nil || len(page) != 100 {
				t.Errorf("a page of the hot account has %d wallets, %v, want 100 of them", len(page), err)
			}
			return err
		})
		for query, want := range map[string]int{
			`SELECT COUNT(*) FROM wallets w LEFT JOIN accounts a ON a.id = w.account_id WHERE a.id IS NULL`: 0,
			`SELECT SUM(wallets) FROM wallet_counts`:                                                        count,
		} {
			if got := f.count(t, query); got != want {
				t.Errorf("%s: %d, want %d", query, got, want)
			}
		}
	})
}

func TestFilledEntriesAreConsistentBooks(t *testing.T) {
	t.Parallel()
	filled(t, func(t *testing.T, db *store.DB, f filler) {
		const accounts, count = 7, 1000
		if err := f.accounts(t.Context(), accounts); err != nil {
			t.Fatal(err)
		}
		if err := f.entries(t.Context(), hot.String(), accounts, count); err != nil {
			t.Fatal(err)
		}
		registry, err := bursar.NewRegistry(bursar.Standard())
		if err != nil {
			t.Fatal(err)
		}
		monthsAddUp(t, db, count/10)
		deposit := bursar.Deposit{ID: bursar.ID{9}, AccountID: hot, Currency: "BTC", Amount: bursar.Units(5)}
		in(t, db, func(ctx context.Context, tx *store.Tx) error {
			return tx.Ledger().Post(ctx, ledger.DepositCredited(deposit, tx.Now()))
		})
		auditor := &audit.Auditor{DB: db, Registry: registry, Log: slog.New(slog.DiscardHandler)}
		for range 3 {
			if _, err := auditor.Step(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		if n := f.count(t, `SELECT COUNT(*) FROM book_faults`); n > 0 {
			t.Errorf("the audit finds %d faults, want 0", n)
		}
		if n := f.count(t, `SELECT COUNT(*) FROM posted WHERE seal IS NULL`); n > 0 {
			t.Errorf("the audit did not take over %d sums", n)
		}
		key := ledger.Key{Account: ledger.Available(hot), Asset: "BTC"}
		in(t, db, func(ctx context.Context, tx *store.Tx) error {
			books, err := tx.Ledger().BalancesOf(ctx, []ledger.Key{key})
			got, _ := books[key].Net(key.Account.Type())
			if want := bursar.Units(count/10*satoshiOfEntry + 5); err != nil || got != want {
				t.Errorf("the hot account has %s, %v; want %s", got, err, want)
			}
			return err
		})
	})
}

// monthsAddUp compares the sums of months of the account hot with so many entries: up to now, and up to the beginning
// of this month with the lines that are older.
func monthsAddUp(t *testing.T, db *store.DB, entries uint64) {
	t.Helper()
	key := ledger.Key{Account: ledger.Available(hot), Asset: "BTC"}
	in(t, db, func(ctx context.Context, tx *store.Tx) error {
		now := tx.Now().UTC()
		month := time.Date(now.Year(), now.Month(), 1, 0, 0, 0, 0, time.UTC)
		q := store.LineQuery{Accounts: []ledger.Account{key.Account}, Until: month}
		older, err := tx.Statements().List(ctx, q, store.Page{Limit: 10_000})
		if err != nil {
			return err
		}
		for at, want := range map[time.Time]uint64{now: entries, month: uint64(len(older))} {
			sums, err := tx.MonthSums().At(ctx, q.Accounts, at)
			if err != nil {
				return err
			}
			if got := sums[key].Credits; got != bursar.Units(want*satoshiOfEntry) {
				t.Errorf("up to %s months come to %s, want %d entries", at, got, want)
			}
		}
		if len(older) == 0 || uint64(len(older)) == entries {
			t.Errorf("%d of %d entries are older than this month, want some", len(older), entries)
		}
		return nil
	})
}

func TestFilledListsAreListsOfTheService(t *testing.T) {
	t.Parallel()
	filled(t, func(t *testing.T, db *store.DB, f filler) {
		const wallets, count = 100, 2 * rareEvery
		if err := f.wallets(t.Context(), hot.String(), wallets); err != nil {
			t.Fatal(err)
		}
		if err := f.lists(t.Context(), hot.String(), wallets, count); err != nil {
			t.Fatal(err)
		}
		in(t, db, func(ctx context.Context, tx *store.Tx) error {
			all := store.Page{Limit: count}
			deposits, _, err := tx.Deposits().Select(ctx, hot, store.DepositFilter{}, all)
			orphans, _, failed := tx.Deposits().Select(ctx, hot, store.DepositFilter{Status: bursar.DepositOrphaned}, all)
			if err = errors.Join(err, failed); len(deposits) != count/10 || len(orphans) != count/rareEvery {
				t.Errorf("%d deposits, %d of them orphaned; want %d and %d", len(deposits), len(orphans), count/10,
					count/rareEvery)
			}
			paid, _, failed := tx.Withdrawals().Select(ctx, hot, store.WithdrawalFilter{Status: bursar.WithdrawalFailed}, all)
			if err = errors.Join(err, failed); len(paid) != count/rareEvery {
				t.Errorf("%d withdrawals failed, want %d", len(paid), count/rareEvery)
			}
			events, _, failed := tx.Deliveries().Select(ctx, hot, store.EventFilter{}, all)
			if err = errors.Join(err, failed); len(events) != count/10 {
				t.Errorf("%d events, want %d", len(events), count/10)
			}
			return err
		})
	})
}

func TestFilledEventsAreDue(t *testing.T) {
	t.Parallel()
	filled(t, func(t *testing.T, db *store.DB, f filler) {
		const url = "https://example.com/hook"
		if err := f.events(t.Context(), spaceHealthy, hot.String(), url, 50); err != nil {
			t.Fatal(err)
		}
		if err := f.events(t.Context(), spaceDead, hot.String(), url+"/dead", 20); err != nil {
			t.Fatal(err)
		}
		in(t, db, func(ctx context.Context, tx *store.Tx) error {
			due, err := tx.Deliveries().Due(ctx, nil, 100)
			if err != nil || len(due) != 70 {
				t.Errorf("%d events are due, %v; want 70", len(due), err)
			}
			for _, d := range due {
				if d.AccountID != hot || len(d.Body) == 0 {
					t.Errorf("a due event is %+v, want %v and some", d, hot)
				}
			}
			return err
		})
		if err := f.forgetEvents(t.Context(), url); err != nil {
			t.Fatal(err)
		}
		if n := f.count(t, `SELECT COUNT(*) FROM events`); n != 20 {
			t.Errorf("%d events are left, want 20", n)
		}
	})
}

func TestEachCoversAllNumbersOnce(t *testing.T) {
	t.Parallel()
	var sum, last int64
	err := each(t.Context(), 3, 2*chunk+10, func(from, to int64) error {
		if from != max(last, 3)+1 || to-from >= chunk {
			t.Errorf("after %d came %d to %d", last, from, to)
		}
		sum, last = sum+to-from+1, to
		return nil
	})
	if err != nil || sum != 2*chunk+7 || last != 2*chunk+10 {
		t.Errorf("%d numbers up to %d, %v, want %v and %v", sum, last, err, 2*chunk+7, 2*chunk+10)
	}
}
