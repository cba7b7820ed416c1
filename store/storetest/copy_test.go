package storetest

import (
	"context"
	"database/sql"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// A copy has the rows and the sequences that its original has, and nothing of what a test has left.
func TestACopyIsLikeItsOriginal(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	db := Open(t, servers.take(t))
	insert := func(db *store.DB, id byte) {
		t.Helper()
		if err := db.Do(context.Background(), func(tx *store.Tx) error {
			a := bursar.Account{ID: bursar.ID{id}, Name: "a\tb\\\n", CreatedAt: tx.Now()}
			return tx.Accounts().Insert(context.Background(), a)
		}); err != nil {
			t.Fatal(err)
		}
	}
	insert(db, 1)
	owner := AsOwner(URL(db))
	raw, err := sql.Open("pgx", owner)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for _, change := range []string{
		"DELETE FROM link_head",
		"SELECT nextval(quote_ident(sequencename)::regclass) FROM pg_sequences WHERE schemaname = 'public'" +
			" AND sequencename NOT LIKE 'goose%'",
	} {
		if _, err := raw.Exec(change); err != nil {
			t.Fatal(err)
		}
	}
	want := rows(t, owner)
	copied := Copy(t, db)
	if got := rows(t, AsOwner(copied)); got != want {
		t.Errorf("a copy holds\n%s\nwant\n%s", got, want)
	}
	insert(Open(t, copied), 2)
	if got := rows(t, owner); got != want {
		t.Errorf("after a change of its copy a database holds\n%s\nwant\n%s", got, want)
	}
}
