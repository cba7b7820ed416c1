package backup_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/backup"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// holding makes this program open a database and do nothing else.
const holding = "BURSAR_TEST_HOLDS"

func TestMain(m *testing.M) {
	url := os.Getenv(holding)
	if url == "" {
		storetest.Main(m)
	}
	if _, err := store.Open(ctx, store.Config{URL: url}); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println("open")
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0) // like a killed process: nothing is closed
}

// hold opens a database in another process, and returns the function that kills it.
func hold(t *testing.T, url string) (kill func()) {
	t.Helper()
	c := exec.Command(os.Args[0])
	c.Env = append(os.Environ(), holding+"="+url)
	_, err := c.StdinPipe() // it ends with this process
	if err != nil {
		t.Fatal(err)
	}
	out, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	kill = func() { _, _ = c.Process.Kill(), c.Wait() }
	t.Cleanup(kill)
	if line, err := bufio.NewReader(out).ReadString('\n'); err != nil || line != "open\n" {
		t.Fatalf("the other process says %q, %v, want %q", line, err, "open\n")
	}
	return kill
}

var moment = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

// read opens a database and returns the number of its entries and its restore mark.
func read(t *testing.T, url string) (entries int64, restored string) {
	t.Helper()
	db, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	c, err := db.CheckHealth(ctx)
	if err != nil {
		t.Fatal(err)
	}
	return c.Entries, c.Restored
}

func TestARestoreRefusesAnOpenDatabase(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	credit(t, db, 1, 5)
	c := save(t, url)
	credit(t, db, 2, 5)
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	kill := hold(t, url)
	if _, err := backup.Restore(ctx, url, c.File, moment); !errors.Is(err, backup.ErrInUse) {
		t.Fatalf("restoring under an open database: %v, want %v", err, backup.ErrInUse)
	}
	kill()
	r, err := backup.Restore(ctx, url, c.File, moment)
	if err != nil {
		t.Fatal(err)
	}
	if entries, restored := read(t, url); entries != 5 || restored != "2026-01-31T12:00:00Z" {
		t.Errorf("restored are %d entries, marked %q, want 5 and %q", entries, restored, "2026-01-31T12:00:00Z")
	}
	if entries, restored := read(t, "sqlite:"+r.Previous); entries != 10 || restored != "" {
		t.Errorf("kept are %d entries, marked %q, want 10 and %q", entries, restored, "")
	}
	if info, err := os.Stat(file(url)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the database is %v, %v, want 0o600", info.Mode(), err)
	}
}

// The log of a killed process's database must never be used as the log of the database that replaces it.
func TestTheLogOfTheOldDatabaseStaysWithIt(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db := storetest.Open(t, url)
	credit(t, db, 1, 5)
	c := save(t, url)
	credit(t, db, 2, 5)
	dead := filepath.Join(t.TempDir(),
		"bursar.db") // the state on the disk while it is open: the newest part is in the log
	for _, suffix := range []string{"", "-wal"} {
		text, err := os.ReadFile(file(url) + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(dead+suffix, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := backup.Restore(ctx, url, dead, moment); err == nil || !strings.Contains(err.Error(), "log beside it") {
		t.Errorf("a file with a log is taken for a backup: %v, want an error and %q in it", err, "log beside it")
	}
	r, err := backup.Restore(ctx, "sqlite:"+dead, c.File, moment)
	if err != nil {
		t.Fatal(err)
	}
	if entries, _ := read(t, "sqlite:"+dead); entries != 5 {
		t.Errorf("restored are %d entries, want 5", entries)
	}
	if entries, _ := read(t, "sqlite:"+r.Previous); entries != 10 {
		t.Errorf("kept are %d entries, want 10", entries)
	}
}

func TestADamagedDatabaseIsReplacedAndKept(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db, err := store.Open(ctx, store.Config{URL: url})
	if err != nil {
		t.Fatal(err)
	}
	credit(t, db, 1, 5)
	c := save(t, url)
	db.Close()
	if err := os.WriteFile(file(url), []byte("gone"), 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := backup.Restore(ctx, url, c.File, moment)
	if err != nil {
		t.Fatal(err)
	}
	if entries, _ := read(t, url); entries != 5 {
		t.Errorf("restored are %d entries, want 5", entries)
	}
	if text, err := os.ReadFile(r.Previous); err != nil || string(text) != "gone" {
		t.Errorf("kept is %q, %v, want %q", text, err, "gone")
	}
}

func TestARestoreWithoutAPreviousDatabase(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	credit(t, storetest.Open(t, url), 1, 5)
	c := save(t, url)
	other := storetest.EmptySQLite(t)
	r, err := backup.Restore(ctx, other, c.File, moment)
	if err != nil || r.Previous != "" || r.Database != file(other) {
		t.Fatalf("%+v, %v", r, err)
	}
	if entries, _ := read(t, other); entries != 5 {
		t.Errorf("restored are %d entries, want 5", entries)
	}
}

// Nothing is changed unless the backup is complete and belongs to this seed and network.
func TestABackupOfAnotherDatabaseIsRefused(t *testing.T) {
	t.Parallel()
	url, other := storetest.SQLite(t), storetest.SQLite(t)
	for url, seed := range map[string]string{url: "mine", other: "another's"} {
		db, err := store.Open(ctx, store.Config{URL: url})
		if err != nil {
			t.Fatal(err)
		}
		pin(t, db, seed)
		credit(t, db, 1, 5)
		db.Close()
	}
	theirs, bad, summed := save(t, other), save(t, url), save(t, url)
	execute(t, bad.File, `DELETE FROM balances`)
	execute(t, summed.File, `UPDATE entries SET at = at + 1`)
	before, err := os.ReadFile(file(url))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]error{theirs.File: backup.ErrOtherKeys, bad.File: store.ErrDamaged,
		summed.File: backup.ErrSum, file(url): nil, "/nowhere": os.ErrNotExist} {
		if _, err := backup.Restore(ctx, url, name, moment); err == nil || want != nil && !errors.Is(err, want) {
			t.Errorf("restoring %s gives %v, want %v", name, err, want)
		}
	}
	after, err := os.ReadFile(file(url))
	if err != nil || string(before) != string(after) {
		t.Errorf("the database was touched: %v, want %v", err, string(after))
	}
	if left, _ := filepath.Glob(file(url) + ".replaced*"); len(left) > 0 {
		t.Errorf("there is %v, want none", left)
	}
}

func TestPostgresIsDumpedCheckedAndRestored(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	t.Parallel()
	url := storetest.Postgres(t)
	db := storetest.Open(t, url)
	pin(t, db, "s")
	credit(t, db, 1, 5)
	path := filepath.Join(t.TempDir(), "bursar.dump")
	c, err := backup.Save(ctx, url, path, true)
	if err != nil || !c.Checked || c.Contents.Entries != 5 || c.Contents.Seed != "s" {
		t.Fatalf("dumped is %+v, %v", c, err)
	}
	own := filepath.Join(t.TempDir(), "service.dump")
	if _, err := backup.Save(ctx, storetest.AsRole(url, "service"), own, false); err != nil {
		t.Errorf("the service's role cannot dump: %v", err)
	}
	credit(t, db, 2, 5)
	if quick, err := backup.Check(ctx, url, path, false); err != nil || quick.Checked || !quick.Summed {
		t.Errorf("without a server it is %+v, %v", quick, err)
	}
	if _, err := backup.Restore(ctx, url, path, moment); !errors.Is(err, backup.ErrNotEmpty) {
		t.Errorf("restoring over what is there: %v, want %v", err, backup.ErrNotEmpty)
	}
	if _, err := backup.Restore(ctx, storetest.SQLite(t), path, moment); err == nil {
		t.Error("a dump was restored into SQLite, want an error")
	}
	other := storetest.EmptyPostgres(t)
	if _, err := backup.Restore(ctx, other, path, moment); err != nil {
		t.Fatal(err)
	}
	if entries, restored := read(t, other); entries != 5 || restored != "2026-01-31T12:00:00Z" {
		t.Errorf("restored are %d entries, marked %q, want 5 and %q", entries, restored, "2026-01-31T12:00:00Z")
	}
	credit(t, storetest.Open(t, other), 2, 5) // the sequences continue after the restored values
}

// pg_restore can read a dump whose books are inconsistent like any other.
func TestADumpOfDamagedBooksIsRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("PostgreSQL is left out by -short")
	}
	t.Parallel()
	url := storetest.Postgres(t)
	db := storetest.Open(t, url)
	credit(t, db, 1, 5)
	corrupt(t, url)
	path := filepath.Join(t.TempDir(), "bursar.dump")
	if _, err := backup.Save(ctx, url, path, true); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("dumping with --verify: %v, want %v", err, store.ErrDamaged)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a damaged dump has a name: %v, want %v", err, os.ErrNotExist)
	}
	if err := os.WriteFile(path, []byte("PGDMP and then nothing"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Check(ctx, url, path, false); err == nil || !strings.Contains(err.Error(), "pg_restore") {
		t.Errorf("half a dump: %v, want an error and %q in it", err, "pg_restore")
	}
}
