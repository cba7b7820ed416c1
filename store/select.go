package store

import (
	"context"
	"slices"
	"time"

	"github.com/bursar/bursar"
)

// DepositFilter selects deposits. What is left zero does not restrict; an empty list that is not nil selects none.
type DepositFilter struct {
	Status   bursar.DepositStatus
	Currency bursar.CurrencyCode
	From     time.Time // seen at or after
	To       time.Time // seen before
	Wallets  []int64   // to one of these wallets and charges, by their numbers
	TxIDs    []string  // in a transaction with one of these IDs, of one of Chains
	Chains   []bursar.ChainID
	Amount   bursar.Amount // of exactly this; only a Walk reads it
}

// Select returns an account's deposits that a filter selects, newest first, those to charges too. It looks at a bounded
// number of deposits: where these have no whole page, next is the number below which it continues; 0 at the end.
func (tx Deposits) Select(ctx context.Context, account bursar.ID, f DepositFilter, page Page) (list []bursar.Deposit,
	next int64, err error) {
	if f.Wallets != nil && len(f.Wallets) == 0 {
		return nil, 0, nil
	}
	return accountDeposits.page(ctx, tx.Tx, account, f.filter(tx.Tx), page)
}

var accountDeposits = accountList[bursar.Deposit]{what: "select deposits", from: depositFrom, alias: "d.",
	table: "deposits d", of: depositColumns}

func (f DepositFilter) filter(tx *Tx) (of filter) {
	if f.TxIDs != nil {
		of.served(func(q *condition) {
			q.in(tx, "d.tx_id", textsOf(f.TxIDs))
			q.in(tx, "d.chain", textsOf(f.Chains))
		})
	}
	if f.Wallets != nil {
		of.served(func(q *condition) { q.in(tx, "d.wallet", f.Wallets) })
	}
	of.status("d.status", string(f.Status), string(bursar.DepositConfirmed))
	of.equals("d.currency", string(f.Currency))
	of.between("d.seen_at", f.From, f.To)
	return of
}

// WithdrawalFilter selects withdrawals. What is left zero does not restrict; an empty list that is not nil selects
// none.
type WithdrawalFilter struct {
	Status    bursar.WithdrawalStatus
	Currency  bursar.CurrencyCode
	Reference string
	Metadata  string           // exactly this, as bursar.MetadataText writes it
	From      time.Time        // requested at or after
	To        time.Time        // requested before
	Addresses []bursar.Address // to one of these
	TxIDs     []string         // by a transaction with one of these IDs
	Amount    bursar.Amount    // of exactly this; only a Walk reads it
}

// Select returns an account's withdrawals that a filter selects, newest first. It looks at a bounded number of
// withdrawals: where these have no whole page, next is the number below which it continues; 0 at the end.
func (tx Withdrawals) Select(
	ctx context.Context, account bursar.ID, f WithdrawalFilter, page Page,
) (list []bursar.Withdrawal, next int64, err error) {
	if f.Addresses != nil && len(f.Addresses) == 0 {
		return nil, 0, nil
	}
	return accountWithdrawals.page(ctx, tx.Tx, account, f.filter(tx.Tx), page)
}

var accountWithdrawals = accountList[bursar.Withdrawal]{what: "select withdrawals", from: "FROM withdrawals",
	table: "withdrawals", of: withdrawalColumns}

func (f WithdrawalFilter) filter(tx *Tx) (of filter) {
	if f.Reference != "" {
		of.served(func(q *condition) { q.and(`reference = $? AND reference <> ''`, f.Reference) })
	}
	if f.Metadata != "" {
		of.served(func(q *condition) { q.metadata("metadata", f.Metadata) })
	}
	if f.TxIDs != nil {
		of.served(func(q *condition) {
			q.in(tx, "tx_id", f.TxIDs)
			q.text += ` AND tx_id <> ''`
		})
	}
	if f.Addresses != nil {
		of.served(func(q *condition) { f.to(tx, q) })
	}
	of.status("status", string(f.Status), string(bursar.WithdrawalConfirmed))
	of.equals("currency", string(f.Currency))
	of.between("created_at", f.From, f.To)
	return of
}

// to adds that a withdrawal goes to one of the filter's addresses.
func (f WithdrawalFilter) to(tx *Tx, q *condition) {
	var bases []string
	var memos []int64
	for _, a := range f.Addresses {
		bases, memos = append(bases, a.Base), append(memos, memoValue(a))
	}
	q.in(tx, "base", distinct(bases))
	q.in(tx, "memo", distinct(memos)) // of several addresses the text is the same, and the memo none
}

// narrow adds the status, the currency and the period of a filter.
func (f WithdrawalFilter) narrow(q *condition) {
	if f.Status != "" {
		q.and(`status = $?`, string(f.Status))
	}
	if f.Currency != "" {
		q.and(`currency = $?`, string(f.Currency))
	}
	q.between("created_at", f.From, f.To)
}

// Referred names a withdrawal by its account and the account's reference.
type Referred struct {
	Account   bursar.ID
	Reference string
}

// ByReferences returns those withdrawals that are there, in one statement.
func (tx Withdrawals) ByReferences(ctx context.Context, names []Referred) (map[Referred]bursar.Withdrawal, error) {
	found := make(map[Referred]bursar.Withdrawal, len(names))
	if len(names) == 0 {
		return found, nil
	}
	values := make([]any, 0, 2*len(names))
	for _, n := range names {
		values = append(values, n.Account, n.Reference)
	}
	those, args, err := pairs(tx.Tx, "(account_id, reference)", values)
	if err != nil {
		return nil, err
	}
	list, err := withdrawalColumns.rows(ctx, tx.Tx, "read withdrawals by reference",
		`FROM withdrawals WHERE `+those+` AND reference <> ''`, args...)
	for _, w := range list {
		found[Referred{w.AccountID, w.Reference}] = w
	}
	return found, err
}

// OfMemo returns an account's wallets and charges that have a memo, on whichever chain.
func (tx Wallets) OfMemo(ctx context.Context, account bursar.ID, memo int64, limit int) ([]bursar.Wallet, error) {
	return walletColumns.rows(ctx, tx.Tx, "list wallets of a memo", walletFrom+
		` WHERE w.account_id = $1 AND w.memo = $2 AND w.memo >= 0 ORDER BY w.number DESC LIMIT $3`, account, memo, limit)
}

// IDsOfWallets returns the IDs of the invoices that wallets belong to, by the wallets' numbers.
func (tx Invoices) IDsOfWallets(ctx context.Context, wallets []int64) (map[int64]bursar.ID, error) {
	found := map[int64]bursar.ID{}
	for part := range parts(tx.Tx, wallets) {
		those, args := among(tx.Tx, "o.wallet", part)
		_, err := rows(ctx, tx.Tx, "read the charges of wallets", func(s scanner) (none struct{}, err error) {
			var number int64
			var id bursar.ID
			err = s.Scan(&number, &id)
			found[number] = id
			return none, err
		}, `SELECT o.wallet, i.id FROM invoice_options o JOIN invoices i ON i.number = o.invoice WHERE `+those, args...)
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// in adds that a column has one of some values.
func (c *condition) in(tx *Tx, column string, values any) {
	var those string
	switch list := values.(type) {
	case []string:
		those, c.args = among(tx, column, list, c.args...)
	case []int64:
		those, c.args = among(tx, column, list, c.args...)
	}
	c.text += ` AND ` + those
}

// textsOf returns values that are texts as such.
func textsOf[T ~string](list []T) []string {
	all := make([]string, len(list))
	for i, v := range list {
		all[i] = string(v)
	}
	return all
}

// distinct returns values, each once, in order.
func distinct[T string | int64](list []T) []T {
	list = slices.Clone(list)
	slices.Sort(list)
	return slices.Compact(list)
}
