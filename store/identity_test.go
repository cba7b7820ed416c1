package store_test

import (
	"context"
	"database/sql"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func postgresOnly(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	return storetest.Postgres(t)
}

func name(url string) string {
	return strings.Split(strings.TrimPrefix(url, "postgres://bursar@/"), "?")[0]
}

// set changes a default of a database, as its operator may.
func set(t *testing.T, url, setting string) {
	t.Helper()
	raw, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec("ALTER DATABASE " + name(url) + " SET " + setting); err != nil {
		t.Fatal(err)
	}
}

// A commit that PostgreSQL has not written when it says so would be lost with the server, and a payment made again.
func TestCommitsAreSynchronousWhateverTheServerSays(t *testing.T) {
	t.Parallel()
	for setting, want := range map[string]string{
		"off":          "on",
		"local":        "on",
		"remote_write": "on",
		"on":           "on",
		"remote_apply": "remote_apply",
	} {
		url := postgresOnly(t)
		set(t, url, "synchronous_commit = "+setting)
		db := storetest.Open(t, url)
		var got string
		err := db.View(context.Background(), func(tx *store.Tx) error {
			return tx.Ask(context.Background(), &got, "SHOW synchronous_commit")
		})
		if err != nil || got != want {
			t.Errorf("synchronous_commit is %q where the server says %q (%v), want %q", got, setting, err, want)
		}
	}
}

func TestAServerThatTakesNoWritesIsRefused(t *testing.T) {
	t.Parallel()
	url := postgresOnly(t)
	set(t, url, "default_transaction_read_only = on")
	db, err := store.Open(context.Background(), store.Config{URL: url})
	if err == nil {
		db.Close()
	}
	if !errors.Is(err, store.ErrStandby) {
		t.Fatalf("opening it gives %v, want %v", err, store.ErrStandby)
	}
}

func TestADatabaseKnowsWhichCopyItIs(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		ctx := context.Background()
		for _, text := range []string{"first", "second"} {
			if err := db.Do(ctx, func(tx *store.Tx) error { return tx.Settings().NameDatabase(ctx, text) }); err != nil {
				t.Fatal(err)
			}
		}
		id, err := db.Identity(ctx)
		if err != nil || id.Database != "first" {
			t.Fatalf("the identity is %+v, %v, want %q", id, err, "first")
		}
		if db.Postgres() != (len(id.Timeline) == 8 && id.System != "") {
			t.Fatalf("the identity is %+v", id)
		}
	})
}

// Locks that are taken before what they guard is read need a transaction that sees what others committed meanwhile. At
// another isolation level the second of two transfers would fail, or read a balance of before the first one.
func TestTransactionsAreReadCommittedWhateverTheServerSays(t *testing.T) {
	t.Parallel()
	for _, level := range []string{"serializable", "repeatable read", "read committed"} {
		url := postgresOnly(t)
		set(t, url, "default_transaction_isolation = '"+level+"'")
		db := storetest.Open(t, url)
		var writing, reading string
		ask := func(into *string) func(*store.Tx) error {
			return func(tx *store.Tx) error { return tx.Ask(t.Context(), into, "SHOW transaction_isolation") }
		}
		if err := errors.Join(db.Do(t.Context(), ask(&writing)), db.View(t.Context(), ask(&reading))); err != nil {
			t.Fatal(err)
		}
		if writing != "read committed" || reading != "repeatable read" {
			t.Errorf("with a default of %s got %q to write and %q to read, want read committed and repeatable read", level,
				writing, reading)
		}
	}
}
