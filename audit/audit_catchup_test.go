package audit_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// owed returns why a withdrawal is not owed, "" if it is.
func (b *books) owed(w bursar.Withdrawal) (why string) {
	b.Helper()
	b.do(func(tx *store.Tx) error {
		not, err := tx.Withdrawals().NotOwed(ctx, []bursar.ID{w.ID}, true)
		why = not[w.ID]
		return err
	})
	return why
}

// Links that are written faster than the audit's steps block no payment: it catches up page by page, and then knows
// everything that was booked and every balance that was moved.
func TestTheAuditCatchesUpWithManyLinks(t *testing.T) {
	each(t, func(b *books) {
		var accounts []bursar.ID
		for i := range 620 { // more balances than one step compares
			id := bursar.ID{0: 9, 14: byte(i >> 8), 15: byte(i)}
			accounts = append(accounts, id)
			d := bursar.Deposit{ID: bursar.ID{0: 8, 14: byte(i >> 8), 15: byte(i)}, AccountID: id, Currency: "BTC",
				Amount: bursar.Units(7)}
			b.do(func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now())) })
			again := d
			again.ID[0] = 6
			b.do(func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(again, tx.Now())) })
		}
		order := b.withdraw(1000)
		if why := b.owed(order); why == "" {
			t.Errorf("a withdrawal is owed before its hold was audited, want not %q", "")
		}
		if err := b.auditor.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		if why := b.owed(order); why != "" {
			t.Errorf("the withdrawal is not owed: %s, want none", why)
		}
		b.do(func(tx *store.Tx) error {
			left, err := tx.Ledger().UncheckedPosted(ctx, ledger.Key{}, 1000)
			at, _ := tx.Audits().Get(ctx)
			head, _ := tx.Links().Head(ctx)
			if len(left) > 0 || at.Link != head.Number {
				t.Errorf("%d balances are not compared, and links up to %d of %d are read", len(left), at.Link, head.Number)
			}
			return err
		})
		b.attack(`UPDATE balances SET credits = '700' WHERE account = $1`, available(accounts[600]))
		b.caught("balance", store.HaltCurrency("BTC"))
	})
}

// A balance whose postings were read, but which was not yet compared with them, pays nothing.
func TestAnUncheckedBalancePaysNothing(t *testing.T) {
	each(t, func(b *books) {
		k := ledger.Key{Account: ledger.Available(b.account), Asset: "BTC"}
		b.do(func(tx *store.Tx) error {
			sums, err := tx.Ledger().PostedOf(ctx, []ledger.Key{k})
			if err != nil {
				return err
			}
			sum := sums[k]
			sum.Unchecked = true
			return tx.Ledger().PutPosted(ctx, map[ledger.Key]store.Posted{k: sum})
		})
		if why := b.owed(b.order); !strings.Contains(why, "balance") {
			t.Errorf("it is owed before its balance was compared: %q, want %q in it", why, "balance")
		}
		b.well()
		if why := b.owed(b.order); why != "" {
			t.Errorf("it is not owed: %s, want none", why)
		}
	})
}

// The part of the audit that a payment waits for reads neither the trial balance nor anything else that grows with the
// books; a concurrent full audit does.
func TestPaymentsDoNotWaitForTheTrialBalance(t *testing.T) {
	each(t, func(b *books) {
		b.attack(`UPDATE audits SET trial_at = 0`)
		b.attack(`INSERT INTO balances(account, asset, debits, credits) VALUES ('fees:deposit', 'ETH', '0', '5')`)
		b.deposit(5)
		if err := b.auditor.CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		b.do(func(tx *store.Tx) error {
			faults, err := tx.BookFaults().List(ctx, 10)
			at, _ := tx.Audits().Get(ctx)
			if len(faults) > 0 || at.TrialAt.Unix() > 0 {
				t.Errorf("it was computed before a payment: %v, %s, want none and at most 0", faults, at.TrialAt)
			}
			return err
		})
		b.caught("trial", store.HaltCurrency("ETH"))
	})
}

// A trial balance that was computed by a clock that was ahead is computed again by the correct one.
func TestAClockAheadSkipsNoTrialBalance(t *testing.T) {
	each(t, func(b *books) {
		b.attack(`UPDATE audits SET trial_at = $1`, time.Now().Add(24*time.Hour).UnixMicro())
		b.attack(`INSERT INTO balances(account, asset, debits, credits) VALUES ('fees:deposit', 'ETH', '0', '5')`)
		if err := b.auditor.Trial(ctx); err != nil {
			t.Fatal(err)
		}
		b.caught("trial", store.HaltCurrency("ETH"))
	})
}

// A customer below zero because of an undone short payout is not a fault: the reorg is the reason.
func TestAnUndoneShortPayoutIsNoFault(t *testing.T) {
	each(t, func(b *books) {
		w := bursar.Withdrawal{ID: b.order.ID, AccountID: b.account, Currency: "BTC"}
		b.do(func(tx *store.Tx) error {
			return tx.Ledger().Post(ctx, ledger.PayoutShortUndone(w, bursar.Units(900_000_000), bursar.Amount{}, 1, tx.Now()))
		})
		b.attack(`UPDATE audits SET trial_at = 0`)
		b.well()
	})
}

// A replica of a version before the links books nothing into a database of this version: what it would write in one
// transaction fails, and the books stay consistent.
func TestAReplicaOfAnOlderVersionBooksNothing(t *testing.T) {
	each(t, func(b *books) {
		raw, err := b.raw.Begin()
		if err != nil {
			t.Fatal(err)
		}
		for _, statement := range []string{ // as commit 781f36c wrote them
			`INSERT INTO entries(kind, ref, at) VALUES ('deposit', 'by an old one', 1) ON CONFLICT (kind, ref) DO NOTHING`,
			`INSERT INTO postings(entry, line, debit, credit, asset, amount)
				SELECT number, 0, 'custody', 'capital', 'BTC', '5' FROM entries WHERE ref = 'by an old one'`,
			`UPDATE balances SET debits = '500000005' WHERE account = 'custody' AND asset = 'BTC'`,
		} {
			if _, failed := raw.Exec(statement); failed != nil {
				err = errors.Join(err, failed)
			}
		}
		if err == nil || !strings.Contains(err.Error(), "line") {
			t.Errorf("an old replica may book: %v, want an error and %q in it", err, "line")
		}
		if err := raw.Rollback(); err != nil { // as its store does after any error
			t.Fatal(err)
		}
		b.well()
	})
}
