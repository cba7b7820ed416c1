package store

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
)

// What an outgoing transaction pays changes together: on PostgreSQL by one statement for all that are alike, on SQLite,
// where a statement costs no way to a server and back, by one for each.

// AssignAll is AssignOutgoing for several withdrawals: all are assigned, or the transaction fails.
func (tx Withdrawals) AssignAll(ctx context.Context, list []bursar.Withdrawal, outgoing bursar.ID) error {
	if !tx.postgres || len(list) < 2 {
		for _, w := range list {
			if err := tx.AssignOutgoing(ctx, w, outgoing); err != nil {
				return err
			}
		}
		return nil
	}
	for _, alike := range alike(list) {
		err := tx.changeAll(ctx, "assign outgoing transaction", `SET outgoing_id = $2`, alike, outgoing)
		if err != nil {
			return err
		}
	}
	return nil
}

// SetStatusAll is SetStatus for several withdrawals: all are moved, or the transaction fails.
func (tx Withdrawals) SetStatusAll(
	ctx context.Context, list []bursar.Withdrawal, next func(bursar.Withdrawal) bursar.WithdrawalStatus,
) error {
	if !tx.postgres || len(list) < 2 {
		for _, w := range list {
			if err := tx.SetStatus(ctx, w, next(w)); err != nil {
				return err
			}
		}
		return nil
	}
	for _, alike := range alike(list) {
		one := alike[0]
		completed, err := tx.completed(one, next(one))
		if err != nil {
			return err
		}
		err = tx.changeAll(ctx, "set withdrawals", `SET status = $2, tx_id = $3, error = $4, completed_at = $5`, alike,
			string(next(one)), one.TxID, one.Error, completed)
		if err != nil {
			return err
		}
	}
	return nil
}

// alike splits withdrawals into those with the same status, transaction and error, in their order.
func alike(list []bursar.Withdrawal) (all [][]bursar.Withdrawal) {
	type state struct {
		status      bursar.WithdrawalStatus
		txID, error string
	}
	at := map[state]int{}
	for _, w := range list {
		s := state{w.Status, w.TxID, w.Error}
		i, known := at[s]
		if !known {
			i = len(all)
			at[s], all = i, append(all, nil)
		}
		all[i] = append(all[i], w)
	}
	return all
}

// changeAll changes withdrawals that are alike. Nothing is committed where one has another status than it was read
// with.
func (tx Withdrawals) changeAll(
	ctx context.Context, what, set string, list []bursar.Withdrawal, values ...any,
) error {
	ids := make([]bursar.ID, len(list))
	for i, w := range list {
		ids[i] = w.ID
	}
	those, args := among(tx.Tx, "id", ids, append([]any{string(list[0].Status)}, values...)...)
	n, err := tx.exec(ctx, what, `UPDATE withdrawals `+set+` WHERE status = $1 AND `+those, args...)
	if err == nil && n != int64(len(list)) {
		err = tx.fail(what, fmt.Errorf("%d of %d withdrawals are no longer %s", int64(len(list))-n, len(list),
			list[0].Status))
	}
	return err
}
