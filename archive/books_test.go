package archive_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Old postings move into a file and are removed; every statement, balance and check of the books stays what it was,
// what was booked is not booked again, and the next archive goes on where this one ended.
func TestOldPostingsMoveIntoAFile(t *testing.T) {
	t.Parallel()
	onBooks(t, func(b *books) {
		b.history(20)
		cut := b.clock.Now()
		b.history(3)
		b.clock.Advance(30 * 24 * time.Hour)
		b.audit()
		want, before := b.state(), b.postings()
		first, written := b.write("first.gz", cut)
		if written.First != 1 || written.Last < 100 || written.Stopped != "" || b.postings() != before {
			t.Fatalf("written is %+v, want the old links, and nothing removed yet", written)
		}
		removed, err := archive.RemoveBooks(t.Context(), b.db, first)
		b.Must(err)
		if left := b.postings(); removed != written.Entries || left == 0 || left >= before/4 {
			t.Errorf("%d of %d entries were archived and %d of %d postings are left", removed, written.Entries, left, before)
		}
		b.same(want, first)
		b.well()
		d := bursar.Deposit{ID: bursar.ID{7, 0, 1}, AccountID: shop, Currency: "BTC", Amount: bursar.Units(1000),
			Fee: bursar.Units(1)}
		again := b.db.Do(t.Context(), func(tx *store.Tx) error {
			round, err := tx.Ledger().ReversalNumber(t.Context(), ledger.KindDepositReversed, d.ID.String())
			if err != nil || round != 0 {
				t.Errorf("its reversals count %d, %v", round, err)
			}
			return tx.Ledger().Post(t.Context(), ledger.DepositCredited(d, tx.Now()))
		})
		if !errors.Is(again, store.ErrPosted) {
			t.Errorf("an archived deposit is credited again: %v, want %v", again, store.ErrPosted)
		}
		b.history(2)
		b.clock.Advance(30 * 24 * time.Hour)
		b.audit()
		want.Balances = b.state(first).Balances
		want = b.state(first)
		second, written := b.write("second.gz", b.clock.Now().Add(-8*24*time.Hour))
		_, err = archive.RemoveBooks(t.Context(), b.db, second)
		b.Must(err)
		if left := b.postings(); left != 0 || written.First < 100 {
			t.Errorf("%d postings are left, the second archive begins with link %d", left, written.First)
		}
		b.same(want, second, first)
		b.well()
		b.history(1)
		b.audit()
		b.well()
		if n, err := archive.RemoveBooks(t.Context(), b.db, first); n != 0 || err != nil {
			t.Errorf("removing what was removed takes %d, %v", n, err)
		}
	})
}

// What something may still depend on stays, and so does all behind it.
func TestPostingsThatAreNeededStay(t *testing.T) {
	t.Parallel()
	for name, need := range map[string]func(b *books){
		"an open order": func(b *books) { b.withdraw(shop, 50, false) },
		"a deposit whose block is not final": func(b *books) {
			b.AcquireLease(bursar.Bitcoin, "me")
			w := b.AddWallet(bursar.Wallet{ID: bursar.ID{5}, AccountID: shop, Currency: "BTC",
				Address: bursar.Address{Base: "b"}})
			d := bursar.Deposit{ID: b.id(), AccountID: shop, WalletID: w.ID, Purpose: bursar.ForWallet, Currency: "BTC",
				Chain: bursar.Bitcoin, TxID: "ab", Address: w.Address, Amount: bursar.Units(1000), Height: 11}
			b.Do(func(tx *store.Tx) error {
				if err := tx.Chains().SetHead(b.t.Context(), bursar.Bitcoin, 20, 10); err != nil {
					return err
				}
				_, _, err := tx.Deposits().Record(b.t.Context(), store.NewDeposit{Deposit: d, Wallet: w.Number})
				return err
			})
			b.post(ledger.DepositCredited(d, time.Time{}))
		},
		"below zero": func(b *books) {
			d := b.deposit(other, 90_000)
			w := b.withdraw(other, 89_000, true)
			_ = w
			b.post(ledger.DepositReversed(d, time.Time{}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBooks(t, func(b *books) {
				b.history(1)
				need(b)
				b.history(1)
				b.clock.Advance(30 * 24 * time.Hour)
				b.audit()
				file, written := b.write("books.gz", b.clock.Now().Add(-8*24*time.Hour))
				if written.Stopped == "" || written.Entries < 7 {
					t.Errorf("written is %+v, want it to stop, and to say why", written)
				}
				_, err := archive.RemoveBooks(t.Context(), b.db, file)
				b.Must(err)
				b.well()
				if b.postings() < 8 {
					t.Errorf("%d postings are left, want what is needed and what follows", b.postings())
				}
			})
		})
	}
}

// Young entries, entries that are not audited, and books that contradict themselves are not archived.
func TestOnlyOldAuditedBooksAreArchived(t *testing.T) {
	t.Parallel()
	onBooks(t, func(b *books) {
		b.history(2)
		name := filepath.Join(t.TempDir(), "a.gz")
		if _, err := archive.WriteBooks(t.Context(), b.db, name, b.clock.Now()); !errors.Is(err, archive.ErrTooYoung) {
			t.Errorf("what was booked a moment ago gives %v, want %v", err, archive.ErrTooYoung)
		}
		b.clock.Advance(30 * 24 * time.Hour)
		before := b.clock.Now().Add(-8 * 24 * time.Hour)
		if _, written := b.write("b.gz", before); written.Entries != 0 || written.Stopped == "" {
			t.Errorf("without an audit %d entries are archived", written.Entries)
		}
		b.audit()
		file, _ := b.write("c.gz", before)
		b.attack(`UPDATE postings SET amount = '999' WHERE entry = 2 AND place = 0`)
		if _, err := archive.RemoveBooks(t.Context(), b.db, file); !errors.Is(err, store.ErrNotArchivable) {
			t.Errorf("an altered posting is removed: %v, want %v", err, store.ErrNotArchivable)
		}
		if _, err := archive.WriteBooks(t.Context(), b.db, name, before); !errors.Is(err, store.ErrNotArchivable) {
			t.Errorf("an altered posting is archived: %v, want %v", err, store.ErrNotArchivable)
		}
		if _, rolling := b.found(); len(rolling) == 0 {
			t.Error("the audit does not find it")
		}
		b.attack(`UPDATE postings SET amount = '1000' WHERE entry = 2 AND place = 0`)
		if _, written := b.write("d.gz", before); written.Entries != 0 || !strings.Contains(written.Stopped, "contradict") {
			t.Errorf("books with a fault are archived: %+v", written)
		}
	})
}

// A file that is not whole, or has other books, removes nothing.
func TestADamagedArchiveOfTheBooksRemovesNothing(t *testing.T) {
	t.Parallel()
	onBooks(t, func(b *books) {
		b.history(3)
		b.clock.Advance(30 * 24 * time.Hour)
		b.audit()
		file, _ := b.write("books.gz", b.clock.Now().Add(-8*24*time.Hour))
		whole, err := os.ReadFile(file)
		b.Must(err)
		count := b.postings()
		for name, text := range map[string][]byte{
			"cut":       whole[:len(whole)-20],
			"one bit":   append(append(slices.Clone(whole[:len(whole)/2]), whole[len(whole)/2]^1), whole[len(whole)/2+1:]...),
			"one more":  append(slices.Clone(whole), 'x'),
			"not there": nil,
		} {
			bad := filepath.Join(t.TempDir(), "bad.gz")
			b.Must(os.WriteFile(bad, text, 0o600))
			if _, err := archive.RemoveBooks(t.Context(), b.db, bad); !errors.Is(err, archive.ErrDamaged) {
				t.Errorf("%s: got %v, want %v", name, err, archive.ErrDamaged)
			}
		}
		events := filepath.Join(t.TempDir(), "events.gz")
		_, err = archive.Write(t.Context(), b.db, events, b.clock.Now())
		b.Must(err)
		if _, err := archive.RemoveBooks(t.Context(), b.db, events); !errors.Is(err, archive.ErrDamaged) {
			t.Errorf("an archive of events gives %v, want %v", err, archive.ErrDamaged)
		}
		if b.postings() != count {
			t.Error("something was removed")
		}
		b.well()
	})
}

// An order whose hold is in an archive has ended: whatever its row says now, nothing is paid for it again.
func TestAnArchivedOrderIsNotPaidAgain(t *testing.T) {
	t.Parallel()
	onBooks(t, func(b *books) {
		b.history(1)
		w := b.withdraw(shop, 40, true)
		b.history(1)
		b.clock.Advance(30 * 24 * time.Hour)
		b.audit()
		file, _ := b.write("books.gz", b.clock.Now().Add(-8*24*time.Hour))
		_, err := archive.RemoveBooks(t.Context(), b.db, file)
		b.Must(err)
		b.attack(`UPDATE withdrawals SET status = 'queued', completed_at = 0`)
		for _, gone := range []string{"", `DELETE FROM entries WHERE kind = 'withdrawal_settled'`} {
			if gone != "" {
				b.attack(gone)
			}
			b.View(func(tx *store.Tx) error {
				why, err := tx.Withdrawals().NotOwed(t.Context(), []bursar.ID{w.ID}, true)
				if why[w.ID] == "" {
					t.Errorf("after %q it is owed, want a reason why it is not", gone)
				}
				return err
			})
		}
	})
}
