package store_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// An entry that is posted already is posted once, and its transaction is run again, carefully: it learns which of its
// entries that is, also where what it made of the first error names none.
func TestATransactionThatPostsTwiceIsRunAgainCarefully(t *testing.T) {
	t.Parallel()
	url := postgresOnly(t)
	var careful []bool
	db := storetest.Open(t, url)
	heard := db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, query string) error {
		if at == store.Running && strings.HasPrefix(query, "INSERT INTO entries(") {
			careful = append(careful, strings.Contains(query, "ON CONFLICT"))
		}
		return nil
	}})
	entry := func(id byte) ledger.Entry {
		d := bursar.Deposit{ID: bursar.ID{id}, AccountID: bursar.ID{9}, Currency: "BTC", Amount: bursar.Units(5)}
		return ledger.DepositCredited(d, db.Now())
	}
	errHidden := errors.New("hidden")
	var errs []error
	post := func(ids ...byte) error {
		return heard.Do(t.Context(), func(tx *store.Tx) (err error) {
			var entries []ledger.Entry
			for _, id := range ids {
				entries = append(entries, entry(id))
			}
			if errs, err = tx.Ledger().PostEach(t.Context(), entries); err != nil {
				return errHidden
			}
			return nil
		})
	}
	if err := post(1); err != nil {
		t.Fatal(err)
	}
	if err := post(1, 2); err != nil {
		t.Fatalf("posting one entry again beside a new one: got %v, want it refused alone", err)
	}
	if !errors.Is(errs[0], store.ErrPosted) || errs[1] != nil {
		t.Errorf("the entries: got %v, want %v and nil", errs, store.ErrPosted)
	}
	if len(careful) != 3 || careful[0] || careful[1] || !careful[2] {
		t.Errorf("statements that look first: got %v, want only the third of three", careful)
	}
	var b ledger.Balance
	err := db.View(t.Context(), func(tx *store.Tx) (err error) {
		b, err = tx.Ledger().Balance(t.Context(), ledger.Available(bursar.ID{9}), "BTC")
		return err
	})
	if got, _ := b.Net(ledger.Liability); err != nil || got != bursar.Units(10) {
		t.Errorf("the balance: got %s, %v, want 10", got, err)
	}
}

// An operator who builds an index again gives its constraint another name. That has no entry posted twice, and no
// transaction refused as a whole.
func TestAnEntryIsKnownWhateverItsConstraintIsCalled(t *testing.T) {
	t.Parallel()
	url := postgresOnly(t)
	db := storetest.Open(t, url)
	raw, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec("ALTER TABLE entries RENAME CONSTRAINT entries_kind_ref_key TO entries_again"); err != nil {
		t.Fatal(err)
	}
	d := bursar.Deposit{ID: bursar.ID{1}, AccountID: bursar.ID{9}, Currency: "BTC", Amount: bursar.Units(5)}
	for range 2 {
		err = db.Do(t.Context(), func(tx *store.Tx) error {
			return tx.Ledger().Post(t.Context(), ledger.DepositCredited(d, db.Now()))
		})
	}
	if !errors.Is(err, store.ErrPosted) {
		t.Errorf("posting an entry again: got %v, want %v", err, store.ErrPosted)
	}
}

// Who adds something to an account does not wait for a transaction that keeps the account as it is, such as a batch of
// its withdrawals: that may itself wait for what the former has locked.
func TestNobodyWaitsForALockedAccountToAddToIt(t *testing.T) {
	t.Parallel()
	db := storetest.Open(t, postgresOnly(t))
	id := bursar.ID{1}
	err := db.Do(t.Context(), func(tx *store.Tx) error {
		return tx.Accounts().Insert(t.Context(), bursar.Account{ID: id, Name: "one", CreatedAt: db.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Do(t.Context(), func(tx *store.Tx) error {
		if _, err := tx.Accounts().LockAll(t.Context(), []bursar.ID{id}); err != nil {
			return err
		}
		if _, err := tx.Accounts().Lock(t.Context(), id); err != nil {
			return err
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second) // less than a statement may take
		defer cancel()
		return db.Do(ctx, func(other *store.Tx) error {
			return other.APIKeys().Insert(ctx, bursar.APIKey{ID: bursar.ID{2}, AccountID: id, CreatedAt: db.Now()})
		})
	})
	if err != nil {
		t.Errorf("adding a key to a locked account: got %v, want none", err)
	}
}
