package main

import (
	"cmp"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// attacker is the name whose address an edited withdrawal pays.
const attacker = "attacker"

// target is a value that an attacker with write access to the database may change.
type target struct {
	name    string
	pick    string // selects rowid and the value, in an order that is always the same
	column  string
	table   string
	counts  bool // the value is an amount, and is increased by one unit
	ordered bool // the row is a withdrawal that is not paid yet: an edit of one that ends soon need not be found
	change  func(h *history, value string) string
}

var targets = []target{
	{name: "balance", table: "balances", column: "credits", counts: true,
		pick: `SELECT rowid, credits FROM balances WHERE credits <> '0' ORDER BY account, asset`},
	{name: "posting", table: "postings", column: "amount", counts: true,
		pick: `SELECT rowid, amount FROM postings ORDER BY rowid`},
	{name: "entry", table: "entries", column: "kind",
		pick:   `SELECT rowid, kind FROM entries ORDER BY number`,
		change: func(_ *history, kind string) string { return kind + "_other" }},
	{name: "order", table: "withdrawals", column: "amount", counts: true, ordered: true,
		pick: `SELECT rowid, amount FROM withdrawals WHERE completed_at = 0 ORDER BY number`},
	{name: "destination", table: "withdrawals", column: "base", ordered: true,
		pick:   `SELECT rowid, base FROM withdrawals WHERE completed_at = 0 ORDER BY number`,
		change: func(h *history, _ string) string { return h.Chains[0].Named(attacker) }},
	{name: "payment", table: "outgoing_txs", column: "order_json", ordered: true,
		pick: `SELECT rowid, order_json FROM outgoing_txs WHERE kind = 'withdrawal' ` +
			`AND status IN ('new', 'claimed') ORDER BY number`,
		change: func(h *history, text string) string {
			for _, o := range h.orders {
				text = strings.ReplaceAll(text, o.to.Base, h.Chains[0].Named(attacker))
			}
			return text
		}},
}

// edit is a change that the service did not make.
type edit struct {
	target
	row     int64
	was, is string
}

// edit changes a row of the database from outside. It happens once in a history.
func (h *history) edit(e Event) {
	if h.edited != nil || h.DB.Postgres() {
		return
	}
	made := edit{target: targets[int(e.A)%len(targets)]}
	h.fail(h.DB.Edit(h.ctx, func(tx *sql.Tx) error {
		rows, err := candidates(tx, made.target)
		if err != nil || len(rows) == 0 {
			return err
		}
		made.row, made.was = rows[int(e.B)%len(rows)].row, rows[int(e.B)%len(rows)].was
		if made.is = made.was; made.counts {
			made.is, err = raised(made.was, 1)
		} else {
			made.is = made.change(h, made.was)
		}
		if err != nil || made.is == made.was {
			return err
		}
		h.edited = &made
		_, err = tx.Exec(`UPDATE `+made.table+` SET `+made.column+` = $2 WHERE rowid = $1`, made.row, made.is)
		return err
	}))
	h.log("  %s of row %d is edited: %q becomes %q", made.name, made.row, made.was, made.is)
}

func candidates(tx *sql.Tx, t target) (found []edit, err error) {
	rows, err := tx.Query(t.pick)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var c edit
		if err := rows.Scan(&c.row, &c.was); err != nil {
			return nil, err
		}
		found = append(found, c)
	}
	return found, rows.Err()
}

// raised returns an amount with some units more, or fewer.
func raised(text string, by int64) (string, error) {
	amount, err := bursar.ParseDecimal(text, 0)
	if err != nil {
		return "", err
	}
	if by < 0 {
		amount, err = amount.Sub(bursar.Units(uint64(-by)))
	} else {
		amount, err = amount.Add(bursar.Units(uint64(by)))
	}
	return amount.String(), err
}

// editRounds is how often everything is done once before an edit must have been found.
const editRounds = 8

// mendEdit checks that an edit is found and that nothing is paid because of it, and then has the operator undo it.
// After that the history is evaluated like any other.
func (h *history) mendEdit() {
	if h.edited == nil {
		return
	}
	for round := range editRounds {
		h.settle(round)
		h.audit(Event{})
	}
	h.fail(h.editFound())
	h.nothingForAttackers()
	h.fail(h.DB.Edit(h.ctx, func(tx *sql.Tx) error { return h.edited.undo(tx) }))
	h.log("  the edit of %s is undone", h.edited.name)
	h.edited = nil
	h.cancelOverdrawn()
}

// cancelOverdrawn has the operator cancel the newest withdrawals of an account that were taken from a raised balance,
// as the runbook says, until it is not below zero any more.
func (h *history) cancelOverdrawn() {
	list, err := h.process(0).Service.Withdrawals.List(h.ctx, bursar.ID{}, store.Page{Limit: 1000})
	h.fail(err)
	slices.SortFunc(list, func(a, b bursar.Withdrawal) int { return cmp.Compare(b.Number, a.Number) })
	for _, w := range list {
		if w.CompletedAt.IsZero() && h.overdrawn(w) {
			_, err := h.process(0).Service.Withdrawals.Cancel(h.ctx, w.ID)
			h.log("  cancel %s, for its account is below zero: %v", w.ID, err)
		}
	}
}

// overdrawn reports whether the books say that an entry took the account of a withdrawal below zero, and it still is.
func (h *history) overdrawn(w bursar.Withdrawal) (is bool) {
	h.fail(h.DB.View(h.ctx, func(tx *store.Tx) error {
		faults, err := tx.BookFaults().List(h.ctx, 100)
		if err != nil {
			return err
		}
		account := ledger.Available(w.AccountID)
		b, err := tx.Ledger().Balance(h.ctx, account, w.Currency)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		_, below := b.Net(ledger.Liability)
		is = below && slices.ContainsFunc(faults, func(f store.BookFault) bool {
			return f.Kind == "overdrawn" && f.Ref == fmt.Sprintf("%s|%s", account, w.Currency)
		})
		return err
	}))
	return is
}

func (e *edit) undo(tx *sql.Tx) error {
	var now string
	err := tx.QueryRow(`SELECT `+e.column+` FROM `+e.table+` WHERE rowid = $1`, e.row).Scan(&now)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return err
	case e.counts:
		if now, err = raised(now, -1); err != nil {
			return err
		}
	case now == e.is:
		now = e.was
	}
	_, err = tx.Exec(`UPDATE `+e.table+` SET `+e.column+` = $2 WHERE rowid = $1`, e.row, now)
	return err
}

// editFound checks that the service has noticed an edit: the books contradict themselves, or the withdrawal was not
// paid.
func (h *history) editFound() error {
	if h.edited.ordered {
		return nil // what counts is that nothing is paid because of it, which is checked all the time
	}
	return h.DB.View(h.ctx, func(tx *store.Tx) error {
		halts, err := tx.Halts().List(h.ctx)
		if err == nil && !halted(halts, store.HaltByBooks) {
			err = fmt.Errorf("an edit of %s was not found: %q became %q", h.edited.name, h.edited.was, h.edited.is)
		}
		return err
	})
}

// nothingForAttackers checks that nothing was ever paid to the attacker's address.
func (h *history) nothingForAttackers() {
	for _, c := range h.Chains {
		for _, currency := range h.Registry.On(c.Capabilities().ID) {
			if got := c.Balance(h.Chains[0].Named(attacker), currency.Contract); !got.IsZero() {
				h.fail(fmt.Errorf("%s of %s went to the attacker's address of an edited "+
					"withdrawal", got, currency.Code))
			}
		}
	}
}
