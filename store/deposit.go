package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

var depositColumns = columnsOf([]column[bursar.Deposit]{
	{"d.number", func(d *bursar.Deposit) any { return &d.Number }},
	{"d.id", func(d *bursar.Deposit) any { return &d.ID }},
	{"d.purpose", func(d *bursar.Deposit) any { return &d.Purpose }},
	{"d.account_id", func(d *bursar.Deposit) any { return &d.AccountID }},
	{"w.id", func(d *bursar.Deposit) any { return &d.WalletID }},
	{"d.currency", func(d *bursar.Deposit) any { return &d.Currency }},
	{"d.chain", func(d *bursar.Deposit) any { return &d.Chain }},
	{"d.tx_id", func(d *bursar.Deposit) any { return &d.TxID }},
	{"d.output", func(d *bursar.Deposit) any { return &d.Output }},
	{"d.base", func(d *bursar.Deposit) any { return &d.Address.Base }},
	{"d.memo", func(d *bursar.Deposit) any { return memo{&d.Address} }},
	{"d.contract", func(d *bursar.Deposit) any { return &d.Contract }},
	{"d.amount", func(d *bursar.Deposit) any { return &d.Amount }},
	{"d.fee", func(d *bursar.Deposit) any { return &d.Fee }},
	{"d.status", func(d *bursar.Deposit) any { return &d.Status }},
	{"d.height", func(d *bursar.Deposit) any { return &d.Height }},
	{"d.block_hash", func(d *bursar.Deposit) any { return &d.BlockHash }},
	{"d.reversals", func(d *bursar.Deposit) any { return &d.Reversals }},
	{"d.required", func(d *bursar.Deposit) any { return &d.Required }},
	{"d.seen_at", func(d *bursar.Deposit) any { return instant{&d.SeenAt} }},
	{"d.confirmed_at", func(d *bursar.Deposit) any { return instant{&d.ConfirmedAt} }},
	{"COALESCE(w.metadata, '')", func(d *bursar.Deposit) any { return &d.Metadata }},
	{"COALESCE(" + effectiveWebhook + ", '')", func(d *bursar.Deposit) any { return &d.Webhook }},
})

const depositFrom = `FROM deposits d LEFT JOIN wallets w ON w.number = d.wallet
	LEFT JOIN webhook_rules rc ON rc.account_id = w.account_id AND rc.currency = w.currency
	LEFT JOIN webhook_rules ra ON ra.account_id = w.account_id AND ra.currency = ''`

// NewDeposit is a deposit to be recorded, with the number of its wallet (0: none), the height from which it counts, and
// how many endpoints have to report it before it is credited (0: none).
type NewDeposit struct {
	bursar.Deposit
	Wallet     int64
	CountsFrom uint64
	Opinions   int
}

// Record records value seen in a block. The same value again, from a rescan or in another block, is the same deposit:
// one that had been reorged out is pending again there, with what it delivers there (a contract may send another
// amount in another block), any other is left as it is. It reports whether anything was written, and the deposit's
// ID, which is the first one's.
func (tx Deposits) Record(ctx context.Context, a NewDeposit) (id bursar.ID, written bool, err error) {
	var wallet any
	if a.Wallet != 0 {
		wallet = a.Wallet
	}
	fresh := a.Deposit
	fresh.Status, fresh.Reversals = bursar.DepositPending, 0
	query, args := values{
		{"id", a.ID},
		{"purpose", string(a.Purpose)},
		{"account_id", a.AccountID},
		{"wallet", wallet},
		{"currency", string(a.Currency)},
		{"chain", string(a.Chain)},
		{"tx_id", a.TxID},
		{"output", int64(a.Output)},
		{"base", a.Address.Base},
		{"memo", memoValue(a.Address)},
		{"contract", a.Contract},
		{"amount", a.Amount},
		{"fee", a.Fee},
		{"status", string(bursar.DepositPending)},
		{"height", int64(a.Height)},
		{"block_hash", a.BlockHash},
		{"counts_from", int64(a.CountsFrom)},
		{"seen_at", micros(a.SeenAt)},
		{"required", int64(a.Required)},
		{"opinions", int64(a.Opinions)},
		{"seal", tx.seal.sealDeposit(fresh, a.Wallet)},
	}.insertInto("deposits")
	err = tx.row(ctx, "record deposit",
		query+` ON CONFLICT (chain, tx_id, output, base, memo, contract) DO NOTHING RETURNING id`, args, &id)
	if errors.Is(err, ErrNotFound) {
		id, err = tx.recordAgain(ctx, a)
	}
	if errors.Is(err, ErrNotFound) {
		return bursar.ID{}, false, nil
	}
	return id, err == nil, err
}

// InsertInternal records a deposit that came from another account of this service: confirmed at once, in no block.
func (tx Deposits) InsertInternal(ctx context.Context, a NewDeposit) error {
	query, args := values{
		{"id", a.ID},
		{"purpose", string(a.Purpose)},
		{"account_id", a.AccountID},
		{"wallet", a.Wallet},
		{"currency", string(a.Currency)},
		{"chain", string(a.Chain)},
		{"tx_id", a.TxID},
		{"output", 0},
		{"base", a.Address.Base},
		{"memo", memoValue(a.Address)},
		{"contract", a.Contract},
		{"amount", a.Amount},
		{"fee", a.Fee},
		{"status", string(bursar.DepositConfirmed)},
		{"height", 0},
		{"block_hash", ""},
		{"seen_at", micros(tx.now)},
		{"confirmed_at", micros(tx.now)},
	}.insertInto("deposits")
	_, err := tx.exec(ctx, "insert internal deposit", query, args...)
	return err
}

// InBlock returns every deposit that stands in the block at a height: none that is orphaned or reversed.
func (tx Deposits) InBlock(ctx context.Context, chain bursar.ChainID, height uint64) ([]bursar.Deposit, error) {
	return depositColumns.rows(ctx, tx.Tx, "list block's deposits", depositFrom+
		` WHERE d.chain = $1 AND d.height = $2 AND d.status <> 'orphaned' AND d.status <> 'reversed' ORDER BY d.number`,
		string(chain), int64(height))
}

// SetStatus moves a deposit along its transition table; d is as it was read in this transaction.
func (tx Deposits) SetStatus(ctx context.Context, d bursar.Deposit, next bursar.DepositStatus) error {
	if !d.Status.MayBecome(next) {
		return fmt.Errorf("deposit %s may not go from %s to %s", d.ID, d.Status, next)
	}
	confirmed := micros(d.ConfirmedAt)
	if next == bursar.DepositConfirmed {
		confirmed = micros(tx.now)
	}
	if next == bursar.DepositConfirmed || next == bursar.DepositBelowMinimum { // it stands where it stood
		return tx.changeOr(ctx, "set deposit status", fmt.Errorf("deposit %s is no longer %s", d.ID, d.Status),
			`UPDATE deposits SET status = $3, confirmed_at = $4, fee = $5 WHERE id = $1 AND status = $2`,
			d.ID, string(d.Status), string(next), confirmed, d.Fee)
	}
	seal, err := tx.resealed(ctx, d.ID, func(a *sealedDeposit) { a.Status, a.Reversals = next, d.Reversals })
	if err != nil {
		return err
	}
	query, args := values{
		{"status", string(next)},
		{"confirmed_at", confirmed},
		{"reversals", int64(d.Reversals)},
		{"fee", d.Fee},
		{"seal", seal},
	}.update("deposits", `WHERE id = $1 AND status = $2`, d.ID, string(d.Status))
	return tx.changeOr(ctx, "set deposit status", fmt.Errorf("deposit %s is no longer %s", d.ID, d.Status), query, args...)
}

// Get returns an account's deposit; another account's is ErrNotFound.
func (tx Deposits) Get(ctx context.Context, account, id bursar.ID) (bursar.Deposit, error) {
	return depositColumns.one(ctx, tx.Tx, "read deposit",
		depositFrom+` WHERE d.id = $1 AND d.account_id = $2`, id, account)
}

// ByID returns a deposit of any account.
func (tx Deposits) ByID(ctx context.Context, id bursar.ID) (bursar.Deposit, error) {
	return depositColumns.one(ctx, tx.Tx, "read deposit", depositFrom+` WHERE d.id = $1`, id)
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

// PendingSums returns what an account has in deposits that are not yet credited.
func (tx Deposits) PendingSums(ctx context.Context, account bursar.ID) (map[bursar.CurrencyCode]bursar.Amount, error) {
	type pending struct {
		currency bursar.CurrencyCode
		amount   bursar.Amount
	}
	found, err := rows(ctx, tx.Tx, "read pending deposits", func(s scanner) (p pending, err error) {
		return p, s.Scan(&p.currency, &p.amount)
	}, `SELECT currency, amount FROM deposits WHERE account_id = $1 AND status = 'pending'`, account)
	sums := map[bursar.CurrencyCode]bursar.Amount{}
	for _, p := range found {
		sum, addErr := sums[p.currency].Add(p.amount)
		sums[p.currency], err = sum, errors.Join(err, addErr)
	}
	return sums, err
}
