package store

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Get returns an account's deposit; another account's is ErrNotFound.
func (tx Deposits) Get(ctx context.Context, account, id bursar.ID) (bursar.Deposit, error) {
	return depositColumns.one(ctx, tx.Tx, "read deposit",
		depositFrom+` WHERE d.id = $1 AND d.account_id = $2`, id, account)
}

// ByID returns a deposit of any account.
func (tx Deposits) ByID(ctx context.Context, id bursar.ID) (bursar.Deposit, error) {
	return depositColumns.one(ctx, tx.Tx, "read deposit", depositFrom+` WHERE d.id = $1`, id)
}

// ByIDs returns those deposits of any accounts that are there, by their IDs.
func (tx Deposits) ByIDs(ctx context.Context, ids []bursar.ID) (map[bursar.ID]bursar.Deposit, error) {
	found := make(map[bursar.ID]bursar.Deposit, len(ids))
	for part := range parts(tx.Tx, ids) {
		those, args := among(tx.Tx, "d.id", part)
		list, err := depositColumns.rows(ctx, tx.Tx, "read deposits", depositFrom+` WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
		for _, d := range list {
			found[d.ID] = d
		}
	}
	return found, nil
}

// ByTx returns an account's deposits in a transaction of any of the chains, in the transaction's order.
func (tx Deposits) ByTx(ctx context.Context, account bursar.ID, chains []bursar.ChainID,
	txIDs []string) ([]bursar.Deposit, error) {
	args := []any{account}
	for _, c := range chains {
		args = append(args, string(c))
	}
	for _, id := range txIDs {
		args = append(args, id)
	}
	return depositColumns.rows(ctx, tx.Tx, "list deposits by hash",
		depositFrom+` WHERE d.account_id = $1 AND d.chain IN (`+
			list(len(chains), 1)+`) AND d.tx_id IN (`+list(len(txIDs), 1+len(chains))+`) ORDER BY d.chain, d.output, d.number`,
		args...)
}

// List returns what arrived at an account's wallet, newest first; another account's wallet is ErrNotFound.
func (tx Deposits) List(ctx context.Context, account, wallet bursar.ID, page Page) ([]bursar.Deposit, error) {
	w, err := tx.Wallets().Get(ctx, account, wallet)
	if err != nil {
		return nil, err
	}
	return depositColumns.rows(ctx, tx.Tx, "list deposits", depositFrom+
		` WHERE d.wallet = $1 AND d.number < $2 ORDER BY d.number DESC LIMIT $3`, w.Number, page.bound(), page.Limit)
}

// AnyReversed reports whether a deposit of an account was credited and reversed, and is not credited again now: it is
// gone, or in a block that is not final yet, or came back too small.
func (tx Deposits) AnyReversed(ctx context.Context, account bursar.ID) (bool, error) {
	found, err := rows(ctx, tx.Tx, "look for reversed deposits", func(s scanner) (d bursar.Deposit, err error) {
		return d, s.Scan(&d.ID, &d.Status, &d.Reversals)
	}, `SELECT id, status, reversals FROM deposits WHERE account_id = $1
		AND status IN ('reversed', 'pending', 'orphaned', 'below_minimum') AND reversals > 0`, account)
	if err != nil {
		return false, err
	}
	for _, d := range found {
		if d.Status == bursar.DepositReversed {
			return true, nil
		}
		for ; d.Reversals > 0; d.Reversals-- { // what was too small is counted as reversed, and was never credited
			before := d
			before.Reversals--
			credited, err := tx.Ledger().IsPosted(ctx, ledger.DepositReversed(before, tx.now))
			if err != nil || credited {
				return credited, err
			}
		}
	}
	return false, nil
}
