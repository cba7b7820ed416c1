package store_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	makesTable = regexp.MustCompile(`CREATE TABLE (?:IF NOT EXISTS )?(\w+)`)
	makesIndex = regexp.MustCompile(`CREATE (?:UNIQUE )?INDEX (CONCURRENTLY )?(\w+) ON (\w+)`)
)

// A migration builds an index of a table that may be large beside those who write into it, and can be repeated if it was
// interrupted: PostgreSQL leaves an index behind then that it does not use (PostgreSQL 15, CREATE INDEX, "Building
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
		if strings.Contains(text, "+goose NO TRANSACTION") && regexp.MustCompile(`CREATE TABLE [a-z]|ADD COLUMN`).MatchString(text) {
			t.Errorf("%s: it cannot be repeated, want CREATE TABLE IF NOT EXISTS and no ADD COLUMN", file)
		}
	}
}
