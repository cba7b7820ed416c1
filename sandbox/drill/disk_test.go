package drill

import (
	"database/sql"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/patroni"
	"github.com/bursar/bursar/store"
)

// refused waits until the database refuses, and returns the error.
func (w *traffic) refused() error {
	w.t.Helper()
	late := time.After(2 * time.Minute)
	for ticker := time.NewTicker(10 * time.Millisecond); ; {
		w.mu.Lock()
		failed := w.failed
		w.mu.Unlock()
		if failed != nil {
			return failed
		}
		select {
		case <-late:
			w.t.Fatal("the database refuses nothing")
		case <-ticker.C:
		}
	}
}

// TestAFullDiskOfSQLite fills the disk of a SQLite database. Every refused write is refused as a whole; once there is
// space, writes continue by themselves.
func TestAFullDiskOfSQLite(t *testing.T) {
	dir := SmallDisk(t, "24m")
	url := "sqlite:" + filepath.Join(dir, "bursar.db")
	db := open(t, url)
	w := write(t, db)
	w.more(100)
	empty := Fill(t, dir)
	err := w.refused()
	t.Logf("the error is: %v", err)
	if !store.Away(err) {
		t.Errorf("a full disk is reported as a database that is unreachable: %v", err)
	}
	if _, err := db.Facts(t.Context()); err != nil {
		t.Errorf("reading fails: %v", err)
	}
	empty()
	began := time.Now()
	w.more(100)
	t.Logf("100 writes after %v", time.Since(began).Round(time.Millisecond))
	w.stop()
	if n := whole(t, url); n != w.count() {
		t.Errorf("%d entries are there of %d that were acknowledged", n, w.count())
	}
}

// TestAFullDiskOfPostgreSQL fills the disk of a PostgreSQL server: writes are refused. Once its log needs another
// segment the server ends by itself (PostgreSQL 15, section 29.2 "Disk Full Failure"): it is started again, as a
// service manager does.
func TestAFullDiskOfPostgreSQL(t *testing.T) {
	dir := SmallDisk(t, "160m")
	t.Setenv("TMPDIR", dir)
	s, err := patroni.NewServer(t.Context(), map[string]string{"max_wal_size": "64MB", "shared_buffers": "16MB"})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w := write(t, open(t, s.URL()))
	w.more(100)
	empty := Fill(t, dir)
	failed := w.refused()
	t.Logf("the error is: %v", failed)
	if !store.Away(failed) {
		t.Errorf("a full disk is reported as a database that is unreachable: %v", failed)
	}
	fillLog(t, s)
	empty()
	s.Kill()
	if err := s.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	w.more(100)
	t.Logf("100 writes after %v", time.Since(began).Round(time.Millisecond))
	w.stop()
	if n := whole(t, s.URL()); n < w.count() {
		t.Errorf("%d entries are there of %d that were acknowledged", n, w.count())
	}
}

// fillLog makes a server use up the existing segments of its log, until it ends.
func fillLog(t *testing.T, s *patroni.Server) {
	t.Helper()
	db, err := sql.Open("pgx", s.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	late := time.After(time.Minute)
	for ticker := time.NewTicker(20 * time.Millisecond); s.Alive(); {
		_, failed := db.Exec("SELECT pg_create_restore_point('full'), pg_switch_wal()")
		select {
		case <-late:
			t.Fatalf("the server runs on without space for its log: %v", failed)
		case <-ticker.C:
		}
	}
}

// TestANetworkThatDropsEverything drops every packet while connections stay open and new ones are accepted:
// nothing waits for ever, the error gives the reason, and once the network works again the same pool continues.
func TestANetworkThatDropsEverything(t *testing.T) {
	if testing.Short() {
		t.Skip("needs PostgreSQL: left out by -short")
	}
	s, err := patroni.NewServer(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w := write(t, open(t, s.RemoteURL()))
	w.more(100)
	s.HoldNetwork()
	began := time.Now()
	if err := w.refused(); !errors.Is(err, store.ErrSilent) || !store.Away(err) {
		t.Errorf("it is refused with %v", err)
	} else {
		t.Logf("after %v the error is: %v", time.Since(began).Round(time.Millisecond), err)
	}
	s.ResumeNetwork()
	began = time.Now()
	w.more(100)
	t.Logf("100 writes after %v", time.Since(began).Round(time.Millisecond))
	w.stop()
	if n := whole(t, s.URL()); n < w.count() {
		t.Errorf("%d entries are there of %d that were acknowledged", n, w.count())
	}
}
