package store

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// EachPaidBase calls f with every address of a chain at which anything ever arrived, each once.
func (tx Custody) EachPaidBase(ctx context.Context, chain bursar.ChainID, f func(base string)) error {
	found, err := tx.query(ctx, `SELECT DISTINCT base FROM deposits WHERE chain = $1 AND height > 0`, string(chain))
	if err != nil {
		return tx.fail("list paid addresses", err)
	}
	defer found.Close()
	for found.Next() {
		var base string
		if err := found.Scan(&base); err != nil {
			return tx.fail("list paid addresses", err)
		}
		f(base)
	}
	return found.Err()
}

// UnbookedSum returns what arrived of a currency in blocks up to a height and waits to be booked. What moves between
// the hot and a cold wallet did not arrive: it was there.
func (tx Custody) UnbookedSum(ctx context.Context, c bursar.Currency, height uint64) (bursar.Amount, error) {
	amounts, err := rows(ctx, tx.Tx, "read unbooked deposits", scanOne[bursar.Amount], `SELECT amount FROM deposits
		WHERE chain = $1 AND currency = $2 AND status = 'pending' AND height <= $3 AND purpose NOT IN ('cold', 'refill')`,
		string(c.Chain), string(c.Code), int64(height))
	if err != nil {
		return bursar.Amount{}, err
	}
	return bursar.Sum(amounts...)
}

// UnsettledSum returns what left us of a currency in blocks up to a height and waits to be booked: withdrawals,
// refunds of value that fitted no wallet, and for the native asset the fees.
func (tx Custody) UnsettledSum(ctx context.Context, c bursar.Currency, height uint64) (bursar.Amount, error) {
	const included = ` s.chain = $1 AND s.height > 0 AND s.height <= $2 AND s.status <> 'final'
		AND s.status <> 'abandoned'`
	paid, err := rows(ctx, tx.Tx, "read unsettled withdrawals", scanOne[bursar.Amount],
		`SELECT w.amount FROM outgoing_txs s JOIN withdrawals w ON w.outgoing_id = s.id
		WHERE`+included+` AND s.failed = FALSE AND w.currency = $3 AND w.status <> 'confirmed'`,
		string(c.Chain), int64(height), string(c.Code))
	if err != nil {
		return bursar.Amount{}, err
	}
	refunded, err := rows(ctx, tx.Tx, "read unsettled refunds", scanOne[bursar.Amount],
		`SELECT n.amount FROM outgoing_txs s JOIN resolutions n ON n.outgoing_id = s.id
		WHERE`+included+` AND s.failed = FALSE AND n.currency = $3 AND n.status <> 'done'`,
		string(c.Chain), int64(height), string(c.Code))
	if err != nil {
		return bursar.Amount{}, err
	}
	paid = append(paid, refunded...)
	if !c.IsToken() {
		fees, err := rows(ctx, tx.Tx, "read unsettled fees", scanOne[bursar.Amount],
			`SELECT s.fee FROM outgoing_txs s WHERE`+included, string(c.Chain), int64(height))
		if err != nil {
			return bursar.Amount{}, err
		}
		paid = append(paid, fees...)
	}
	return bursar.Sum(paid...)
}

// UnsettledMoved returns the transactions of tokens in blocks up to a height that wait to be settled, and of which
// their block says what they delivered: sweeps, and what pays withdrawals or refunds of a currency. Kind, Order and
// Delivered are set.
func (tx Outgoing) UnsettledMoved(ctx context.Context, c bursar.Currency, height uint64) ([]bursar.OutgoingTx, error) {
	return rows(ctx, tx.Tx, "read what was delivered", func(s scanner) (p bursar.OutgoingTx, err error) {
		return p, s.Scan(&p.Kind, &p.Request, &p.Delivered)
	}, `SELECT s.kind, s.order_json, s.delivered FROM outgoing_txs s
		WHERE s.chain = $1 AND s.height > 0 AND s.height <= $2 AND s.status <> 'final' AND s.status <> 'abandoned'
		AND s.failed = FALSE AND s.delivered <> '' AND (s.kind = 'sweep'
		OR EXISTS (SELECT 1 FROM withdrawals w WHERE w.outgoing_id = s.id AND w.currency = $3 AND w.status <> 'confirmed')
		OR EXISTS (SELECT 1 FROM resolutions n WHERE n.outgoing_id = s.id AND n.currency = $3 AND n.status <> 'done'))`,
		string(c.Chain), int64(height), string(c.Code))
}

// LiabilitySum returns what the books owe of a currency: to customers, and for value that waits for the operator. It
// reads the operator's side of the books, which says what is left for everybody else, and what customers are below
// zero, and costs the same with ten million customers.
func (tx Custody) LiabilitySum(ctx context.Context, code bursar.CurrencyCode) (bursar.Amount, error) {
	var has, owns bursar.Amount
	read := func(s scanner) (none struct{}, err error) {
		var account ledger.Account
		var b ledger.Balance
		if err := s.Scan(&account, &b.Debits, &b.Credits); err != nil {
			return none, err
		}
		if has, err = has.Add(b.Debits); err == nil {
			owns, err = owns.Add(b.Credits)
		}
		return none, err
	}
	args := []any{string(code)}
	for _, account := range []ledger.Account{
		ledger.Custody,
		ledger.CustodyCold,
		ledger.Capital,
		ledger.Drawings,
		ledger.DepositFees,
		ledger.WithdrawalFees,
		ledger.NetworkFees,
		ledger.Losses,
	} {
		args = append(args, string(account))
	}
	_, err := rows(ctx, tx.Tx, "read the operator's side", read,
		`SELECT account, debits, credits FROM balances WHERE asset = $1 AND account IN (`+list(len(args)-1, 1)+`)`, args...)
	if err != nil {
		return bursar.Amount{}, err
	}
	_, err = rows(ctx, tx.Tx, "read customers below zero", read,
		`SELECT account, debits, credits FROM balances WHERE asset = $1 AND below = TRUE`, string(code))
	return has.SubOrZero(owns), err
}

// EachExpected calls f with what the books expect of a currency at addresses of ours as of a final block, an address
// maybe several times: UTXOs where the chain has UTXOs, else what addresses hold and what waits there to be booked.
// The hot address of a chain without UTXOs is left out: it holds whatever else custody is.
func (tx Custody) EachExpected(ctx context.Context, c bursar.Currency, byUTXO bool, height uint64,
	f func(base string, amount bursar.Amount)) error {
	query, args := `SELECT base, amount FROM utxos WHERE chain = $1 AND spent = FALSE AND height > 0 AND height <= $2`,
		[]any{string(c.Chain), int64(height)}
	if !byUTXO {
		query = `SELECT base, amount FROM holdings WHERE chain = $1 AND contract = $3
			UNION ALL SELECT base, amount FROM deposits WHERE chain = $1 AND contract = $3 AND status = 'pending'
			AND height <= $2`
		args = append(args, c.Contract)
	}
	_, err := rows(ctx, tx.Tx, "read what addresses should hold", func(s scanner) (none struct{}, err error) {
		var base string
		var amount bursar.Amount
		if err = s.Scan(&base, &amount); err == nil {
			f(base, amount)
		}
		return none, err
	}, query, args...)
	return err
}
