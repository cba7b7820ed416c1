package api_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"
)

// ledgers reads a whole database, so that a test can check that nothing was written.
type ledgers struct {
	db     *sql.DB
	tables []string
}

// openLedgers opens a connection beside the service's own.
func openLedgers(t testing.TB, url string) *ledgers {
	t.Helper()
	driver, name, list := "pgx", url, "SELECT quote_ident(tablename) FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
	if file, is := strings.CutPrefix(url, "sqlite:"); is {
		driver, name, list = "sqlite", "file:"+file+"?mode=ro",
			"SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	l := &ledgers{db: db}
	if l.tables, err = column(db, list); err != nil || len(l.tables) < 10 {
		t.Fatalf("the database has the tables %v, %v, want at least 10", l.tables, err)
	}
	return l
}

// read returns everything that the database holds, row by row.
func (l *ledgers) read() (string, error) {
	var all strings.Builder
	for _, table := range l.tables {
		fmt.Fprintf(&all, "== %s\n", table)
		if err := l.table(&all, table); err != nil {
			return "", fmt.Errorf("read %s: %w", table, err)
		}
	}
	return all.String(), nil
}

func (l *ledgers) table(out *strings.Builder, name string) error {
	query := "SELECT * FROM " + name
	if name == "balances" { // a row without a posting is only a place to lock
		query += " WHERE NOT (debits = '0' AND credits = '0')"
	}
	rows, err := l.db.QueryContext(context.Background(), query+" ORDER BY 1, 2")
	if err != nil {
		return err
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		return err
	}
	for rows.Next() {
		cells, places := make([]any, len(columns)), make([]any, len(columns))
		for i := range cells {
			places[i] = &cells[i]
		}
		if err := rows.Scan(places...); err != nil {
			return err
		}
		fmt.Fprintf(out, "%v\n", cells)
	}
	return rows.Err()
}

func column(db *sql.DB, query string) (list []string, err error) {
	rows, err := db.Query(query)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		list = append(list, text)
	}
	return list, rows.Err()
}

// difference returns the lines that only one of two readings has.
func difference(before, after string) string {
	had := map[string]int{}
	for line := range strings.Lines(before) {
		had[line]++
	}
	var added, gone strings.Builder
	for line := range strings.Lines(after) {
		if had[line]--; had[line] < 0 {
			added.WriteString("+ " + line)
		}
	}
	for line, n := range had {
		if n > 0 {
			gone.WriteString("- " + line)
		}
	}
	return added.String() + gone.String()
}
