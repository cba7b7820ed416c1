package store_test

import (
	"archive/tar"
	"compress/gzip"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// earlierSchema is the schema of the database in earlierFile, which a service of that version left in SQLite.
const (
	earlierSchema = 60
	earlierFile   = "../cmd/bursar/testdata/upgrade/schema-60.tar.gz"
)

// earlierDatabase unpacks the database of an earlier version, and opens it as it is.
func earlierDatabase(t *testing.T) *sql.DB {
	t.Helper()
	f, err := os.Open(earlierFile)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	packed, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for files := tar.NewReader(packed); ; {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(files)
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, filepath.Base(h.Name)), content, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, "bursar.db"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

// moveRows copies a table of SQLite into one of PostgreSQL, and returns how many rows it has.
func moveRows(t *testing.T, from *sql.DB, to *sql.Conn, table string) (moved int) {
	t.Helper()
	rows, err := from.Query(`SELECT * FROM ` + table)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	types, err := rows.ColumnTypes()
	if err != nil {
		t.Fatal(err)
	}
	var names, marks []string
	row := make([]any, len(types))
	for i, column := range types {
		names = append(names, `"`+column.Name()+`"`)
		marks = append(marks, fmt.Sprintf("$%d", i+1))
		row[i] = new(any)
	}
	insert := fmt.Sprintf(`INSERT INTO %s(%s) VALUES (%s)`, table, strings.Join(names, ", "), strings.Join(marks, ", "))
	for rows.Next() {
		if err := rows.Scan(row...); err != nil {
			t.Fatal(err)
		}
		values := make([]any, len(row))
		for i, v := range row {
			values[i] = *v.(*any)
			if bytes, is := values[i].([]byte); is && bytes == nil {
				values[i] = []byte{} // an empty one
			}
			if number, is := values[i].(int64); is && types[i].DatabaseTypeName() == "BOOLEAN" {
				values[i] = number != 0
			}
		}
		if _, err := to.ExecContext(ctx, insert, values...); err != nil {
			t.Fatalf("%s: %v", insert, err)
		}
		moved++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return moved
}

// A PostgreSQL database of an earlier version, with data, is migrated as SQLite's are (cmd/bursar): its rows and its
// balances are the same, and the service's role has its rights to what was added.
func TestAPostgresDatabaseOfAnEarlierVersionIsUpgraded(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	from, owner := earlierDatabase(t), storetest.EmptyPostgres(t)
	name := storetest.Ask(t, owner, `SELECT current_database() || '_role'`)
	run(t, server(t, owner), `CREATE ROLE `+name+` LOGIN`)
	if err := store.MigrateTo(ctx, owner, earlierSchema); err != nil {
		t.Fatal(err)
	}
	counts := moveAll(t, from, server(t, owner))
	if counts["postings"] == 0 || counts["deposits"] == 0 || counts["withdrawals"] == 0 || counts["invoices"] == 0 {
		t.Fatalf("the earlier database has the rows %v, want some of each", counts)
	}
	if err := store.GrantAsIs(ctx, owner, store.Role{Name: name}); err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{owner, storetest.AsRole(owner, name)} {
		db, err := store.Open(ctx, store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		db.Close()
	}
	for table, want := range counts {
		if got := storetest.Ask(t, owner, `SELECT COUNT(*)::text FROM `+table); got != fmt.Sprint(want) {
			t.Errorf("%s has %s rows behind the migration, want %d", table, got, want)
		}
	}
	db, err := store.Open(ctx, store.Config{URL: storetest.AsRole(owner, name)})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	err = db.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Notices().Lock(ctx, "ops"); err != nil {
			return err
		}
		_, err := tx.Notices().Unnoticed(ctx, "ops", nil, tx.Now(), 10)
		return errors.Join(err,
			tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Bitcoin, Kind: "odd", Ref: "x", Message: "m"}))
	})
	if err != nil {
		t.Errorf("the service's role cannot work on it: %v, want no error", err)
	}
}

// moveAll copies every table of SQLite into the same one of PostgreSQL, whose numbers go on behind them.
func moveAll(t *testing.T, from, to *sql.DB) map[string]int {
	t.Helper()
	conn, err := to.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := conn.ExecContext(ctx, `SET session_replication_role = replica`); err != nil { // no order of references
		t.Fatal(err)
	}
	rows, err := from.Query(`SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'
		AND name NOT LIKE 'goose_%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	counts := map[string]int{}
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			t.Fatal(err)
		}
		if _, err := conn.ExecContext(ctx, `DELETE FROM `+table); err != nil { // what migrations put there
			t.Fatal(err)
		}
		counts[table] = moveRows(t, from, conn, table)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, table := range []string{"alarms", "acts"} {
		_, err := conn.ExecContext(ctx, `SELECT setval(pg_get_serial_sequence('`+table+`', 'number'),
			(SELECT COALESCE(MAX(number), 0) + 1 FROM `+table+`))`)
		if err != nil {
			t.Fatal(err)
		}
	}
	return counts
}

// A program does not start on a database that a later version has migrated, whether it would migrate it or not.
func TestADatabaseOfALaterVersionIsRefused(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		url := storetest.AsOwner(storetest.URL(db))
		storetest.Ask(t, url, `INSERT INTO goose_db_version(version_id, is_applied) VALUES (90000, TRUE) RETURNING id`)
		t.Cleanup(func() { storetest.Ask(t, url, `DELETE FROM goose_db_version WHERE version_id = 90000 RETURNING id`) })
		for name, asIs := range map[string]bool{"that migrates": false, "that leaves the schema alone": true} {
			other, err := store.Open(t.Context(), store.Config{URL: url, AsIs: asIs})
			if err == nil {
				other.Close()
			}
			if !errors.Is(err, store.ErrNewer) {
				t.Errorf("a program %s: %v, want %v", name, err, store.ErrNewer)
			}
		}
	})
}
