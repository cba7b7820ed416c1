package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// What an operator looks for, among all accounts or some of them. Each kind of text has its own index; no accounts are
// all of them. What is found is sorted by number + 0: no index has that, so that PostgreSQL does not go down the
// numbers instead, in the hope to find enough soon.

// of restricts a condition to some accounts.
func (c *condition) of(tx *Tx, column string, accounts []bursar.ID) {
	if len(accounts) == 0 {
		return
	}
	var those string
	those, c.args = among(tx, column, accounts, c.args...)
	c.text += ` AND ` + those
}

// InTxs returns deposits in transactions with one of some IDs, of one of some chains, newest first.
func (tx Deposits) InTxs(
	ctx context.Context, accounts []bursar.ID, chains []bursar.ChainID, txIDs []string, limit int,
) ([]bursar.Deposit, error) {
	q := condition{args: []any{limit}}
	q.in(tx.Tx, "d.chain", textsOf(chains))
	q.in(tx.Tx, "d.tx_id", txIDs)
	q.of(tx.Tx, "d.account_id", accounts)
	return depositColumns.rows(ctx, tx.Tx, "find deposits in transactions",
		depositFrom+` WHERE TRUE`+q.text+` ORDER BY d.number + 0 DESC LIMIT $1`, q.args...)
}

// ToWallets returns deposits to wallets and charges by their numbers, newest first.
func (tx Deposits) ToWallets(ctx context.Context, wallets []int64, limit int) ([]bursar.Deposit, error) {
	if len(wallets) == 0 {
		return nil, nil
	}
	q := condition{args: []any{limit}}
	q.in(tx.Tx, "d.wallet", wallets)
	return depositColumns.rows(ctx, tx.Tx, "find deposits to wallets",
		depositFrom+` WHERE TRUE`+q.text+` ORDER BY d.number + 0 DESC LIMIT $1`, q.args...)
}

// Found returns withdrawals by their transactions, addresses or reference, newest first. One of the three is set;
// status, currency and period may be.
func (tx Withdrawals) Found(
	ctx context.Context, accounts []bursar.ID, f WithdrawalFilter, limit int,
) ([]bursar.Withdrawal, error) {
	q := condition{args: []any{limit}}
	switch {
	case len(f.TxIDs) > 0:
		q.in(tx.Tx, "tx_id", f.TxIDs)
		q.text += ` AND tx_id <> ''`
	case len(f.Addresses) > 0:
		var bases []string
		var memos []int64
		for _, a := range f.Addresses {
			bases, memos = append(bases, a.Base), append(memos, memoValue(a))
		}
		q.in(tx.Tx, "base", distinct(bases))
		q.in(tx.Tx, "memo", distinct(memos))
	case f.Reference != "":
		q.and(`reference = $? AND reference <> ''`, f.Reference)
	default:
		return nil, nil
	}
	q.of(tx.Tx, "account_id", accounts)
	f.narrow(&q)
	return withdrawalColumns.rows(ctx, tx.Tx, "find withdrawals",
		`FROM withdrawals WHERE TRUE`+q.text+` ORDER BY number + 0 DESC LIMIT $1`, q.args...)
}

// ByID returns any account's withdrawal, or ErrNotFound.
func (tx Withdrawals) ByID(ctx context.Context, id bursar.ID) (bursar.Withdrawal, error) {
	return withdrawalColumns.one(ctx, tx.Tx, "read withdrawal", `FROM withdrawals WHERE id = $1`, id)
}

// WithMemo returns wallets and charges of a memo, on whichever chain, newest first.
func (tx Wallets) WithMemo(
	ctx context.Context, accounts []bursar.ID, memo int64, limit int,
) ([]bursar.Wallet, error) {
	q := condition{args: []any{limit, memo}}
	q.of(tx.Tx, "w.account_id", accounts)
	return walletColumns.rows(ctx, tx.Tx, "find wallets of a memo", walletFrom+
		` WHERE w.memo = $2 AND w.memo >= 0`+q.text+` ORDER BY w.number + 0 DESC LIMIT $1`, q.args...)
}

// ByID returns any account's charge with its confirmed deposits, or ErrNotFound.
func (tx Charges) ByID(ctx context.Context, id bursar.ID) (bursar.Charge, error) {
	c, err := chargeColumns.one(ctx, tx.Tx, "read charge", chargeFrom+` WHERE c.id = $1`, id)
	if err != nil {
		return c, err
	}
	list := []bursar.Charge{c}
	err = tx.attachDeposits(ctx, list)
	return list[0], err
}

// ByID returns any account's invoice, or ErrNotFound.
func (tx Invoices) ByID(ctx context.Context, id bursar.ID) (bursar.Invoice, error) {
	return invoiceColumns.one(ctx, tx.Tx, "read invoice", invoiceFrom+` WHERE i.id = $1`, id)
}

// Named returns invoices of a filter's reference, which each account gives once, newest first. A status is the one that
// is recorded.
func (tx Invoices) Named(
	ctx context.Context, accounts []bursar.ID, f ChargeFilter, limit int,
) ([]bursar.Invoice, error) {
	q := condition{args: []any{limit, f.Reference}}
	q.of(tx.Tx, "i.account_id", accounts)
	f.narrow(&q)
	return invoiceColumns.rows(ctx, tx.Tx, "find invoices by reference", invoiceFrom+
		` WHERE i.reference = $2 AND i.reference <> ''`+q.text+` ORDER BY i.number + 0 DESC LIMIT $1`, q.args...)
}

// OfCustomer returns invoices of a customer, as clients name theirs, newest first.
func (tx Invoices) OfCustomer(
	ctx context.Context, accounts []bursar.ID, customer string, limit int,
) ([]bursar.Invoice, error) {
	q := condition{args: []any{limit, customer}}
	q.of(tx.Tx, "i.account_id", accounts)
	return invoiceColumns.rows(ctx, tx.Tx, "find invoices of a customer", invoiceFrom+
		` WHERE i.customer = $2 AND i.customer <> ''`+q.text+` ORDER BY i.number + 0 DESC LIMIT $1`, q.args...)
}

// SweepAfter returns the first sweep of a currency from an address that was requested at a time or later and is not
// abandoned: what the address had received by then, it moves. Without any, ErrNotFound.
func (tx Outgoing) SweepAfter(ctx context.Context, chain bursar.ChainID, base string, code bursar.CurrencyCode,
	at time.Time) (bursar.OutgoingTx, error) {
	return outgoingColumns.one(ctx, tx.Tx, "find the sweep of an address", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.base = $2 AND s.share = 'sweep' AND s.currency = $3 AND s.created_at >= $4
		AND s.status <> 'abandoned' ORDER BY s.created_at, s.number LIMIT 1`, string(chain), base, string(code), micros(at))
}
