package storetest

import (
	"context"
	"database/sql"
	"errors"
	"os"
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
	u, err := newOnServer(t)
	if err != nil {
		t.Fatal(err)
	}
	url := AsOwner(u.url)
	want := rows(t, url)
	db := Open(t, u.url)
	err = db.Do(context.Background(), func(tx *store.Tx) error {
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
	if err := u.empty(u); err != nil { // and ends the connections that are still open
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
		u, err := newOnServer(t)
		if err != nil {
			t.Fatal(err)
		}
		url := AsOwner(u.url)
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
		if err := u.empty(u); !errors.Is(err, errChanged) {
			t.Errorf("%s: %v, want %v", change, err, errChanged)
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

// What a test finds in a file that others have used is what it finds in a new one, and a file whose definitions were
// changed, or that is another file by now, is not given to another test.
func TestAnEmptiedFileIsLikeANewOne(t *testing.T) {
	file := func() *reusable {
		u, err := newFile(t)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { u.raw.Close(); u.drop() })
		return u
	}
	change := func(u *reusable, text string) {
		raw, err := sql.Open("sqlite", strings.TrimPrefix(u.url, "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		if _, err := raw.Exec(text); err != nil {
			t.Fatal(err)
		}
	}
	u := file()
	want := contentOf(t, u.url)
	change(u, `DELETE FROM link_head; INSERT INTO chains(chain) VALUES ('bitcoin')`)
	if contentOf(t, u.url) == want {
		t.Fatal("the changes are not visible")
	}
	if err := u.empty(u); err != nil {
		t.Fatal(err)
	}
	if got := contentOf(t, u.url); got != want {
		t.Errorf("emptied, it holds\n%s\nwant what a new one holds\n%s", got, want)
	}
	change(u, `CREATE TABLE other (n int)`)
	if err := u.empty(u); !errors.Is(err, errChanged) {
		t.Errorf("with another table: %v, want %v", err, errChanged)
	}
	u = file()
	name := strings.TrimPrefix(u.url, "sqlite:")
	if err := errors.Join(os.Rename(name, name+".old"), os.WriteFile(name, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if err := u.empty(u); !errors.Is(err, errChanged) {
		t.Errorf("with another file: %v, want %v", err, errChanged)
	}
}

// contentOf returns all rows of a file.
func contentOf(t *testing.T, url string) (all string) {
	t.Helper()
	tables := Ask(t, url, `SELECT group_concat(name, ' ') FROM sqlite_master WHERE type = 'table'`)
	for table := range strings.FieldsSeq(tables) {
		columns := Ask(t, url, `SELECT group_concat('quote("' || name || '")', ' || '','' || ')
			FROM pragma_table_info('`+table+`')`)
		all += table + Ask(t, url, `SELECT group_concat(rowid || row, ';') FROM (SELECT rowid, `+columns+` AS row FROM "`+
			table+`")`) + "\n"
	}
	return all
}
