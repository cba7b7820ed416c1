package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Own is what is the operator's own of a currency: capital and fees, less what networks took and what was lost. Short
// is how far it is below nothing; one of the two is zero.
type Own struct{ Amount, Short bursar.Amount }

// Get returns what is the operator's own of a currency. It reads a handful of rows.
func (tx OperatorFunds) Get(ctx context.Context, code bursar.CurrencyCode) (own Own, err error) {
	var b ledger.Balance
	args := []any{string(code)}
	for _, account := range []ledger.Account{
		ledger.Capital,
		ledger.Drawings,
		ledger.DepositFees,
		ledger.WithdrawalFees,
		ledger.NetworkFees,
		ledger.Losses,
	} {
		args = append(args, string(account))
	}
	_, err = rows(ctx, tx.Tx, "read the operator's own", func(s scanner) (none struct{}, err error) {
		var one ledger.Balance
		if err = s.Scan(&one.Debits, &one.Credits); err != nil {
			return none, err
		}
		if b.Debits, err = b.Debits.Add(one.Debits); err == nil {
			b.Credits, err = b.Credits.Add(one.Credits)
		}
		return none, err
	}, `SELECT debits, credits FROM balances WHERE asset = $1 AND account IN (`+list(len(args)-1, 1)+`)`, args...)
	return Own{b.Credits.SubOrZero(b.Debits), b.Debits.SubOrZero(b.Credits)}, err
}

// SetOwnFee notes what an outgoing transaction may cost the operator, in the native asset.
func (tx Outgoing) SetOwnFee(ctx context.Context, id bursar.ID, fee bursar.Amount) error {
	return tx.change(ctx, "set a fee aside", `UPDATE outgoing_txs SET own_fee = $2 WHERE id = $1`, id, fee)
}

// Fees returns what the transactions of a chain that are under way, other than one, may cost the operator; all of
// them for the zero ID.
func (tx OperatorFunds) Fees(ctx context.Context, chain bursar.ChainID, but bursar.ID) (bursar.Amount, error) {
	fees, err := rows(ctx, tx.Tx, "read fees that are set aside", scanOne[bursar.Amount], `SELECT own_fee FROM outgoing_txs
		WHERE chain = $1 AND status <> 'new' AND status <> 'final' AND status <> 'abandoned' AND own_fee <> '0' AND id <> $2`,
		string(chain), but[:])
	if err != nil {
		return bursar.Amount{}, err
	}
	return bursar.Sum(fees...)
}

// GasLeft returns what the operator's own of a chain's native asset has left for the fee of a transaction, beside
// those that are under way. In a transaction that leads the chain nobody else can spend it.
func (tx OperatorFunds) GasLeft(ctx context.Context, chain bursar.ChainID, native bursar.CurrencyCode,
	but bursar.ID) (bursar.Amount, error) {
	own, err := tx.Get(ctx, native)
	if err != nil {
		return bursar.Amount{}, err
	}
	open, err := tx.Fees(ctx, chain, but)
	return own.Amount.SubOrZero(open), err
}

// PaidOrder is an order that an outgoing transaction pays, its facts as they were taken.
type PaidOrder struct {
	ID       bursar.ID
	Currency bursar.CurrencyCode
	Amount   bursar.Amount
	Fee      bursar.Amount
	To       bursar.Address
	At       time.Time // when it was ordered
}

// OrdersPaid returns the withdrawals that an outgoing transaction pays, in their order, or the refund, and locks
// nothing. The error is ErrAltered where the facts of one are not those that were taken.
func (tx Outgoing) OrdersPaid(ctx context.Context, outgoing bursar.ID) (orders []PaidOrder, err error) {
	withdrawals, err := allUnaltered(rows(ctx, tx.Tx, "list paid withdrawals", tx.ordered,
		orderColumns.query+`FROM withdrawals WHERE outgoing_id = $1 ORDER BY number`, outgoing))
	for _, w := range withdrawals {
		orders = append(orders, PaidOrder{w.ID, w.Currency, w.Amount, w.Fee, w.Address, w.CreatedAt})
	}
	if err != nil {
		return nil, err
	}
	refunds, err := allUnaltered(rows(ctx, tx.Tx, "list paid refunds", tx.refunded,
		refundColumns.query+`FROM resolutions WHERE outgoing_id = $1`, outgoing))
	for _, n := range refunds {
		orders = append(orders, PaidOrder{n.ID, n.Currency, n.Amount, n.Fee, n.Address, n.ResolvedAt})
	}
	return orders, err
}
