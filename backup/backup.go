// Package backup copies the service's database while the service runs, checks a copy, and replaces the database with a
// copy.
//
// It owns the files: their names, their permissions, and the order in which they are written, synced and renamed.
// Package store checks what a database contains and whether it is intact. Its invariants: an existing file is never
// overwritten; a backup gets its name only once it is complete, checked and on the disk; a restore reads all of the
// copy before it changes anything, refuses a database that a process has open, and keeps the previous database.
package backup

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/bursar/bursar/store"
)

// Copy is a backup that was checked.
type Copy struct {
	File     string
	Size     int64  // bytes
	SHA256   string // hexadecimal
	Summed   bool   // whether a file with its sum was next to it; a wrong sum is an error
	Contents store.Contents
	Checked  bool // whether the contents were read: those of a PostgreSQL dump only if that was requested
}

// Errors of this package, besides those of store.DB.CheckHealth.
var (
	ErrExists = errors.New("the file exists, and a backup never overwrites a file")
	ErrSum    = errors.New("the file does not match its .sha256")
	// ErrInUse is returned if a process has the database open.
	ErrInUse = errors.New("a process has the database open: stop `bursar serve` and everything else that reads the " +
		"file, such as litestream")
	// ErrOtherKeys is returned for a copy of a database that belongs to another seed or network.
	ErrOtherKeys = errors.New("the copy belongs to another seed or network than the existing database")
	// ErrNotEmpty is returned if the database for a dump is not empty.
	ErrNotEmpty = errors.New("the PostgreSQL database is not empty: restore into a new one and name that in the " +
		"configuration")
)

// sumOf returns the name of the file next to a backup that has its sum, in the format of sha256sum.
func sumOf(file string) string { return file + ".sha256" }

// Save copies the database to a new file that only its owner may read, and its SHA-256 to a file next to it. All of a
// SQLite copy is checked; a PostgreSQL copy is a dump in the custom format, whose contents are checked in a scratch
// database on the same server if verify is set.
func Save(ctx context.Context, databaseURL, file string, verify bool) (Copy, error) {
	for _, name := range []string{file, sumOf(file)} {
		if _, err := os.Lstat(name); !errors.Is(err, fs.ErrNotExist) {
			return Copy{}, fmt.Errorf("%s: %w", name, errors.Join(ErrExists, err))
		}
	}
	work, err := os.CreateTemp(filepath.Dir(file), "."+filepath.Base(file)+".*") // mode 0600
	if err != nil {
		return Copy{}, fmt.Errorf("make the backup: %w", err)
	}
	defer os.Remove(work.Name()) // no effect after success: the file has another name then
	if err := work.Close(); err != nil {
		return Copy{}, fmt.Errorf("make the backup: %w", err)
	}
	if path, sqlite := store.SQLiteFile(databaseURL); sqlite {
		err = saveSQLite(ctx, path, work.Name())
	} else {
		err = dump(ctx, databaseURL, work.Name())
	}
	if err != nil {
		return Copy{}, err
	}
	c, err := look(ctx, work.Name(), databaseURL, verify)
	if err != nil {
		return Copy{}, fmt.Errorf("check the backup: %w", err)
	}
	c.File = file
	return c, publish(work.Name(), c)
}

func saveSQLite(ctx context.Context, path, to string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("open the database: %w", err)
	}
	return store.CopySQLite(ctx, path, to)
}

// publish syncs a file and gives it its name, unless that was taken in the meantime; then it writes its sum.
func publish(work string, c Copy) error {
	if err := syncFile(work); err != nil {
		return err
	}
	err := os.Link(work, c.File) // does not overwrite, unlike a rename
	if err != nil && !errors.Is(err, fs.ErrExist) {
		err = os.Rename(work, c.File) // the file system does not support links
	}
	if err != nil {
		return fmt.Errorf("name the backup: %w", err)
	}
	if err := writeSum(c); err != nil {
		return err
	}
	return syncFile(filepath.Dir(c.File))
}

func writeSum(c Copy) error {
	file, err := os.OpenFile(sumOf(c.File), os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("write the backup's sum: %w", err)
	}
	_, err = fmt.Fprintf(file, "%s  %s\n", c.SHA256, filepath.Base(c.File))
	if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the backup's sum: %w", err)
	}
	return nil
}

// syncFile waits until a file or a folder is on the disk.
func syncFile(name string) error {
	file, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("sync to the disk: %w", err)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("sync %s to the disk: %w", name, err)
	}
	return nil
}

// Check reads a whole backup: its sum, if the file with the sum is next to it, and its contents. A dump is read as far
// as possible without a server; with the URL of a PostgreSQL database and verify it is loaded into a scratch database
// there and checked completely.
func Check(ctx context.Context, databaseURL, file string, verify bool) (Copy, error) {
	c, err := look(ctx, file, databaseURL, verify)
	if err != nil {
		return c, err
	}
	text, err := os.ReadFile(sumOf(file))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return c, nil
	case err != nil:
		return c, fmt.Errorf("read the backup's sum: %w", err)
	}
	if words := strings.Fields(string(text)); len(words) == 0 || words[0] != c.SHA256 {
		return c, fmt.Errorf("%s: %w", file, ErrSum)
	}
	c.Summed = true
	return c, nil
}

// look computes the sum of a file and checks its contents.
func look(ctx context.Context, file, databaseURL string, verify bool) (c Copy, err error) {
	c.File = file
	if c.Size, c.SHA256, err = sum(file); err != nil {
		return c, err
	}
	kind, err := kindOf(file)
	switch {
	case err != nil:
		return c, err
	case kind == sqliteFile:
		db, err := store.OpenCopy(file)
		if err != nil {
			return c, err
		}
		defer db.Close()
		c.Contents, err = db.CheckHealth(ctx)
		c.Checked = err == nil
		return c, err
	case verify:
		c.Contents, err = loadAndCheck(ctx, databaseURL, file)
		c.Checked = err == nil
		return c, err
	}
	return c, listDump(ctx, file)
}

func sum(name string) (size int64, hexSum string, err error) {
	file, err := os.Open(name)
	if err != nil {
		return 0, "", err
	}
	defer file.Close()
	hash := sha256.New()
	if size, err = io.Copy(hash, file); err != nil {
		return 0, "", fmt.Errorf("read %s: %w", name, err)
	}
	return size, hex.EncodeToString(hash.Sum(nil)), nil
}

// kind is the database system of a backup.
type kind string

const (
	sqliteFile kind = "SQLite format 3\x00" // SQLite, fileformat2.html, 1.3.1
	dumpFile   kind = "PGDMP"               // PostgreSQL 15, pg_backup_archiver.c, ReadHead
)

func kindOf(name string) (kind, error) {
	file, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer file.Close()
	head := make([]byte, 16)
	if _, err := io.ReadFull(file, head); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("read %s: %w", name, err)
	}
	for _, k := range []kind{sqliteFile, dumpFile} {
		if strings.HasPrefix(string(head), string(k)) {
			return k, nil
		}
	}
	return "", fmt.Errorf("%s: %w: neither a SQLite file nor a dump in pg_dump's custom format", name, store.ErrNotBursar)
}
