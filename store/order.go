package store

import (
	"cmp"
	"context"
	"slices"

	"github.com/bursar/bursar"
)

const (
	orderColumns  = withdrawalColumns + `, chain, seal`
	returnColumns = decisionColumns + `, seal`
)

// sealed is a row that was read with its seal; altered is ErrAltered where its facts are not those that were taken.
type sealed[T any] struct {
	it      T
	altered error
}

// ordered scans a withdrawal with its seal.
func (tx *Tx) ordered(s scanner) (o sealed[bursar.Withdrawal], err error) {
	var chain bursar.ChainID
	var seal []byte
	if o.it, err = scanWithdrawal(behind(s, &chain, &seal)); err == nil {
		o.altered = tx.seal.check(withdrawalFacts(chain, o.it), seal)
	}
	return o, err
}

// returned scans a decision with its seal.
func (tx *Tx) returned(s scanner) (o sealed[bursar.Resolution], err error) {
	var seal []byte
	if o.it, err = scanDecision(behind(s, &seal)); err == nil {
		o.altered = tx.seal.check(returnFacts(o.it), seal)
	}
	return o, err
}

// unaltered returns what was read, or ErrAltered.
func (o sealed[T]) unaltered(err error) (T, error) { return o.it, cmp.Or(err, o.altered) }

// allUnaltered returns all that was read, or ErrAltered for the first that was changed.
func allUnaltered[T any](list []sealed[T], err error) ([]T, error) {
	if err != nil {
		return nil, err
	}
	plain := make([]T, len(list))
	for i, o := range list {
		if o.altered != nil {
			return nil, o.altered
		}
		plain[i] = o.it
	}
	return plain, nil
}

// behind is a row with more columns behind those of a scan function.
func behind(s scanner, more ...any) scanner { return longer{s, more} }

type longer struct {
	scanner
	more []any
}

func (l longer) Scan(dest ...any) error { return l.scanner.Scan(slices.Concat(dest, l.more)...) }

// ListAltered returns the orders of one page that wait or are under way and whose facts are not those that were taken,
// and where the next page begins: 0 after the last.
func (tx Withdrawals) ListAltered(ctx context.Context, after int64, limit int) (altered map[bursar.ID]bursar.CurrencyCode, next int64, err error) {
	altered = map[bursar.ID]bursar.CurrencyCode{}
	found, err := rows(ctx, tx.Tx, "look through open orders", tx.ordered,
		`SELECT `+orderColumns+` FROM withdrawals WHERE completed_at = 0 AND number > $1 ORDER BY number LIMIT $2`, after, limit)
	if err != nil {
		return nil, 0, err
	}
	for _, o := range found {
		if o.altered != nil {
			altered[o.it.ID] = o.it.Currency
		}
	}
	if len(found) == limit {
		next = found[limit-1].it.Number
	}
	returns, err := rows(ctx, tx.Tx, "look through open returns", tx.returned,
		`SELECT `+returnColumns+` FROM resolutions WHERE kind = 'return' AND status IN ('queued', 'signed') ORDER BY number LIMIT $1`, limit)
	for _, o := range returns {
		if o.altered != nil {
			altered[o.it.ID] = o.it.Currency
		}
	}
	return altered, next, err
}
