package storetest

import (
	"bytes"
	"context"
	"database/sql"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	_ "modernc.org/sqlite" // the driver named "sqlite"

	"github.com/bursar/bursar/store"
)

// Copy makes a backup of an open database as it is now, and returns its URL.
func Copy(t testing.TB, db *store.DB) (url string) {
	t.Helper()
	from := URL(db)
	if !db.Postgres() {
		url = EmptySQLite(t)
		raw, err := sql.Open("sqlite", strings.TrimPrefix(from, "sqlite:"))
		if err != nil {
			t.Fatal(err)
		}
		defer raw.Close()
		if _, err := raw.ExecContext(context.Background(), "VACUUM INTO ?", strings.TrimPrefix(url, "sqlite:")); err != nil {
			t.Fatal(err)
		}
		return url
	}
	url = EmptyPostgres(t)
	bin, err := findServer()
	if err != nil {
		t.Fatal(err)
	}
	dump, err := exec.Command(filepath.Join(bin, "pg_dump"), AsOwner(from)).Output()
	if err != nil {
		t.Fatal(err)
	}
	load := exec.Command(filepath.Join(bin, "psql"), "-q", "-v", "ON_ERROR_STOP=1", url)
	load.Stdin = bytes.NewReader(dump)
	if out, err := load.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return sameRole(from, url)
}

// sameRole returns the URL of a database for the role of another URL.
func sameRole(from, url string) string {
	if AsOwner(from) == from {
		return url
	}
	return AsRole(url, serviceRole)
}
