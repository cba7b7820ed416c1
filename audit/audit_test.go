package audit_test

import (
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/audit"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// Every change of the books by an attacker with access to the database only is detected, and stops payments until it is
// undone.
func TestAttacksOnTheBooksAreFound(t *testing.T) {
	for name, attack := range map[string]struct {
		does, undoes string
		args         func(b *books) []any
		kind         string
		scope        store.HaltScope
	}{
		"a balance is raised": {does: `UPDATE balances SET credits = '700000000' WHERE account = $1`,
			undoes: `UPDATE balances SET credits = '500000000' WHERE account = $1`,
			args: func(b *books) []any {
				return []any{available(b.account)}
			}, kind: "balance", scope: store.HaltCurrency("BTC")},
		"a posting is raised": {does: `UPDATE postings SET amount = '700000000' WHERE credit = $1 AND amount = '500000000'`,
			undoes: `UPDATE postings SET amount = '500000000' WHERE credit = $1 AND amount = '700000000'`,
			args:   func(b *books) []any { return []any{available(b.account)} }, kind: "link", scope: store.HaltAll},
		"a withdrawal's amount is raised": {does: `UPDATE withdrawals SET amount = '200000000' WHERE id = $1`,
			undoes: `UPDATE withdrawals SET amount = '100000000' WHERE id = $1`,
			args:   func(b *books) []any { return []any{b.order.ID} }, kind: "order", scope: store.HaltAll},
		"a withdrawal's destination is replaced": {does: `UPDATE withdrawals SET base = 'bc1attacker' WHERE id = $1`,
			undoes: `UPDATE withdrawals SET base = 'bc1customer' WHERE id = $1`,
			args:   func(b *books) []any { return []any{b.order.ID} }, kind: "order", scope: store.HaltAll},
		"the destination of a transfer that had no hold is replaced": {
			does:   `UPDATE withdrawals SET base = 'bc1attacker' WHERE id = $1`,
			undoes: `UPDATE withdrawals SET base = 'bc1other' WHERE id = $1`,
			args:   func(b *books) []any { return []any{b.paid.ID} }, kind: "link", scope: store.HaltAll},
		"the audit's sum is raised with the balance": {does: `UPDATE posted SET credits = '700000000' WHERE account = $1`,
			undoes: `UPDATE posted SET credits = '500000000' WHERE account = $1`,
			args: func(b *books) []any {
				return []any{available(b.account)}
			}, kind: "posted", scope: store.HaltCurrency("BTC")},
		"the audit's sum is raised with the balance and left to be compared": {
			does:   `UPDATE posted SET credits = '700000000', unchecked = TRUE WHERE account = $1`,
			undoes: `UPDATE posted SET credits = '500000000', unchecked = FALSE WHERE account = $1`,
			args: func(b *books) []any {
				return []any{available(b.account)}
			}, kind: "posted", scope: store.HaltCurrency("BTC")},
		"an entry is renamed": {does: `UPDATE entries SET kind = 'arrival' WHERE kind = 'deposit' AND ref = $1`,
			undoes: `UPDATE entries SET kind = 'deposit' WHERE kind = 'arrival' AND ref = $1`,
			args: func(b *books) []any {
				return []any{bursar.ID{0: 7, 15: 1}.String() + "/0"}
			}, kind: "link", scope: store.HaltAll},
		"the newest link is removed": {does: `UPDATE link_head SET number = number - 1 WHERE name = $1`,
			undoes: `UPDATE link_head SET number = number + 1 WHERE name = $1`,
			args:   func(*books) []any { return []any{"books"} }, kind: "head", scope: store.HaltAll},
	} {
		t.Run(name, func(t *testing.T) {
			each(t, func(b *books) {
				b.attack(attack.does, attack.args(b)...)
				b.caught(attack.kind, attack.scope)
				b.attack(attack.undoes, attack.args(b)...)
				b.well()
			})
		})
	}
}

// An entry that is removed with its postings and its seal is missing from its link.
func TestARemovedEntryIsFound(t *testing.T) {
	each(t, func(b *books) {
		b.attack(`DELETE FROM postings WHERE entry = 1`)
		b.attack(`DELETE FROM seals WHERE entry = 1`)
		b.attack(`DELETE FROM entries WHERE number = 1`)
		b.caught("link", store.HaltAll)
	})
}

// An entry that somebody else writes, with matching postings and balances, has no link.
func TestAForgedEntryIsFound(t *testing.T) {
	each(t, func(b *books) {
		forge(b)
		b.caught("entry", store.HaltAll)
		b.attack(`DELETE FROM postings WHERE entry = 1000`)
		b.attack(`DELETE FROM entries WHERE number = 1000`)
		b.caught("balance", store.HaltCurrency("BTC"))
	})
}

// A forged entry with its own link, made without the key, is detected by that link.
func TestAForgedLinkIsFound(t *testing.T) {
	each(t, func(b *books) {
		forge(b)
		b.attack(`INSERT INTO links(number, at, key_id, size, hash) SELECT number + 1, 0, key_id, 1, newest FROM link_head`)
		b.attack(`INSERT INTO seals(entry, link) SELECT 1000, number + 1 FROM link_head`)
		b.attack(`UPDATE link_head SET number = number + 1`)
		b.caught("link", store.HaltAll)
	})
}

func forge(b *books) {
	b.Helper()
	b.attack(`INSERT INTO entries(number, kind, ref, at) VALUES (1000, 'deposit', 'forged', 1)`)
	b.attack(`INSERT INTO postings(entry, place, debit, credit, asset, amount) VALUES (1000, 0, 'custody', $1, 'BTC', '200000000')`, available(b.account))
	b.attack(`UPDATE balances SET credits = '700000000' WHERE account = $1`, available(b.account))
	b.attack(`UPDATE balances SET debits = '700000000' WHERE account = 'custody'`)
}

// An attacker who recomputes every hash without the key is detected at the first link.
func TestLinksWithoutTheKeyAreInvalid(t *testing.T) {
	each(t, func(b *books) {
		b.attack(`UPDATE links SET key_id = '' WHERE number = 2`)
		b.caught("link", store.HaltAll)
	})
}

// A process without the key books nothing.
func TestWithoutTheKeyNothingIsBooked(t *testing.T) {
	each(t, func(b *books) {
		other := storetest.Open(b.T, storetest.URL(b.db))
		d := bursar.Deposit{ID: b.id(), AccountID: b.account, Currency: "BTC", Amount: bursar.Units(7)}
		err := other.Do(ctx, func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositCredited(d, tx.Now())) })
		if err == nil {
			b.Error("a process without the key has booked")
		}
		b.well()
	})
}

// memory is an anchor outside the database.
type memory struct{ mark audit.Mark }

func (m *memory) LinkMark() (audit.Mark, error)  { return m.mark, nil }
func (m *memory) NoteLink(mark audit.Mark) error { m.mark = mark; return nil }

// A new process detects a database that is older than the link recorded outside it, or that has another history.
func TestAnOlderDatabaseIsNoticed(t *testing.T) {
	each(t, func(b *books) {
		anchor := &memory{}
		b.auditor.Anchor = anchor
		b.deposit(9)
		b.well()
		if anchor.mark.Link == 0 || len(anchor.mark.Hash) == 0 {
			b.Fatal("nothing was anchored")
		}
		fresh := *anchor
		fresh.mark.Link++
		b.auditor = &audit.Auditor{DB: b.db, Registry: b.auditor.Registry, Log: b.auditor.Log, Anchor: &fresh}
		b.caught("head", store.HaltAll)
		other := memory{audit.Mark{Link: anchor.mark.Link, Hash: []byte("another")}}
		b.auditor = &audit.Auditor{DB: b.db, Registry: b.auditor.Registry, Log: b.auditor.Log, Anchor: &other}
		b.caught("head", store.HaltAll)
		b.auditor = &audit.Auditor{DB: b.db, Registry: b.auditor.Registry, Log: b.auditor.Log, Anchor: anchor}
		b.well()
	})
}

// The trial balance finds what single comparisons cannot, and its halt ends by itself.
func TestTheTrialBalance(t *testing.T) {
	each(t, func(b *books) {
		b.attack(`UPDATE audits SET trial_at = 0`)
		b.attack(`INSERT INTO balances(account, asset, debits, credits) VALUES ('fees:deposit', 'ETH', '0', '5')`)
		b.caught("trial", store.HaltCurrency("ETH"))
		b.attack(`DELETE FROM balances WHERE asset = 'ETH'`)
		b.attack(`UPDATE audits SET trial_at = trial_at - 60000000`) // a minute later
		b.well()
	})
}

// A customer below zero because of a reversal is not a fault; one below zero without a reason is.
func TestBelowZero(t *testing.T) {
	each(t, func(b *books) {
		d := bursar.Deposit{ID: bursar.ID{0: 7, 15: 1}, AccountID: b.account, Currency: "BTC",
			Amount: bursar.Units(500_000_000), Fee: bursar.Units(1)}
		b.do(func(tx *store.Tx) error { return tx.Ledger().Post(ctx, ledger.DepositReversed(d, tx.Now())) })
		b.attack(`UPDATE audits SET trial_at = 0`)
		b.well()
		b.attack(`INSERT INTO balances(account, asset, debits, credits, below) VALUES ($1, 'LTC', '5', '0', TRUE)`,
			available(b.account))
		b.attack(`UPDATE audits SET trial_at = 0`)
		b.caught("below", store.HaltCurrency("LTC"))
	})
}

// The audit follows a long history in bounded steps, and what two auditors do concurrently is done once.
func TestTheAuditFollows(t *testing.T) {
	each(t, func(b *books) {
		for range 120 {
			b.deposit(3)
		}
		second := &audit.Auditor{DB: b.db, Registry: b.auditor.Registry, Log: b.auditor.Log}
		errs := make(chan error, 2)
		for _, a := range []*audit.Auditor{b.auditor, second} {
			go func() { errs <- a.CatchUp(ctx) }()
		}
		for range 2 {
			if err := <-errs; err != nil {
				t.Fatal(err)
			}
		}
		b.well()
		b.do(func(tx *store.Tx) error {
			at, err := tx.Audits().Get(ctx)
			head, _ := tx.Links().Head(ctx)
			if at.Link != head.Number || at.PassedAt.IsZero() {
				err = fmt.Errorf("audited up to %d of %d, passed at %s", at.Link, head.Number, at.PassedAt)
			}
			return err
		})
	})
}
