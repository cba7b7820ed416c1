package archive_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// sumMonths sums all that is old enough.
func (b *books) sumMonths() {
	b.t.Helper()
	for more := true; more; {
		b.Do(func(tx *store.Tx) (err error) {
			more, err = tx.MonthSums().Fold(b.t.Context())
			return err
		})
	}
}

// archiveAsBefore archives what an earlier program does, which does not know of months.
func (b *books) archiveAsBefore() {
	b.t.Helper()
	b.attack(`UPDATE months_summed SET name = 'hidden ' || name`)
	b.archiveAll()
	b.attack(`UPDATE months_summed SET name = substr(name, 8)`)
}

// hadAt returns what the shop had at a time, by the sums of months.
func (b *books) hadAt(at time.Time) (text string, err error) {
	b.t.Helper()
	account := ledger.Available(shop)
	err = b.db.View(b.t.Context(), func(tx *store.Tx) error {
		sums, err := tx.MonthSums().At(b.t.Context(), []ledger.Account{account}, at)
		text = fmt.Sprint(sums[ledger.Key{Account: account, Asset: "BTC"}])
		return err
	})
	return text, err
}

// During an upgrade an earlier program may archive what is not in the sums of its month. No balance is said until the
// sums were made again from what is archived, nothing more is archived meanwhile, and none that is said is wrong.
func TestAnEarlierProgramArchivesWhatIsNotSummed(t *testing.T) {
	t.Parallel()
	onBooks(t, func(b *books) {
		b.history(2)
		b.clock.Advance(40 * 24 * time.Hour)
		b.sumMonths()
		b.history(2)
		before := b.clock.Now()
		b.audit()
		b.clock.Advance(30 * 24 * time.Hour)
		b.archiveAsBefore()
		b.history(1)
		b.audit()
		if got, err := b.hadAt(b.clock.Now()); !errors.Is(err, store.ErrNotSummed) {
			b.t.Errorf("before the sums were made again: %s, %v, want %v", got, err, store.ErrNotSummed)
		}
		b.View(func(tx *store.Tx) error {
			newest, err := tx.Checkpoints().Newest(b.t.Context())
			b.Must(err)
			links, err := tx.Links().After(b.t.Context(), newest.Link, 3)
			b.Must(err)
			n, why, err := tx.Checkpoints().Archivable(b.t.Context(), links)
			if n > 0 || why == "" {
				b.t.Errorf("%d links may be archived (%q), want none before the sums were made again", n, why)
			}
			return err
		})
		b.clock.Advance(9 * 24 * time.Hour)
		b.sumMonths()
		b.agreesWithTheBalance()
		if got, err := b.hadAt(before); !errors.Is(err, store.ErrUnknownMonth) {
			b.t.Errorf("of a time whose postings are gone: %s, %v, want %v", got, err, store.ErrUnknownMonth)
		}
		b.archiveAll()
		b.sumMonths()
		b.agreesWithTheBalance()
	})
}

// agreesWithTheBalance requires the sums of months to come to the shop's balance.
func (b *books) agreesWithTheBalance() {
	b.t.Helper()
	var want ledger.Balance
	b.View(func(tx *store.Tx) (err error) {
		want, err = tx.Ledger().Balance(b.t.Context(), ledger.Available(shop), "BTC")
		return err
	})
	if got, err := b.hadAt(b.clock.Now()); err != nil || got != fmt.Sprint(want) {
		b.t.Errorf("the sums of months come to %s, %v, want %v", got, err, want)
	}
}
