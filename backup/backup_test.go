package backup_test

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/backup"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

var ctx = context.Background()

// credit books n deposits of one satoshi.
func credit(t *testing.T, db *store.DB, worker byte, n int) {
	t.Helper()
	for i := range n {
		d := bursar.Deposit{ID: bursar.ID{worker, byte(i >> 8), byte(i)}, AccountID: bursar.ID{1}, Currency: "BTC",
			Amount: bursar.Units(1)}
		if err := db.Do(ctx, func(tx *store.Tx) error {
			return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()))
		}); err != nil {
			t.Error(err)
		}
	}
}

// pin binds a database to a seed and a network.
func pin(t *testing.T, db *store.DB, seed string) {
	t.Helper()
	err := db.Do(ctx, func(tx *store.Tx) error {
		return errors.Join(tx.Settings().Pin(ctx, "seed", seed), tx.Settings().Pin(ctx, "network", "regtest"))
	})
	if err != nil {
		t.Fatal(err)
	}
}

// file returns the file of a SQLite database.
func file(url string) string { return strings.TrimPrefix(url, "sqlite:") }

// execute changes a closed SQLite file as no service does.
func execute(t *testing.T, path, statement string) {
	t.Helper()
	raw, err := sql.Open("sqlite", "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(statement); err != nil {
		t.Fatal(err)
	}
}

func save(t *testing.T, url string) backup.Copy {
	t.Helper()
	c, err := backup.Save(ctx, url, filepath.Join(t.TempDir(), "copy.db"), false)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// What is committed before a backup starts is in it, and the backup is consistent while others keep writing.
func TestABackupOfABusyDatabaseIsConsistent(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db := storetest.Open(t, url)
	pin(t, db, "s")
	credit(t, db, 1, 50)
	var group sync.WaitGroup
	group.Go(func() { credit(t, db, 2, 200) })
	group.Go(func() { credit(t, db, 3, 200) })
	dir := t.TempDir()
	defer group.Wait()
	var entries []int64
	for _, name := range []string{"a", "b", "c", "d"} {
		c, err := backup.Save(ctx, url, filepath.Join(dir, name), false)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, c.Contents.Entries)
		again, err := backup.Check(ctx, url, c.File, false)
		if err != nil || !again.Summed || again.Contents.Entries != c.Contents.Entries {
			t.Errorf("looking again gives %+v, %v", again, err)
		}
		if info, err := os.Stat(c.File); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file is %v, %v, want 0o600", info.Mode(), err)
		}
	}
	group.Wait()
	if entries[0] < 50 || entries[3] > 450 || entries[3] < entries[0] {
		t.Errorf("the backups contain %v entries, want at least 50 and at most 450 and at least %v", entries, entries[0])
	}
	left, err := os.ReadDir(dir)
	if err != nil || len(left) != 8 {
		t.Errorf("beside the backups and their sums there are %v, want 8 of them", left)
	}
	if last := save(t, url); last.Contents.Entries != 450 || last.Contents.Seed != "s" ||
		last.Contents.Network != "regtest" {
		t.Errorf("the last contains %+v, want 450 and %q and %q", last.Contents, "s", "regtest")
	}
}

func TestABackupOverwritesNothing(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	storetest.Open(t, url)
	for _, taken := range []string{"copy.db", "copy.db.sha256"} {
		dir := t.TempDir()
		if err := os.WriteFile(filepath.Join(dir, taken), []byte("precious"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Save(ctx, url, filepath.Join(dir, "copy.db"), false); !errors.Is(err, backup.ErrExists) {
			t.Errorf("with %s there: %v, want %v", taken, err, backup.ErrExists)
		}
		text, err := os.ReadFile(filepath.Join(dir, taken))
		if left, _ := os.ReadDir(dir); err != nil || string(text) != "precious" || len(left) != 1 {
			t.Errorf("%s is %q afterwards, %v; there are %v, want %q and 1 of them", taken, text, err, left, "precious")
		}
	}
}

// A mistyped path must not create a database, and then back up nothing.
func TestAMissingDatabaseIsNotBackedUp(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "mistyped.db")
	_, err := backup.Save(ctx, "sqlite:"+path, filepath.Join(t.TempDir(), "copy.db"), false)
	if _, made := os.Stat(path); !errors.Is(err, os.ErrNotExist) || !errors.Is(made, os.ErrNotExist) {
		t.Errorf("backing it up gives %v, then it is there: %v, want %v", err, made, os.ErrNotExist)
	}
}

func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	db := storetest.Open(t, url)
	pin(t, db, "s")
	credit(t, db, 1, 20)
	whole := save(t, url)
	for _, c := range []struct {
		name, statement string
		want            error
	}{
		{"a balance was edited", `UPDATE balances SET credits = '999' WHERE credits <> '0'`, store.ErrDamaged},
		{"a balance is gone", `DELETE FROM balances`, store.ErrDamaged},
		{"a posting is gone", `DELETE FROM postings WHERE entry = 3`, store.ErrDamaged},
		{"an amount was edited", `UPDATE postings SET amount = '2' WHERE entry = 3`, store.ErrDamaged},
		{"an entry is gone", `DELETE FROM entries WHERE number = 3`, store.ErrDamaged},
		{"an entry came from nowhere", `INSERT INTO entries(number, kind, ref, at) VALUES (900, 'x', 'y', 1)`,
			store.ErrDamaged},
		{"a newer version wrote it", `INSERT INTO goose_db_version(version_id, is_applied) VALUES (90000, 1)`,
			store.ErrNewer},
		{"it is of somebody else", `DROP TABLE goose_db_version`, store.ErrNotBursar},
	} {
		text, err := os.ReadFile(whole.File)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "copy.db")
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		execute(t, path, c.statement)
		if _, err := backup.Check(ctx, "", path, false); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.name, err, c.want)
		}
	}
}

func TestAFlippedBitIsFound(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	credit(t, storetest.Open(t, url), 1, 20)
	c := save(t, url)
	text, err := os.ReadFile(c.File)
	if err != nil {
		t.Fatal(err)
	}
	text[len(text)/2] ^= 1
	if err := os.WriteFile(c.File, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Check(ctx, "", c.File, false); err == nil {
		t.Error("a file with another bit passes, want an error")
	}
	if err := os.WriteFile(c.File, text[:len(text)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := backup.Check(ctx, "", c.File, false); !errors.Is(err, store.ErrDamaged) {
		t.Errorf("half a file: %v, want %v", err, store.ErrDamaged)
	}
	for name, text := range map[string]string{"empty": "", "text": "this is a shopping list, not a database"} {
		if err := os.WriteFile(c.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := backup.Check(ctx, "", c.File, false); !errors.Is(err, store.ErrNotBursar) {
			t.Errorf("a file that is %s: %v, want %v", name, err, store.ErrNotBursar)
		}
	}
}

// corrupt edits the books of a PostgreSQL database.
func corrupt(t *testing.T, url string) {
	t.Helper()
	raw, err := sql.Open("pgx", url)
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	if _, err := raw.Exec(`UPDATE balances SET debits = '7' WHERE debits <> '0'`); err != nil {
		t.Fatal(err)
	}
}
