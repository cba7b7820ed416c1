package storetest

import (
	"context"
	"database/sql"
	"errors"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

func TestMain(m *testing.M) { Main(m) }

// What a test finds in a database that others have used is what it finds in a new one, in tables and in sequences.
func TestAnEmptiedDatabaseIsLikeANewOne(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	url := Postgres(t)
	want := rows(t, url)
	db := Open(t, url)
	err := db.Do(context.Background(), func(tx *store.Tx) error {
		return tx.Accounts().Insert(context.Background(), bursar.Account{ID: bursar.ID{1}, Name: "a", CreatedAt: tx.Now()})
	})
	if err != nil {
		t.Fatal(err)
	}
	raw, err := sql.Open("pgx", url)
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
	if rows(t, url) == want {
		t.Fatal("the changes are not visible")
	}
	if err := empty(url); err != nil { // and ends the connections that are still open
		t.Fatal(err)
	}
	if got := rows(t, url); got != want {
		t.Errorf("emptied, it holds\n%s\nand a new one\n%s", got, want)
	}
}

// A database whose definitions a test has changed is not given to another test.
func TestAChangedDatabaseIsNotReused(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	for _, change := range []string{
		"CREATE TABLE other (n int)",
		"ALTER TABLE accounts ADD COLUMN other int",
		"CREATE FUNCTION other() RETURNS int LANGUAGE sql AS 'SELECT 1'",
		"ALTER DATABASE %s SET synchronous_commit = off",
	} {
		url := Postgres(t)
		_, name, _ := strings.Cut(strings.TrimSuffix(url, "?host="+server.dir), "@/")
		raw, err := sql.Open("pgx", url)
		if err != nil {
			t.Fatal(err)
		}
		_, err = raw.Exec(strings.ReplaceAll(change, "%s", name))
		raw.Close()
		if err != nil {
			t.Fatal(err)
		}
		if err := empty(url); !errors.Is(err, errChanged) {
			t.Errorf("%s: %v", change, err)
		}
	}
}

// rows returns the content of a database, without the lines of the dump that are never the same.
func rows(t *testing.T, url string) string {
	t.Helper()
	bin, err := findServer()
	if err != nil {
		t.Fatal(err)
	}
	dump, err := exec.Command(filepath.Join(bin, "pg_dump"), "--data-only", url).Output()
	if err != nil {
		t.Fatal(err)
	}
	var kept []string
	for line := range strings.Lines(string(dump)) {
		if !strings.HasPrefix(line, `\restrict`) && !strings.HasPrefix(line, `\unrestrict`) {
			kept = append(kept, line)
		}
	}
	return strings.Join(kept, "")
}
