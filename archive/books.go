package archive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// YoungestEntry is the least age of an entry that is archived: far more than a chain is ever reorganised by, or an
// order takes.
const YoungestEntry = 7 * 24 * time.Hour

// ErrTooYoung is returned by WriteBooks for a time that is less than YoungestEntry ago.
var ErrTooYoung = fmt.Errorf("only entries of the books that are older than %d days are archived",
	YoungestEntry/(24*time.Hour))

// Books is what an archive of the books holds: the postings of links that follow each other.
type Books struct {
	File    string
	First   int64 // its first link; 0 where it has none
	Last    int64
	Entries int64
	From    time.Time // the time of the first link; zero where it has none
	To      time.Time
	SHA256  string // of the lines, as the file's last line has it
	Stopped string // why archiving stopped before the age limit
}

// WriteBooks writes the next links of the books whose entries were booked before a time, with all postings, into a new
// file that only its owner may read, and verifies the file. It stops before the first link with a posting that may
// still be needed. It removes nothing. The database must have the books' key (store.DB.SealWith). Errors: ErrExists,
// ErrTooYoung.
func WriteBooks(ctx context.Context, db *store.DB, file string, before time.Time) (Books, error) {
	if before.After(db.Now().Add(-YoungestEntry)) {
		return Books{}, ErrTooYoung
	}
	if _, err := os.Lstat(file); err == nil {
		return Books{}, fmt.Errorf("%s: %w", file, ErrExists)
	}
	work, err := os.CreateTemp(filepath.Dir(file), ".archive-*")
	if err != nil {
		return Books{}, fmt.Errorf("create the archive: %w", err)
	}
	defer os.Remove(work.Name())
	stopped, err := writeBooks(ctx, db, work, before)
	if err = errors.Join(err, work.Sync(), work.Close()); err != nil {
		return Books{}, fmt.Errorf("write the archive: %w", err)
	}
	books, err := CheckBooks(work.Name())
	if err != nil {
		return books, err
	}
	books.File, books.Stopped = file, stopped
	return books, publish(work.Name(), file)
}

// writeBooks writes page by page, so that neither memory nor a transaction grows with the history.
func writeBooks(ctx context.Context, db *store.DB, to *os.File, before time.Time) (stopped string, err error) {
	out := newWriter(to)
	var at store.Link
	err = db.View(ctx, func(tx *store.Tx) error {
		newest, err := tx.Checkpoints().Newest(ctx)
		if err == nil && newest.Altered {
			err = fmt.Errorf("%w: the checkpoint at link %d was not written by this service", store.ErrNotArchivable,
				newest.Link)
		}
		at = newest.At()
		return err
	})
	if err != nil {
		return "", err
	}
	if err := out.line(booksHead{Form: booksForm, After: at.Number}); err != nil {
		return "", err
	}
	for more := true; more; {
		var page []store.Link
		err := db.View(ctx, func(tx *store.Tx) (err error) {
			page, more, stopped, err = nextLinks(ctx, tx, at, before)
			return err
		})
		if err != nil {
			return "", err
		}
		for _, l := range page {
			if err := out.link(l); err != nil {
				return "", err
			}
			at = l
		}
	}
	err = out.line(booksEnd{out.count, out.sumText()})
	return stopped, errors.Join(err, out.packed.Close())
}

// nextLinks returns links behind one that hold and may be archived, and whether others may follow.
func nextLinks(ctx context.Context, tx *store.Tx, at store.Link, before time.Time) (page []store.Link, more bool,
	stopped string, err error) {
	audited, err := tx.Audits().Get(ctx)
	if err != nil {
		return nil, false, "", err
	}
	list, err := tx.Links().After(ctx, at.Number, store.LinksAtOnce)
	if err != nil {
		return nil, false, "", err
	}
	more = len(list) > 0
	for _, l := range list {
		if l.Number > audited.Link {
			return page, false, fmt.Sprintf("link %d is not audited yet", l.Number), nil
		}
		if !older(l, before) {
			more = false
			break
		}
		holds, err := tx.Links().Verify(at, l)
		if err != nil {
			return nil, false, "", err
		}
		if !holds {
			return nil, false, "", fmt.Errorf("%w: link %d contradicts the books", store.ErrNotArchivable, l.Number)
		}
		page, at = append(page, l), l
	}
	n, stopped, err := tx.Checkpoints().Archivable(ctx, page)
	return page[:n], more && stopped == "", stopped, err
}

func older(l store.Link, before time.Time) bool {
	if !l.At.Before(before) {
		return false
	}
	for _, e := range l.Entries {
		if !e.At.Before(before) {
			return false
		}
	}
	return true
}

// RemoveBooks removes the postings of a file from the database and moves the checkpoint behind them, once all of the
// file is verified: a bounded number of links with each transaction, each compared with the file to the last posting.
// What was removed before is passed over, so that it can be called again after an interruption. It returns how many
// entries' postings were removed. Errors: ErrDamaged, store.ErrOtherBooks, store.ErrNotArchivable.
func RemoveBooks(ctx context.Context, db *store.DB, file string) (removed int64, err error) {
	books, err := CheckBooks(file)
	if err != nil {
		return 0, err
	}
	done, err := removable(ctx, db, books)
	if err != nil {
		return 0, err
	}
	var part []store.Link
	entries := 0
	flush := func() error {
		err := db.Do(ctx, func(tx *store.Tx) error { return tx.Checkpoints().Advance(ctx, part, books.SHA256) })
		if err == nil {
			removed += int64(entries)
			part, entries = nil, 0
		}
		return err
	}
	_, err = readBooks(file, func(l store.Link) error {
		if l.Number <= done {
			return nil
		}
		full := len(part) == store.LinksAtOnce || entries+len(l.Entries) > store.EntriesAtOnce
		if full && len(part) > 0 {
			if err := flush(); err != nil {
				return err
			}
		}
		part, entries = append(part, l), entries+len(l.Entries)
		return nil
	})
	if err == nil && len(part) > 0 {
		err = flush()
	}
	return removed, err
}

// removable returns up to where the books are archived, if the sums of that hold, to which the file's are to be added,
// and if a file of which nothing is left to remove is one whose postings were removed.
func removable(ctx context.Context, db *store.DB, books Books) (done int64, err error) {
	return done, db.View(ctx, func(tx *store.Tx) error {
		list, err := allCheckpoints(ctx, tx)
		if err != nil {
			return fmt.Errorf("%w: %w", store.ErrNotArchivable, err)
		}
		var newest store.Checkpoint
		known := false
		for _, c := range list {
			newest, known = c, known || c.File == books.SHA256
		}
		if done = newest.Link; books.First > 0 && books.Last <= done && !known {
			return fmt.Errorf("%w: links %d to %d are archived already, in other files", store.ErrOtherBooks, books.First,
				books.Last)
		}
		hold, err := tx.Checkpoints().EachSum(ctx, newest, func(ledger.Key, store.Posted) {})
		if err == nil && !hold {
			err = fmt.Errorf("%w: the sums of what is archived are not those of the checkpoint at link %d",
				store.ErrNotArchivable,
				newest.Link)
		}
		return err
	})
}

// CheckBooks reads and verifies a whole file. Error: ErrDamaged.
func CheckBooks(file string) (Books, error) {
	return readBooks(file, func(store.Link) error { return nil })
}

// EachLink verifies a file and calls f with every link of it in their order. Error: ErrDamaged.
func EachLink(file string, f func(store.Link) error) (Books, error) {
	if books, err := CheckBooks(file); err != nil {
		return books, err
	}
	return readBooks(file, f)
}
