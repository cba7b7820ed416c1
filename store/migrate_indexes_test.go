package store_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

var (
	makesTable = regexp.MustCompile(`CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
	makesIndex = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(\w+) ON (\w+)`)
)

// A migration builds an index of a table that may be large beside those who write into it, and can be repeated if it
// was interrupted: PostgreSQL leaves an index behind then that it does not use (PostgreSQL 15, CREATE INDEX, "Building
// Indexes Concurrently"). The first migrations are older than that rule, and than any large database.
func TestMigrationsBuildIndexesBesideTheService(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("migrations/*.sql")
	if err != nil || len(files) == 0 {
		t.Fatalf("no migrations: %v", err)
	}
	for _, file := range files {
		if filepath.Base(file) < "0023" {
			continue
		}
		read, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		text := string(read)
		var own []string
		for _, m := range makesTable.FindAllStringSubmatch(text, -1) {
			own = append(own, m[1])
		}
		for _, m := range makesIndex.FindAllStringSubmatch(text, -1) {
			if slices.Contains(own, m[3]) {
				continue
			}
			if m[1] == "" || !strings.Contains(text, "+goose NO TRANSACTION") ||
				!strings.Contains(text, "DROP INDEX CONCURRENTLY IF EXISTS "+m[2]+";") {
				t.Errorf("%s: the index %s of %s is built while nobody may write, or not after a failure: want "+
					"NO TRANSACTION, DROP INDEX CONCURRENTLY IF EXISTS and CREATE INDEX CONCURRENTLY", file, m[2], m[3])
			}
		}
		if strings.Contains(text, "+goose NO TRANSACTION") &&
			regexp.MustCompile(`CREATE TABLE [a-z]|ADD COLUMN`).MatchString(text) {
			t.Errorf("%s: it cannot be repeated, want CREATE TABLE IF NOT EXISTS and no ADD COLUMN", file)
		}
	}
}

// What an interrupted migration has done already does not keep it from being run again, and the schema comes out the
// same.
func TestMigrationsOutsideATransactionCanBeRepeated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		driver, source, dialect := "pgx", storetest.AsOwner(storetest.URL(db)), func(text string) string { return text }
		if file, is := store.SQLiteFile(storetest.URL(db)); is {
			driver, source = "sqlite", file
			dialect = func(text string) string { return strings.ReplaceAll(text, " CONCURRENTLY", "") }
		}
		raw, err := sql.Open(driver, source)
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		indexes := func() (list []string) {
			query := `SELECT sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY name`
			if db.Postgres() {
				query = `SELECT indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname`
			}
			found, err := raw.Query(query)
			if err != nil {
				t.Fatal(err)
			}
			defer found.Close()
			for found.Next() {
				var text string
				if err := found.Scan(&text); err != nil {
					t.Fatal(err)
				}
				list = append(list, text)
			}
			if err := found.Err(); err != nil {
				t.Fatal(err)
			}
			return list
		}
		before, repeated := indexes(), 0
		files, err := filepath.Glob("migrations/*.sql")
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			read, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(read), "+goose NO TRANSACTION") {
				continue
			}
			repeated++
			for statement := range strings.SplitSeq(comment.ReplaceAllString(string(read), ""), ";") {
				if strings.TrimSpace(statement) == "" {
					continue
				}
				if _, err := raw.Exec(dialect(statement)); err != nil {
					t.Fatalf("%s: %s: %v", file, statement, err)
				}
			}
		}
		if after := indexes(); repeated < 4 || !slices.Equal(after, before) {
			t.Errorf("%d migrations leave the indexes\n%s\nwant\n%s", repeated, strings.Join(after, "\n"),
				strings.Join(before, "\n"))
		}
	})
}

var comment = regexp.MustCompile(`(?m)^--.*$`)
