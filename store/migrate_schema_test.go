package store_test

import (
	"database/sql"
	"flag"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/store/storetest"
)

var update = flag.Bool("update", false, "write schema.sql as the migrations make it")

// schemaHead is how schema.sql begins.
const schemaHead = "" +
	`-- The whole schema as the migrations in store/migrations make it, for readers: SQLite's own words for it.
-- go test ./store -run TestTheSchema -update writes it again. PostgreSQL has the same tables, columns and indexes.
`

// schema.sql is what the migrations make, so that nobody has to read them in a row to know the database.
func TestTheSchemaIsAsWritten(t *testing.T) {
	t.Parallel()
	db := raw(t, "sqlite", strings.Replace(storetest.SQLite(t), "sqlite:", "file:", 1))
	statements := list(t, db,
		`SELECT sql FROM sqlite_master WHERE sql IS NOT NULL AND tbl_name <> 'goose_db_version' AND name NOT LIKE 'sqlite_%'
		ORDER BY tbl_name, type DESC, name`)
	made := schemaHead + "\n" + strings.Join(statements, ";\n\n") + ";\n"
	if *update {
		if err := os.WriteFile("schema.sql", []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile("schema.sql")
	if err != nil || string(written) != made {
		t.Errorf("schema.sql is not what the migrations make (%v): go test ./store -run TestTheSchema -update", err)
	}
}

// Both databases have the same tables with the same columns, and the same indexes.
func TestBothDatabasesHaveOneSchema(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	t.Parallel()
	lite := raw(t, "sqlite", strings.Replace(storetest.SQLite(t), "sqlite:", "file:", 1))
	server := raw(t, "pgx", storetest.Postgres(t))
	for what, queries := range map[string][2]string{
		"columns": {
			`SELECT m.name || '.' || c.name FROM sqlite_master m, pragma_table_info(m.name) c
				WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name <> 'goose_db_version'`,
			`SELECT table_name || '.' || column_name FROM information_schema.columns WHERE table_schema = current_schema()
				AND table_name <> 'goose_db_version'`,
		},
		"indexes": {
			`SELECT name FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL`,
			`SELECT indexname FROM pg_indexes WHERE schemaname = current_schema() AND indexname NOT LIKE '%_pkey'
				AND indexname NOT LIKE '%_key' AND tablename <> 'goose_db_version'`,
		},
	} {
		one, other := list(t, lite, queries[0]), list(t, server, queries[1])
		for _, name := range append(slices.Clone(one), other...) {
			if !slices.Contains(one, name) || !slices.Contains(other, name) {
				t.Errorf("%s: %s is in one database and not in the other", what, name)
			}
		}
		if len(one) < 20 {
			t.Errorf("%s: only %d are compared", what, len(one))
		}
	}
}

func raw(t *testing.T, driver, source string) *sql.DB {
	t.Helper()
	db, err := sql.Open(driver, source)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func list(t *testing.T, db *sql.DB, query string) (texts []string) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(fmt.Errorf("list: %w", err))
	}
	return texts
}
