package archive_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/store"
)

// A file whose links are archived already in another one removes nothing, and says so.
func TestAFileOfWhatIsInAnotherIsRefused(t *testing.T) {
	onBooks(t, func(b *books) {
		b.history(1)
		cut := b.clock.Now().Add(time.Minute)
		b.history(1)
		b.audit()
		b.clock.Advance(30 * 24 * time.Hour)
		short := filepath.Join(t.TempDir(), "short.gz")
		_, err := archive.WriteBooks(b.t.Context(), b.db, short, cut)
		b.Must(err)
		b.archiveAll()
		if _, err := archive.RemoveBooks(b.t.Context(), b.db, short); !errors.Is(err, store.ErrOtherBooks) {
			b.t.Errorf("got %v, want %v", err, store.ErrOtherBooks)
		}
	})
}

// Nothing is added to archived sums that somebody changed.
func TestNothingIsArchivedBehindSumsThatWereChanged(t *testing.T) {
	onBooks(t, func(b *books) {
		b.history(1)
		b.audit()
		b.clock.Advance(30 * 24 * time.Hour)
		b.archiveAll()
		b.history(1)
		b.audit()
		b.clock.Advance(30 * 24 * time.Hour)
		next := filepath.Join(b.t.TempDir(), "next.gz")
		_, err := archive.WriteBooks(b.t.Context(), b.db, next, b.clock.Now().Add(-archive.YoungestEntry))
		b.Must(err)
		b.attack(`UPDATE archived_sums SET link = link + 1`)
		before := b.postings()
		_, err = archive.RemoveBooks(b.t.Context(), b.db, next)
		if !errors.Is(err, store.ErrNotArchivable) || b.postings() != before {
			b.t.Errorf("got %v and %d of %d postings, want %v and all", err, b.postings(), before, store.ErrNotArchivable)
		}
	})
}
