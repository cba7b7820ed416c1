package archive_test

import (
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// books are those of two accounts, sealed and audited, with a clock that the test moves.
type books struct {
	bursartest.Database
	t       *testing.T
	db      *store.DB
	url     string
	clock   *clocktest.Clock
	auditor *audit.Auditor
	made    int
}

var other = bursar.ID{2}

func onBooks(t *testing.T, test func(b *books)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		// The owner's, because the service may remove nothing.
		b := &books{t: t, url: storetest.AsOwner(storetest.URL(db)), clock: clocktest.At(start)}
		b.db = b.open()
		b.Database = bursartest.Over(t, b.db)
		registry, err := bursar.NewRegistry(bursar.Standard())
		b.Must(err)
		b.auditor = &audit.Auditor{DB: b.db, Registry: registry, Log: slog.New(slog.DiscardHandler)}
		b.AddAccount(bursar.Account{ID: shop})
		b.AddAccount(bursar.Account{ID: other})
		test(b)
	})
}

func (b *books) open() *store.DB {
	db := storetest.OpenAt(b.t, b.url, b.clock.Now)
	db.SealWith([]byte("a key outside the database"))
	return db
}

func (b *books) id() bursar.ID {
	b.made++
	return bursar.ID{7, byte(b.made >> 8), byte(b.made)}
}

// post books an entry in a link of its own, an hour after the last.
func (b *books) post(entries ...ledger.Entry) {
	b.t.Helper()
	b.clock.Advance(time.Hour)
	for i := range entries {
		entries[i].At = b.clock.Now()
	}
	b.Do(func(tx *store.Tx) error { return tx.Ledger().Post(b.t.Context(), entries...) })
}

func (b *books) deposit(account bursar.ID, units uint64) bursar.Deposit {
	b.t.Helper()
	d := bursar.Deposit{ID: b.id(), AccountID: account, Currency: "BTC", Amount: bursar.Units(units), Fee: bursar.Units(1)}
	b.post(ledger.DepositCredited(d, time.Time{}))
	return d
}

// withdraw has an account's money held for an order, which has ended or not.
func (b *books) withdraw(account bursar.ID, units uint64, ended bool) bursar.Withdrawal {
	b.t.Helper()
	w := bursar.Withdrawal{ID: b.id(), AccountID: account, Currency: "BTC", Amount: bursar.Units(units),
		Fee: bursar.Units(10), Address: bursar.Address{Base: "bc1customer"}, Status: bursar.WithdrawalQueued,
		CreatedAt: b.clock.Now()}
	if ended {
		w.Status, w.CompletedAt = bursar.WithdrawalConfirmed, b.clock.Now()
	}
	b.clock.Advance(time.Hour)
	b.Do(func(tx *store.Tx) error {
		if err := tx.Ledger().Post(b.t.Context(), ledger.WithdrawalHeld(w, b.clock.Now())); err != nil {
			return err
		}
		return tx.Withdrawals().Insert(b.t.Context(), bursar.Bitcoin, w)
	})
	if ended {
		b.post(ledger.WithdrawalSettled(w, 0, time.Time{}))
	}
	return w
}

// history books n rounds of all that happens to customers, of seven links each.
func (b *books) history(n int) {
	b.t.Helper()
	for range n {
		d := b.deposit(shop, 1000)
		b.post(ledger.DepositReversed(d, time.Time{}))
		b.deposit(shop, 5000)
		b.deposit(other, 700)
		b.withdraw(shop, 100, true)
		b.post(ledger.NetworkFee(fmt.Sprint("tx", b.made), 0, "BTC", bursar.Units(3), time.Time{}))
	}
}

func (b *books) audit() {
	b.t.Helper()
	b.Must(b.auditor.CatchUp(b.t.Context()))
}

// lines are the lines of an account's statement, oldest first: those of archives, as far as postings were removed, and
// those of the database.
func (b *books) lines(account bursar.ID, files ...string) (lines []store.Line) {
	b.t.Helper()
	accounts := []ledger.Account{ledger.Available(account), ledger.Held(account)}
	statement, err := archive.Statement(b.t.Context(), b.db, accounts, files)
	b.Must(err)
	lines = statement.Lines
	b.View(func(tx *store.Tx) error {
		rest, err := tx.Statements().After(b.t.Context(), store.LineQuery{Accounts: accounts}, 0, 100_000)
		lines = append(lines, rest...)
		return err
	})
	slices.SortFunc(lines, func(a, b store.Line) int { return int(a.Number() - b.Number()) })
	for i := range lines {
		lines[i].At = lines[i].At.UTC()
	}
	return lines
}

// state is all that archiving must not change.
type state struct {
	Lines    [2][]store.Line
	Balances map[ledger.Key]ledger.Balance
	Trial    map[bursar.CurrencyCode]ledger.Balance
}

func (b *books) state(files ...string) (s state) {
	b.t.Helper()
	s.Balances = map[ledger.Key]ledger.Balance{}
	for i, account := range []bursar.ID{shop, other} {
		s.Lines[i] = b.lines(account, files...)
	}
	b.View(func(tx *store.Tx) (err error) {
		if err := tx.Ledger().EachBalance(b.t.Context(), func(k ledger.Key, balance ledger.Balance) error {
			s.Balances[k] = balance
			return nil
		}); err != nil {
			return err
		}
		s.Trial, err = tx.Ledger().TrialBalance(b.t.Context())
		return err
	})
	return s
}

func (b *books) same(want state, files ...string) {
	b.t.Helper()
	got := b.state(files...)
	for i := range got.Lines {
		if !reflect.DeepEqual(got.Lines[i], want.Lines[i]) {
			b.t.Errorf("account %d has %d lines, want the same %d as before", i, len(got.Lines[i]), len(want.Lines[i]))
		}
	}
	if !maps.Equal(got.Balances, want.Balances) || !maps.Equal(got.Trial, want.Trial) {
		b.t.Errorf("balances are %v, want %v", got.Balances, want.Balances)
	}
}

// found verifies all of the books, by the command's way and by a whole pass of the rolling audit, and returns the
// faults of each.
func (b *books) found() (all, rolling []store.BookFault) {
	b.t.Helper()
	_, all, err := b.auditor.VerifyAll(b.t.Context())
	b.Must(err)
	for range 12 {
		_, err := b.auditor.Step(b.t.Context())
		b.Must(err)
	}
	b.clock.Advance(2 * time.Hour) // a trial balance is due
	b.Must(b.auditor.Trial(b.t.Context()))
	b.View(func(tx *store.Tx) (err error) {
		rolling, err = tx.BookFaults().List(b.t.Context(), 100)
		return err
	})
	return all, rolling
}

func (b *books) well() {
	b.t.Helper()
	if all, rolling := b.found(); len(all)+len(rolling) > 0 {
		b.t.Errorf("the books contradict themselves: %v %v, want none", all, rolling)
	}
	if _, err := b.db.CheckHealth(b.t.Context()); err != nil {
		b.t.Errorf("a backup of the books would be refused: %v", err)
	}
}

// postings counts those in the database.
func (b *books) postings() (n int) {
	b.t.Helper()
	b.View(func(tx *store.Tx) error {
		lines, err := tx.Statements().After(b.t.Context(), store.LineQuery{}, 0, 100_000)
		n = len(lines)
		return err
	})
	return n
}

// write archives what is old enough, and removes nothing yet.
func (b *books) write(name string, before time.Time) (string, archive.Books) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), name)
	written, err := archive.WriteBooks(b.t.Context(), b.db, file, before)
	b.Must(err)
	return file, written
}

// attack runs a statement of somebody who has the database alone, and removes its constraints first.
func (b *books) attack(query string) {
	b.t.Helper()
	driver, source, unbound := "pgx", b.url, `SET session_replication_role = replica`
	if file, is := strings.CutPrefix(source, "sqlite:"); is {
		driver, source, unbound = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)", `PRAGMA foreign_keys = OFF`
	}
	raw, err := sql.Open(driver, source)
	b.Must(err)
	defer raw.Close()
	raw.SetMaxOpenConns(1)
	_, err = raw.Exec(unbound)
	b.Must(err)
	done, err := raw.Exec(query)
	b.Must(err)
	if n, err := done.RowsAffected(); err != nil || n == 0 {
		b.t.Fatalf("%s changed %d rows, %v, want not 0", query, n, err)
	}
}

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
				t.Errorf("its reversals count %d, %v, want 0", round, err)
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
			t.Errorf("%d postings are left, the second archive begins with link %d, want 0 and at least 100", left,
				written.First)
		}
		b.same(want, second, first)
		b.well()
		b.history(1)
		b.audit()
		b.well()
		if n, err := archive.RemoveBooks(t.Context(), b.db, first); n != 0 || err != nil {
			t.Errorf("removing what was removed takes %d, %v, want 0", n, err)
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
			t.Errorf("books with a fault are archived: %+v, want 0 and %q in it", written, "contradict")
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
			t.Errorf("something was removed, want %v", count)
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
