package audit_test

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

func TestMain(m *testing.M) { storetest.Main(m) }

var ctx = context.Background()

// books is a database with entries, an auditor, and an intruder's direct access to the database.
type books struct {
	*testing.T
	db      *store.DB
	auditor *audit.Auditor
	raw     *sql.DB
	next    byte
	account bursar.ID
	order   bursar.Withdrawal
	paid    bursar.Withdrawal // within the service, at once
}

// each runs a test on books with a deposit of 5 BTC, a withdrawal of 1 BTC and a transfer to another account, on both
// databases.
func each(t *testing.T, test func(b *books)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		db.SealWith([]byte("a key outside the database"))
		test(newBooks(t, db))
	})
}

func newBooks(t *testing.T, db *store.DB) *books {
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	b := &books{T: t, db: db, account: bursar.ID{1},
		auditor: &audit.Auditor{DB: db, Registry: registry, Log: slog.New(slog.DiscardHandler)}}
	driver, source := "pgx", storetest.AsOwner(storetest.URL(db))
	if file, is := strings.CutPrefix(source, "sqlite:"); is {
		driver, source = "sqlite", "file:"+file+"?_pragma=busy_timeout(30000)"
	}
	if b.raw, err = sql.Open(driver, source); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.raw.Close() })
	b.do(func(tx *store.Tx) error {
		return tx.Accounts().Insert(ctx, bursar.Account{ID: b.account, Name: "a", CreatedAt: tx.Now(), WebhookGeneration: 1})
	})
	b.deposit(500_000_000)
	b.order = b.withdraw(100_000_000)
	b.paid = b.transfer(1_000)
	b.well()
	return b
}

func (b *books) do(f func(tx *store.Tx) error) {
	b.Helper()
	if err := b.db.Do(ctx, f); err != nil {
		b.Fatal(err)
	}
}

func (b *books) id() bursar.ID {
	b.next++
	return bursar.ID{0: 7, 15: b.next}
}

func (b *books) deposit(units uint64) {
	b.Helper()
	b.do(func(tx *store.Tx) error {
		d := bursar.Deposit{ID: b.id(), AccountID: b.account, Currency: "BTC", Amount: bursar.Units(units),
			Fee: bursar.Units(1)}
		return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now()))
	})
}

func (b *books) withdraw(units uint64) (w bursar.Withdrawal) {
	b.Helper()
	b.do(func(tx *store.Tx) error {
		w = bursar.Withdrawal{ID: b.id(), AccountID: b.account, Currency: "BTC", Amount: bursar.Units(units),
			Fee: bursar.Units(10), Address: bursar.Address{Base: "bc1customer"},
			Status: bursar.WithdrawalQueued, CreatedAt: tx.Now()}
		if err := tx.Ledger().Post(ctx, ledger.WithdrawalHeld(w, tx.Now())); err != nil {
			return err
		}
		return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, w)
	})
	return w
}

// transfer pays another account at once, which has no hold.
func (b *books) transfer(units uint64) (w bursar.Withdrawal) {
	b.Helper()
	b.do(func(tx *store.Tx) error {
		w = bursar.Withdrawal{ID: b.id(), AccountID: b.account, Currency: "BTC", Amount: bursar.Units(units),
			Address: bursar.Address{Base: "bc1other"}, Status: bursar.WithdrawalConfirmed, CreatedAt: tx.Now(),
			CompletedAt: tx.Now()}
		w.TxID = bursar.TransferHash(w.ID)
		if err := tx.Ledger().Post(ctx, ledger.DirectTransfer(w, bursar.ID{2}, bursar.Amount{}, tx.Now())); err != nil {
			return err
		}
		return tx.Withdrawals().Insert(ctx, bursar.Bitcoin, w)
	})
	return w
}

// attack runs a statement of an attacker with access to the database only, in the syntax of either database.
func (b *books) attack(query string, args ...any) {
	b.Helper()
	if _, err := b.raw.Exec(query, args...); err != nil {
		b.Fatal(err)
	}
}

// found audits, and returns the faults.
func (b *books) found() []store.BookFault {
	b.Helper()
	for range 4 {
		if err := errors.Join(b.auditor.CatchUp(ctx), b.auditor.Trial(ctx)); err != nil {
			b.Fatal(err)
		}
		if _, err := b.auditor.Step(ctx); err != nil {
			b.Fatal(err)
		}
	}
	var faults []store.BookFault
	b.do(func(tx *store.Tx) (err error) {
		faults, err = tx.BookFaults().List(ctx, 100)
		return err
	})
	return faults
}

func (b *books) halts() (list []store.Halt) {
	b.Helper()
	b.do(func(tx *store.Tx) (err error) {
		list, err = tx.Halts().List(ctx)
		return err
	})
	return list
}

// well checks that there is no fault and no halt.
func (b *books) well() {
	b.Helper()
	if faults := b.found(); len(faults) > 0 {
		b.Fatalf("the books are inconsistent: %v, want none", faults)
	}
	if _, all, err := b.auditor.VerifyAll(ctx); err != nil || len(all) > 0 {
		b.Fatalf("the whole verification finds %v, %v, want none", all, err)
	}
	if halts := b.halts(); len(halts) > 0 {
		b.Fatalf("something is halted: %v, want none", halts)
	}
}

// caught checks that an attack is detected as a fault of a kind, with an alarm, and that payments are halted.
func (b *books) caught(kind string, scope store.HaltScope) {
	b.Helper()
	faults := b.found()
	if _, all, err := b.auditor.VerifyAll(ctx); err != nil ||
		len(all) == 0 && kind != "posted" && kind != "order" && b.auditor.Anchor == nil {
		b.Errorf("the whole verification finds %v, %v", all, err)
	}
	there := false
	for _, f := range faults {
		there = there || f.Kind == kind
	}
	if !there {
		b.Fatalf("no fault of kind %s was found: %v", kind, faults)
	}
	halted := false
	for _, h := range b.halts() {
		halted = halted || h.Kind == store.HaltByBooks && h.Scope == scope
	}
	if !halted {
		b.Errorf("%s is not halted: %v", scope, b.halts())
	}
	b.do(func(tx *store.Tx) error {
		alarms, err := tx.Alarms().OfKind(ctx, "books_contradict")
		if len(alarms) == 0 {
			b.Error("no alarm was raised")
		}
		return err
	})
}

func available(id bursar.ID) string { return string(ledger.Available(id)) }
