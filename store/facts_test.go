package store_test

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestFacts(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		f, err := db.Facts(t.Context())
		if err != nil || f.Size < 10_000 {
			t.Fatalf("%+v, %v, want at least 10_000", f, err)
		}
		if db.Postgres() {
			if off := time.Since(f.Clock); !strings.HasPrefix(f.Software, "PostgreSQL 1") || f.File != "" ||
				off.Abs() > time.Minute {
				t.Errorf("%+v, its clock is %v off, want %q first and %q and at most %v", f, off, "PostgreSQL 1", "", time.Minute)
			}
			return
		}
		if _, err := os.Stat(f.File); err != nil || !strings.HasPrefix(f.Software, "SQLite 3.") || !f.Clock.IsZero() {
			t.Errorf("%+v, %v, want %q first and zero", f, err, "SQLite 3.")
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := db.Facts(t.Context()); err == nil {
			t.Error("a closed database has facts, want an error")
		}
	})
}
