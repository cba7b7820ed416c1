package archive_test

import (
	"database/sql"
	"fmt"
	"log/slog"
	"maps"
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

// transfer pays from one account to the other at once.
func (b *books) transfer(units uint64) bursar.Withdrawal {
	b.t.Helper()
	b.clock.Advance(time.Hour)
	w := bursar.Withdrawal{ID: b.id(), AccountID: shop, Currency: "BTC", Amount: bursar.Units(units), Fee: bursar.Units(1),
		Address: bursar.Address{Base: "bc1other"}, Status: bursar.WithdrawalConfirmed, CreatedAt: b.clock.Now(),
		CompletedAt: b.clock.Now()}
	w.TxID = bursar.TransferHash(w.ID)
	b.Do(func(tx *store.Tx) error {
		e := ledger.DirectTransfer(w, other, bursar.Units(1), b.clock.Now())
		if err := tx.Ledger().Post(b.t.Context(), e); err != nil {
			return err
		}
		return tx.Withdrawals().Insert(b.t.Context(), bursar.Bitcoin, w)
	})
	return w
}

// history books n rounds of all that happens to customers, of eight links each.
func (b *books) history(n int) {
	b.t.Helper()
	for range n {
		d := b.deposit(shop, 1000)
		b.post(ledger.DepositReversed(d, time.Time{}))
		b.deposit(shop, 5000)
		b.deposit(other, 700)
		b.withdraw(shop, 100, true)
		b.transfer(50)
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
