package store

import (
	"context"

	"github.com/bursar/bursar"
)

// Moves returns how many moves to cold wallets were ever requested on a chain, those that were given up among them.
func (tx Cold) Moves(ctx context.Context, chain bursar.ChainID) (n int, err error) {
	err = tx.row(ctx, "count moves to cold wallets",
		`SELECT COUNT(*) FROM outgoing_txs WHERE chain = $1 AND kind = 'to_cold'`, []any{string(chain)}, &n)
	return n, err
}

// Moving returns what moved to cold wallets of a currency in blocks, and waits to be booked.
func (tx Cold) Moving(ctx context.Context, c bursar.Currency) (bursar.Amount, error) {
	return tx.sum(ctx, "read moves to cold wallets", `SELECT amount FROM deposits WHERE chain = $1 AND currency = $2
		AND status = 'pending' AND purpose = 'cold'`, string(c.Chain), string(c.Code))
}

// Unswept returns what deposit addresses hold of a currency on a chain of the account model, by the books.
func (tx Cold) Unswept(ctx context.Context, c bursar.Currency) (bursar.Amount, error) {
	return tx.sum(ctx, "read what is not swept", `SELECT amount FROM holdings WHERE chain = $1 AND contract = $2
		AND amount <> '0'`, string(c.Chain), c.Contract)
}

// OpenPayments returns what withdrawals and refunds of a currency take that are neither settled nor ended, those that
// wait for an operator among them.
func (tx Cold) OpenPayments(ctx context.Context, c bursar.Currency) (bursar.Amount, error) {
	withdrawals, err := tx.sum(ctx, "read open withdrawals", `SELECT amount FROM withdrawals WHERE chain = $1
		AND currency = $2 AND completed_at = 0`, string(c.Chain), string(c.Code))
	if err != nil {
		return withdrawals, err
	}
	refunds, err := tx.sum(ctx, "read open refunds", `SELECT amount FROM resolutions WHERE chain = $1
		AND currency = $2 AND status IN ('queued', 'signed')`, string(c.Chain), string(c.Code))
	if err != nil {
		return refunds, err
	}
	return withdrawals.Add(refunds)
}

func (tx Cold) sum(ctx context.Context, what, query string, args ...any) (bursar.Amount, error) {
	amounts, err := rows(ctx, tx.Tx, what, scanOne[bursar.Amount], query, args...)
	if err != nil {
		return bursar.Amount{}, err
	}
	return bursar.Sum(amounts...)
}
