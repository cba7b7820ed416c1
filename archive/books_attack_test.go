package archive_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar/archive"
)

// Anyone who has the database alone cannot change what stays of archived books, or what is noted of them, without being
// found: by the rolling audit within a pass, and by `bursar ledger verify`.
func TestWhatStaysOfArchivedBooksIsAudited(t *testing.T) {
	t.Parallel()
	for name, query := range map[string]string{
		"an entry is removed": `DELETE FROM entries WHERE number = 3`,
		"an entry is renamed": `UPDATE entries SET ref = 'another' WHERE number = 3`,
		"an entry is forged":  `INSERT INTO entries(number, kind, ref, at) VALUES (9999, 'deposit', 'forged', 1)`,
		"a forged entry is put under an archived link": `INSERT INTO seals(entry, link) SELECT number, 2 FROM entries
			WHERE number = (SELECT MAX(number) FROM entries) AND NOT EXISTS (SELECT 1 FROM seals WHERE entry = number)
			UNION ALL SELECT 8888, 2`,
		"an entry is put under another link": `UPDATE seals SET link = 2 WHERE entry = 3`,
		"a posting is back": `INSERT INTO postings(entry, place, debit, credit, asset, amount)
			VALUES (3, 0, 'custody', 'capital', 'BTC', '5')`,
		"a paid order is altered":    `UPDATE withdrawals SET amount = '7' WHERE base = 'bc1customer'`,
		"a direct one is altered":    `UPDATE withdrawals SET amount = '7' WHERE base = 'bc1other'`,
		"the checkpoint is altered":  `UPDATE checkpoints SET until = until + 1`,
		"the checkpoint is removed":  `DELETE FROM checkpoints`,
		"a link's hash is altered":   `UPDATE links SET hash = x'00' WHERE number = 2`,
		"an archived sum is altered": `UPDATE archived_sums SET credits = '1' WHERE account = 'custody'`,
		"an archived sum is removed": `DELETE FROM archived_sums WHERE account = 'custody'`,
		"an archived sum is added":   `INSERT INTO archived_sums VALUES ('losses', 'BTC', '5', '5', 1, FALSE)`,
		"a sum is marked overdrawn":  `UPDATE archived_sums SET overdrawn = TRUE`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBooks(t, func(b *books) {
				if b.db.Postgres() && name == "a link's hash is altered" {
					query = `UPDATE links SET hash = '\x00' WHERE number = 2`
				}
				b.history(3)
				b.clock.Advance(30 * 24 * time.Hour)
				b.audit()
				file, _ := b.write("books.gz", b.clock.Now().Add(-8*24*time.Hour))
				_, err := archive.RemoveBooks(t.Context(), b.db, file)
				b.Must(err)
				b.history(1)
				b.audit()
				b.well()
				b.attack(query)
				all, rolling := b.found()
				if len(all) == 0 {
					t.Error("reading all of the books does not find it")
				}
				if len(rolling) == 0 {
					t.Error("the rolling audit does not find it")
				}
			})
		})
	}
}
