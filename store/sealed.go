package store

import (
	"cmp"
	"context"

	"github.com/bursar/bursar"
)

// sealed is a row that was read with its seal; altered is ErrAltered where its facts are not those that were taken.
type sealed[T any] struct {
	it      T
	chain   bursar.ChainID // of a withdrawal
	seal    []byte
	altered error
}

type (
	sealedOrder  = sealed[bursar.Withdrawal]
	sealedRefund = sealed[bursar.Resolution]
)

var (
	orderColumns = columnsWithin(withdrawalColumns, func(o *sealedOrder) *bursar.Withdrawal { return &o.it },
		column[sealedOrder]{"chain", func(o *sealedOrder) any { return &o.chain }},
		column[sealedOrder]{"seal", func(o *sealedOrder) any { return &o.seal }})
	refundColumns = columnsWithin(resolutionColumns, func(o *sealedRefund) *bursar.Resolution { return &o.it },
		column[sealedRefund]{"seal", func(o *sealedRefund) any { return &o.seal }})
)

// ordered scans a withdrawal with its seal.
func (tx *Tx) ordered(s scanner) (sealedOrder, error) {
	o, err := orderColumns.scan(s)
	if err == nil {
		o.altered = tx.seal.check(withdrawalFacts(o.chain, o.it), o.seal)
	}
	return o, err
}

// refunded scans a resolution with its seal.
func (tx *Tx) refunded(s scanner) (sealedRefund, error) {
	o, err := refundColumns.scan(s)
	if err == nil {
		o.altered = tx.seal.check(refundFacts(o.it), o.seal)
	}
	return o, err
}

// unaltered returns what was read, or ErrAltered.
func (o sealed[T]) unaltered(err error) (T, error) { return o.it, cmp.Or(err, o.altered) }

// NoneAltered returns ErrAltered for the first withdrawal, or refund to a sender, that has not ended and whose facts
// are not those that were taken. It reads all that have not ended.
func (tx Withdrawals) NoneAltered(ctx context.Context) error {
	_, err := allUnaltered(rows(ctx, tx.Tx, "check the open withdrawals", tx.ordered,
		orderColumns.query+`FROM withdrawals WHERE completed_at = 0`))
	if err == nil {
		_, err = allUnaltered(rows(ctx, tx.Tx, "check the open refunds", tx.refunded,
			refundColumns.query+`FROM resolutions WHERE kind = 'return' AND (status = 'queued' OR status = 'signed')`))
	}
	return err
}

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

// ListAltered returns the orders of one page that wait or are under way and whose facts are not those that were taken,
// and where the next page begins: 0 after the last.
func (tx Withdrawals) ListAltered(ctx context.Context, after int64,
	limit int) (altered map[bursar.ID]bursar.CurrencyCode, next int64, err error) {
	altered = map[bursar.ID]bursar.CurrencyCode{}
	found, err := rows(ctx, tx.Tx, "look through open orders", tx.ordered,
		orderColumns.query+`FROM withdrawals WHERE completed_at = 0 AND number > $1 ORDER BY number LIMIT $2`, after, limit)
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
	refunds, err := rows(ctx, tx.Tx, "look through open refunds", tx.refunded,
		refundColumns.query+`FROM resolutions WHERE kind = 'return' AND status IN ('queued', 'signed')
		ORDER BY number LIMIT $1`, limit)
	for _, o := range refunds {
		if o.altered != nil {
			altered[o.it.ID] = o.it.Currency
		}
	}
	return altered, next, err
}
