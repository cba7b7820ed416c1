// Package archive moves delivered events, and old postings of the books, out of the database into files.
//
// It owns the files: their form, and that nothing is removed from the database that is not in one. Its invariants: an
// existing file is never overwritten; a file is read and verified from its first byte to its last before anything that
// it has is removed; an event that has changed since it was written stays. Of the books only postings are removed, in
// one transaction with the sums of what is archived and a checkpoint under the key of the books: balances, statements
// and the audit begin there, and entries stay, so that nothing is booked twice.
package archive

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bursar/bursar/durable"
	"github.com/bursar/bursar/store"
)

// Errors of this package.
var (
	// ErrExists is returned by Write for a file that is there already.
	ErrExists = errors.New("the file exists, and an archive never overwrites a file")
	// ErrDamaged is returned for a file that is not an archive, or not whole.
	ErrDamaged = errors.New("the archive is damaged")
)

// Summary is what an archive holds.
type Summary struct {
	File   string
	Before time.Time // every event was made earlier
	Events int64
	First  time.Time // when the oldest was made; zero where there is none
	Last   time.Time
	SHA256 string // of the lines, as the file's last line has it
}

// atOnce is how many events are read, or removed, together.
const atOnce = 500

// Write writes the events that were made before a time and are delivered into a new file that only its owner may read,
// and verifies the file. It removes nothing. Error: ErrExists.
func Write(ctx context.Context, db *store.DB, file string, before time.Time) (Summary, error) {
	if _, err := os.Lstat(file); err == nil {
		return Summary{}, fmt.Errorf("%s: %w", file, ErrExists)
	}
	work, err := os.CreateTemp(filepath.Dir(file), ".archive-*")
	if err != nil {
		return Summary{}, fmt.Errorf("create the archive: %w", err)
	}
	defer os.Remove(work.Name())
	err = errors.Join(write(ctx, db, work, before), work.Sync(), work.Close())
	if err != nil {
		return Summary{}, fmt.Errorf("write the archive: %w", err)
	}
	summary, err := Check(work.Name())
	if err != nil {
		return summary, err
	}
	summary.File = file
	return summary, publish(work.Name(), file)
}

// publish gives a file its name, unless that was taken in the meantime.
func publish(work, file string) error {
	err := os.Link(work, file)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s: %w", file, ErrExists)
	case err != nil:
		return fmt.Errorf("name the archive: %w", err)
	}
	return durable.SyncFolder(filepath.Dir(file))
}

// write writes page by page, so that neither memory nor a transaction grows with the history.
func write(ctx context.Context, db *store.DB, to *os.File, before time.Time) error {
	out := newWriter(to)
	if err := out.begin(before); err != nil {
		return err
	}
	for after, more := int64(0), true; more; {
		var page store.Delivered
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			page, err = tx.Deliveries().DeliveredBefore(ctx, before, after, atOnce)
			return err
		})
		if err != nil {
			return err
		}
		for _, e := range page.Events {
			if err := out.event(e, page.Attempts[e.Number]); err != nil {
				return err
			}
		}
		after, more = page.Last, page.More
	}
	return out.end()
}

// Remove removes the events of a file from the database, once all of the file is verified, and returns how many. What
// has changed since it was written stays; after an interruption it can be called again.
func Remove(ctx context.Context, db *store.DB, file string) (removed int64, err error) {
	if _, err := Check(file); err != nil {
		return 0, err
	}
	var part []store.DeliveredEvent
	flush := func() error {
		var n int64
		err := db.Do(ctx, func(tx *store.Tx) (err error) {
			n, err = tx.Deliveries().RemoveDelivered(ctx, part)
			return err
		})
		if err == nil {
			removed, part = removed+n, part[:0]
		}
		return err
	}
	_, err = read(file, func(e Event) error {
		if part = append(part, e.named()); len(part) == atOnce {
			return flush()
		}
		return nil
	})
	if err == nil {
		err = flush()
	}
	return removed, err
}

// Check reads and verifies a whole file. Error: ErrDamaged.
func Check(file string) (Summary, error) { return read(file, func(Event) error { return nil }) }

// Each verifies a file and calls f with every event of it in the order of their numbers. Error: ErrDamaged.
func Each(file string, f func(Event) error) (Summary, error) {
	if summary, err := Check(file); err != nil {
		return summary, err
	}
	return read(file, f)
}
