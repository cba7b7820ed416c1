package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bursar/bursar/store"
)

// Restored is the result of a restore.
type Restored struct {
	Copy
	Database string // the database file; empty on PostgreSQL
	Previous string // the name of the previous database file; empty if there was none
}

// Restore replaces the database with a backup. All of the copy is checked first, and it is marked as restored, so that
// the service recovers what is on the chains and missing from the copy before it signs anything. An existing SQLite
// database is kept next to it; a PostgreSQL database must be empty. Errors: ErrInUse, ErrOtherKeys, ErrNotEmpty,
// ErrSum, and those of Check.
func Restore(ctx context.Context, databaseURL, file string, now time.Time) (Restored, error) {
	path, sqlite := store.SQLiteFile(databaseURL)
	kind, err := kindOf(file)
	switch {
	case err != nil:
		return Restored{}, err
	case sqlite != (kind == sqliteFile):
		return Restored{}, fmt.Errorf("%s is a backup of another database system than the configured one", file)
	case sqlite:
		return restoreSQLite(ctx, path, file, now)
	}
	return restoreDump(ctx, databaseURL, file, now)
}

func restoreSQLite(ctx context.Context, path, file string, now time.Time) (r Restored, err error) {
	if resolved, err := filepath.EvalSymlinks(path); err == nil {
		path = resolved // replaces the file itself, and not the link to it
	}
	if err := another(file, path); err != nil {
		return r, err
	}
	if r.Copy, err = Check(ctx, "", file, false); err != nil {
		return r, err
	}
	if err := sameKeys(ctx, path, r.Contents); err != nil {
		return r, err
	}
	lock, err := lockFile(path) // do not open that file from here on: closing it would release the lock (POSIX, fcntl)
	if err != nil {
		return r, err
	}
	if lock != nil {
		defer lock.Close()
	}
	work, err := take(ctx, file, path, r.SHA256)
	if err != nil {
		return r, err
	}
	defer os.Remove(work) // no effect after success: the file has another name then
	if err := store.MarkRestored(ctx, work, now.UTC().Format(time.RFC3339)); err != nil {
		return r, err
	}
	r.Database = path
	r.Previous, err = replace(work, path, now)
	return r, err
}

// another refuses the database itself as its own backup, and a file whose newest part is in a log next to it.
func another(file, path string) error {
	from, err := os.Stat(file)
	if err != nil {
		return err
	}
	if there, err := os.Stat(path); err == nil && os.SameFile(from, there) {
		return fmt.Errorf("%s is the database itself", file)
	}
	if log, err := os.Stat(file + "-wal"); err == nil && log.Size() > 0 {
		return fmt.Errorf("%s has a log beside it, %s-wal: it is not a backup, but a database that was not closed",
			file, file)
	}
	return nil
}

// sameKeys refuses a copy of another seed's or network's database. An unreadable database cannot be compared.
func sameKeys(ctx context.Context, path string, copied store.Contents) error {
	there, err := store.ReadPins(ctx, path)
	if err != nil || there.Seed == "" {
		return nil
	}
	if there.Seed != copied.Seed || there.Network != copied.Network {
		return fmt.Errorf("%w: %s", ErrOtherKeys, path)
	}
	return nil
}

// take copies a backup into the folder of the database, and checks that the written file is the checked one.
func take(ctx context.Context, file, path, sha string) (work string, err error) {
	from, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer from.Close()
	to, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*") // mode 0600
	if err != nil {
		return "", fmt.Errorf("copy the backup: %w", err)
	}
	_, err = io.Copy(to, from)
	err = errors.Join(err, to.Sync(), to.Close(), ctx.Err())
	if err == nil {
		var got string
		if _, got, err = sum(to.Name()); err == nil && got != sha {
			err = ErrSum
		}
	}
	if err == nil {
		err = sameOwner(to.Name(), path)
	}
	if err != nil {
		return "", fmt.Errorf("copy the backup: %w", errors.Join(err, os.Remove(to.Name())))
	}
	return to.Name(), nil
}

// replace renames work to the database's name, and the existing database to another one. There is a database at every
// moment: without one, the service would create an empty one. The old database's log must never be used with the new
// one, so it is moved first.
func replace(work, path string, now time.Time) (aside string, err error) {
	if err := syncFile(work); err != nil {
		return "", err
	}
	_, err = os.Lstat(path)
	old := err == nil
	name := path + ".replaced-" + now.UTC().Format("20060102T150405.000Z")
	if old {
		if err := keep(path, name); err != nil {
			return "", err
		}
		aside = name
	}
	for _, suffix := range []string{"-wal", "-shm", "-journal"} {
		if err := os.Rename(path+suffix, name+suffix); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return aside, fmt.Errorf("move the old database's log away: %w", err)
		}
	}
	if err := os.Rename(work, path); err != nil {
		return aside, fmt.Errorf("move the copy into place: %w", err)
	}
	return aside, syncFile(filepath.Dir(path))
}

// keep gives a file a second name, or moves it if the file system does not support links.
func keep(path, name string) error {
	err := os.Link(path, name)
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(path, name)
	}
	if err != nil {
		return fmt.Errorf("keep the old database: %w", err)
	}
	return nil
}

func restoreDump(ctx context.Context, databaseURL, file string, now time.Time) (r Restored, err error) {
	if r.Copy, err = Check(ctx, "", file, false); err != nil {
		return r, err
	}
	db, err := store.OpenAsIs(databaseURL)
	if err != nil {
		return r, err
	}
	defer db.Close()
	empty, err := db.Empty(ctx)
	if err != nil {
		return r, err
	}
	if !empty {
		return r, ErrNotEmpty
	}
	if err := load(ctx, databaseURL, file); err != nil {
		return r, err
	}
	if r.Contents, err = db.CheckHealth(ctx); err != nil {
		return r, fmt.Errorf("the dump was loaded but is damaged; drop the database: %w", err)
	}
	r.Checked = true
	return r, db.Do(ctx, func(tx *store.Tx) error {
		return tx.Settings().SetRestored(ctx, now.UTC().Format(time.RFC3339))
	})
}
