package store

import (
	"context"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Line is one posting with the entry that it belongs to.
type Line struct {
	Entry int64 // the entry's number
	Place int64 // within the entry, from 0
	Kind  ledger.Kind
	Ref   ledger.Ref
	At    time.Time
	ledger.Posting
}

var lineColumns = columnsOf([]column[Line]{
	{"p.entry", func(l *Line) any { return &l.Entry }},
	{"p.place", func(l *Line) any { return &l.Place }},
	{"e.kind", func(l *Line) any { return &l.Kind }},
	{"e.ref", func(l *Line) any { return &l.Ref }},
	{"e.at", func(l *Line) any { return instant{&l.At} }},
	{"p.debit", func(l *Line) any { return &l.Debit }},
	{"p.credit", func(l *Line) any { return &l.Credit }},
	{"p.asset", func(l *Line) any { return &l.Asset }},
	{"p.amount", func(l *Line) any { return &l.Amount }},
})

// placesPerEntry is more than the postings of any entry, so that an entry's number and a place in it make one number
// that sorts as they do.
const placesPerEntry = 1 << 8

// Number is the line's own number: lines are listed and pages continue by it.
func (l Line) Number() int64 { return l.Entry*placesPerEntry + l.Place }

// LineQuery says which lines to read. What is left zero does not restrict.
type LineQuery struct {
	Accounts []ledger.Account // those that touch any of them
	Asset    bursar.CurrencyCode
	Kind     ledger.Kind
	Since    time.Time // entries of this time or later
	Until    time.Time // and earlier than this

	edge int64 // the last entry that is looked at, in the order of the lines; 0: all are
}

// clocksApart is more than the clocks of replicas are apart and a transaction lasts: an entry's number is given
// within the transaction whose begin is its time, so entries whose times are further apart have numbers in the order
// of their times.
const clocksApart = time.Hour

// lookedLines is how many lines of each side of an account one page looks at: each takes a look at its entry as well,
// several times what another list takes for a row.
const lookedLines = 5_000

// List returns the lines below a number, newest first: those of a later entry before, and within an entry the last
// first. Before 0 in the page is the newest.
func (tx Statements) List(ctx context.Context, q LineQuery, page Page) ([]Line, error) {
	return tx.lines(ctx, q, page.bound(), true, page.Limit)
}

// Select is List that looks at a bounded number of lines of each account where a currency or a kind is asked for, which
// no index has: where these have no whole page, next is the number below which it continues; 0 at the end.
func (tx Statements) Select(ctx context.Context, q LineQuery, page Page) (lines []Line, next int64, err error) {
	if q.edge, err = tx.edge(ctx, q, page.bound(), true, page.looksAt(lookedLines)); err != nil {
		return nil, 0, err
	}
	lines, err = tx.List(ctx, q, page)
	if len(lines) >= page.Limit {
		return lines, 0, err
	}
	return lines, q.edge * placesPerEntry, err
}

// SelectAfter is Select in the order of After, from the number in the page on: next is the number above which it
// continues.
func (tx Statements) SelectAfter(ctx context.Context, q LineQuery, page Page) (lines []Line, next int64, err error) {
	if q.edge, err = tx.edge(ctx, q, page.Before, false, page.looksAt(lookedLines)); err != nil {
		return nil, 0, err
	}
	lines, err = tx.After(ctx, q, page.Before, page.Limit)
	if len(lines) >= page.Limit || q.edge == 0 {
		return lines, 0, err
	}
	return lines, (q.edge+1)*placesPerEntry - 1, err
}

// After returns up to limit lines above a number, oldest first.
func (tx Statements) After(ctx context.Context, q LineQuery, after int64, limit int) ([]Line, error) {
	return tx.lines(ctx, q, after, false, limit)
}

// OfTransfers returns an account's deposits that transfers within the service brought, by the withdrawals that made
// them; chain is the one of each withdrawal's currency.
func (tx Deposits) OfTransfers(ctx context.Context, account bursar.ID,
	chains map[bursar.ID]bursar.ChainID) (map[bursar.ID]bursar.ID, error) {
	withdrawals := make([]bursar.ID, 0, len(chains))
	for id := range chains {
		withdrawals = append(withdrawals, id)
	}
	found := map[bursar.ID]bursar.ID{}
	for chunk := range slices.Chunk(withdrawals, 500) {
		args, of := []any{account}, map[string]bursar.ID{}
		for _, id := range chunk {
			hash := bursar.TransferHash(id)
			of[hash] = id
			args = append(args, string(chains[id]), hash)
		}
		_, err := rows(ctx, tx.Tx, "list deposits of transfers", func(s scanner) (struct{}, error) {
			var hash string
			var id bursar.ID
			err := s.Scan(&hash, &id)
			found[of[hash]] = id
			return struct{}{}, err
		}, `SELECT tx_id, id FROM deposits WHERE account_id = $1 AND (chain, tx_id) IN (VALUES `+tuples(len(chunk), 2, 1)+`)`,
			args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}
