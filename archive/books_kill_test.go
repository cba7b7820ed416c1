package archive_test

import (
	"context"
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/store"
)

// A run that ends at any statement, before or after any commit, loses nothing: what is not in the database is in the
// file that the checkpoint names, every line once, and the books hold. Anyone who repeats it goes on.
func TestARunOfAnArchiveMayEndAnywhere(t *testing.T) {
	t.Parallel()
	onBooks(t, func(b *books) {
		b.history(36) // three transactions
		b.clock.Advance(30 * 24 * time.Hour)
		b.audit()
		want, before := b.state(), b.clock.Now().Add(-8*24*time.Hour)
		killed := errors.New("killed")
		file := filepath.Join(t.TempDir(), "books.gz")
		var named []string
		runs, moved := 0, 0
		for at := 1; ; at++ {
			if runs++; runs > 300 {
				t.Fatal("the archive does not come to its end")
			}
			points := 0
			db := b.db.As(b.clock.Now, store.Hooks{Before: func(_ context.Context, p store.Point, _ string) error {
				if points++; points >= at && p != store.Ended {
					return killed
				}
				return nil
			}})
			_, err := archive.WriteBooks(t.Context(), db, file, before)
			if err == nil || errors.Is(err, archive.ErrExists) {
				named = []string{file}
				points = 0
				_, err = archive.RemoveBooks(t.Context(), db, file)
			}
			if left := b.postings(); left != moved {
				moved = left
				b.same(want, named...)
				if all, rolling := b.found(); len(all)+len(rolling) > 0 {
					t.Fatalf("killed at %d the books contradict themselves: %v %v, want none", at, all, rolling)
				}
			}
			if err == nil {
				break
			}
		}
		if runs < 30 {
			t.Errorf("%d runs were killed, want one at each statement", runs)
		}
		b.same(want, file)
		b.well()
		if left := b.postings(); left != 0 {
			t.Errorf("%d postings are left, want none", left)
		}
	})
}
