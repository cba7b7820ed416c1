package main

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// journal writes every posting of the period.
func (x *export) journal(ctx context.Context) error {
	if err := x.unarchived(ctx); err != nil {
		return err
	}
	x.rows.head(journalRow{})
	q := store.LineQuery{Since: x.since, Until: x.until}
	return x.each(ctx, q, func(ctx context.Context, lines []store.Line) error {
		known, err := x.details(ctx, lines)
		if err != nil {
			return err
		}
		for _, l := range lines {
			currency, err := x.currency(l.Asset)
			if err != nil {
				return err
			}
			d, err := x.detail(l, known)
			if err != nil {
				return err
			}
			x.rows.put(journalRow{
				At:       l.At,
				Entry:    l.Entry,
				Line:     l.Place,
				Kind:     l.Kind,
				Ref:      l.Ref,
				Debit:    l.Debit,
				Credit:   l.Credit,
				Currency: l.Asset,
				Amount:   currency.Exact(l.Amount),
				detail:   d,
			})
		}
		return x.rows.err()
	})
}

// statement writes the account's entries of the period between its opening and its closing balances.
func (x *export) statement(ctx context.Context) error {
	err := x.db.View(ctx, func(tx *store.Tx) error {
		_, err := tx.Accounts().Get(ctx, x.owner)
		return err
	})
	if err != nil {
		return err
	}
	q := store.LineQuery{Accounts: []ledger.Account{ledger.Available(x.owner), ledger.Held(x.owner)}}
	x.sure = x.db.Now().Add(-settled)
	running, err := x.begin(ctx, q.Accounts)
	if err != nil {
		return err
	}
	x.rows.head(statementRow{})
	if !x.since.IsZero() {
		before := q
		before.Until = x.since
		if err := x.each(ctx, before, func(_ context.Context, lines []store.Line) error {
			return errors.Join(count(x.sums, x.surely(lines), q.Accounts), x.sum(running, lines))
		}); err != nil {
			return err
		}
		if err := x.balances(kindOpening, x.since, running); err != nil {
			return err
		}
	}
	q.Since, q.Until = x.since, x.until
	err = x.each(ctx, q, func(ctx context.Context, lines []store.Line) error {
		return errors.Join(count(x.sums, x.surely(lines), q.Accounts), x.lines(ctx, running, lines))
	})
	if err != nil {
		return err
	}
	if err := x.whole(ctx, q.Accounts); err != nil {
		return err
	}
	return x.balances(kindClosing, x.until, running)
}

// sum adds lines to the running balances without writing them.
func (x *export) sum(running ledger.Running, lines []store.Line) error {
	for _, l := range lines {
		m, err := ledger.MovementOf(x.owner, l.Kind, l.Ref, l.Place, l.Posting)
		if err != nil {
			return err
		}
		if _, err := running.Add(l.Asset, m); err != nil {
			return err
		}
	}
	return nil
}

// balances writes the account's balance in every currency that it ever used.
func (x *export) balances(kind ledger.Kind, at time.Time, running ledger.Running) error {
	for _, code := range slices.Sorted(maps.Keys(running)) {
		currency, err := x.currency(code)
		if err != nil {
			return err
		}
		has := running[code]
		x.rows.put(statementRow{
			At:             at,
			Kind:           kind,
			Currency:       code,
			AvailableAfter: signed(currency, has.Available),
			HeldAfter:      signed(currency, has.Held),
		})
	}
	return x.rows.err()
}

func (x *export) lines(ctx context.Context, running ledger.Running, lines []store.Line) error {
	brought, err := x.brought(ctx, lines)
	if err != nil {
		return err
	}
	known, err := x.details(ctx, lines)
	if err != nil {
		return err
	}
	for _, l := range lines {
		row, err := x.row(running, l, brought)
		if err != nil {
			return err
		}
		if row.detail, err = x.detail(l, known); err != nil {
			return err
		}
		x.rows.put(row)
	}
	return x.rows.err()
}

func (x *export) row(running ledger.Running, l store.Line, brought map[bursar.ID]bursar.ID) (statementRow, error) {
	currency, err := x.currency(l.Asset)
	if err != nil {
		return statementRow{}, err
	}
	m, err := ledger.MovementOf(x.owner, l.Kind, l.Ref, l.Place, l.Posting)
	if err != nil {
		return statementRow{}, err
	}
	if id, is := ledger.TransferOf(x.owner, l.Kind, l.Ref, l.Posting); is {
		m.Deposit = brought[id]
	}
	has, err := running.Add(l.Asset, m)
	return statementRow{
		At:             l.At,
		Kind:           l.Kind,
		Part:           m.Part,
		Currency:       l.Asset,
		Amount:         currency.Exact(l.Amount),
		Available:      signed(currency, m.Available),
		Held:           signed(currency, m.Held),
		AvailableAfter: signed(currency, has.Available),
		HeldAfter:      signed(currency, has.Held),
		Deposit:        optional(m.Deposit),
		Withdrawal:     optional(m.Withdrawal),
		Ref:            l.Ref,
	}, err
}

// brought returns the deposits that internal transfers among the lines created, by withdrawal.
func (x *export) brought(ctx context.Context, lines []store.Line) (found map[bursar.ID]bursar.ID, err error) {
	chains := map[bursar.ID]bursar.ChainID{}
	for _, l := range lines {
		if id, is := ledger.TransferOf(x.owner, l.Kind, l.Ref, l.Posting); is {
			currency, err := x.currency(l.Asset)
			if err != nil {
				return nil, err
			}
			chains[id] = currency.Chain
		}
	}
	err = x.db.View(ctx, func(tx *store.Tx) error {
		found, err = tx.Deposits().OfTransfers(ctx, x.owner, chains)
		return err
	})
	return found, err
}

// signed formats a balance, or a change of one, exactly.
func signed(c bursar.Currency, b ledger.Balance) string {
	amount, negative := b.Net(ledger.Liability)
	if negative {
		return "-" + c.Exact(amount)
	}
	return c.Exact(amount)
}
