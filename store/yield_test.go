package store

import (
	"context"
	"database/sql"
	"net/url"
	"path/filepath"
	"slices"
	"testing"
	"time"
)

// TestAMomentIsLeftToLitestreamAlone lets a connection write for five seconds of a clock of its own, beside what
// litestream 0.5.18 has open (db.go, init and acquireReadLock: two tables, and a transaction that reads), and counts
// the pauses.
func TestAMomentIsLeftToLitestreamAlone(t *testing.T) {
	const takes = 5 * time.Millisecond
	for name, c := range map[string]struct {
		tables []string
		reads  bool
		every  time.Duration // in which a transaction begins
		want   int
	}{
		"litestream holds the log":           {[]string{"_litestream_seq", "_litestream_lock"}, true, takes, 4},
		"litestream is not running":          {[]string{"_litestream_seq", "_litestream_lock"}, false, takes, 0},
		"something else reads for long":      {[]string{"another"}, true, takes, 0},
		"the lock is free for half the time": {[]string{"_litestream_seq", "_litestream_lock"}, true, 2 * takes, 0},
		"hardly anything is written":         {[]string{"_litestream_seq", "_litestream_lock"}, true, 900 * takes, 0},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bursar.db")
			source := sqliteSource(path, url.Values{"_pragma": {"journal_mode(WAL)", "wal_autocheckpoint(20)"}})
			beside, err := sql.Open("sqlite", source)
			if err != nil {
				t.Fatal(err)
			}
			defer beside.Close()
			for _, table := range append(c.tables, "written") {
				if _, err := beside.ExecContext(t.Context(), `CREATE TABLE `+table+` (id INTEGER PRIMARY KEY)`); err != nil {
					t.Fatal(err)
				}
			}
			if c.reads {
				tx, err := beside.BeginTx(t.Context(), nil)
				if err != nil {
					t.Fatal(err)
				}
				defer tx.Rollback()
				var n int
				if err := tx.QueryRowContext(t.Context(), `SELECT count(*) FROM written`).Scan(&n); err != nil {
					t.Fatal(err)
				}
			}
			if got := pausesOf(t, source, path, takes, c.every); len(got) != c.want {
				t.Errorf("the writer paused %v, want %d pauses", got, c.want)
			} else if slices.ContainsFunc(got, func(d time.Duration) bool { return d <= patientPoll }) {
				t.Errorf("the writer paused %v, want more than %v each time", got, patientPoll)
			}
		})
	}
}

// pausesOf writes for five seconds, a transaction in every, each of which takes a time.
func pausesOf(t *testing.T, source, path string, takes, every time.Duration) (pauses []time.Duration) {
	t.Helper()
	pool, err := openCached(source+"&_txlock=immediate", path, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer pool.Close()
	pool.SetMaxOpenConns(1)
	conn, err := pool.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	start := time.Unix(1_800_000_000, 0)
	now := start
	if err := conn.Raw(func(raw any) error {
		y := raw.(*cachedConn).yield
		y.now = func() time.Time { return now }
		y.wait = func(_ context.Context, d time.Duration) bool {
			now, pauses = now.Add(d), append(pauses, d)
			return true
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for now.Before(start.Add(5 * time.Second)) {
		tx, err := conn.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.ExecContext(t.Context(), `INSERT INTO written DEFAULT VALUES`); err != nil {
			t.Fatal(err)
		}
		now = now.Add(takes)
		if err := tx.Commit(); err != nil {
			t.Fatal(err)
		}
		now = now.Add(every - takes)
	}
	return pauses
}
