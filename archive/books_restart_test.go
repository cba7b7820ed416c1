package archive_test

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/store"
)

// auditedAnew takes steps after the audit's own rows were lost, and returns how far it came, the head, and the faults.
func (b *books) auditedAnew() (link, head int64, faults []store.BookFault) {
	b.t.Helper()
	b.attack(`DELETE FROM posted`)
	b.attack(`UPDATE audits SET link = 0, hash = '', entry = 0, pass_link = 0, pass_entry = 0`)
	for range 20 {
		_, err := b.auditor.Step(b.t.Context())
		b.Must(err)
	}
	b.View(func(tx *store.Tx) error {
		a, err := tx.Audits().Get(b.t.Context())
		b.Must(err)
		h, err := tx.Links().Head(b.t.Context())
		b.Must(err)
		link, head = a.Link, h.Number
		faults, err = tx.BookFaults().List(b.t.Context(), 10)
		return err
	})
	return link, head, faults
}

func (b *books) archiveAll() {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "a.gz")
	_, err := archive.WriteBooks(b.t.Context(), b.db, file, b.clock.Now().Add(-archive.YoungestEntry))
	b.Must(err)
	_, err = archive.RemoveBooks(b.t.Context(), b.db, file)
	b.Must(err)
}

// Anyone who loses the audit's own rows (they can be made again of the books) audits again from the beginning: behind
// the newest checkpoint.
func TestTheAuditStartsOverBehindTheArchives(t *testing.T) {
	for _, archived := range []bool{false, true} {
		onBooks(t, func(b *books) {
			b.history(3)
			b.audit()
			b.clock.Advance(30 * 24 * time.Hour)
			if archived {
				b.archiveAll()
			}
			b.deposit(shop, 700)
			link, head, faults := b.auditedAnew()
			if link != head || len(faults) != 0 {
				b.t.Errorf("archived %v: got the audit at link %d of %d with faults %v, want all of it and none", archived, link,
					head, faults)
			}
		})
	}
}

// An audit that starts over believes neither sums nor a checkpoint that somebody without the key changed.
func TestTheAuditDoesNotStartOverFromWhatWasChanged(t *testing.T) {
	for edit, want := range map[string]string{
		`UPDATE archived_sums SET link = link + 1`:        "archived",
		`UPDATE checkpoints SET until = until + 1`:        "checkpoint",
		`UPDATE entries SET at = at + 1 WHERE number = 1`: "checkpoint",
	} {
		onBooks(t, func(b *books) {
			b.history(1)
			b.audit()
			b.clock.Advance(30 * 24 * time.Hour)
			b.archiveAll()
			b.attack(edit)
			link, _, faults := b.auditedAnew()
			if link != 0 || len(faults) == 0 || faults[0].Kind != want {
				b.t.Errorf("%s: got the audit at link %d with faults %v, want it at 0 with %s", edit, link, faults, want)
			}
		})
	}
}
