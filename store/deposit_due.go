package store

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
)

// CreditQuery says which pending deposits are to be credited: those of some currencies of a chain whose block is at
// or below Final, that are mature at Latest and that have as many confirmations in the recorded blocks, up to
// Recorded, as their amount needs. Currencies that are left out, and deposits that wait for a second opinion, never
// stand in the way of the others. Only those behind After are named.
type CreditQuery struct {
	Chain      bursar.ChainID
	Currencies []bursar.CurrencyCode
	Final      uint64
	Latest     uint64
	Recorded   uint64
	After      DepositCursor
	Limit      int
	Screened   bool // those that the screening service must pass are left out until it has
}

// DepositCursor is where a deposit stands among those of its chain, oldest first; the zero value stands before all of
// them.
type DepositCursor struct {
	Height uint64
	Number int64
}

// Final returns the deposits that a query names, oldest first.
func (tx Deposits) Final(ctx context.Context, q CreditQuery) ([]bursar.Deposit, error) {
	return dueDeposits(ctx, tx.Tx, "list final deposits", depositColumns.query, depositColumns.scan,
		creditable(q), q)
}

// FinalSealed is Final for those deposits that are as this service recorded them, and returns how many others it left
// out.
func (tx Deposits) FinalSealed(ctx context.Context, q CreditQuery) (sound []bursar.Deposit, altered int, err error) {
	found, err := dueDeposits(ctx, tx.Tx, "list final deposits", sealedDepositColumns.query, tx.scanSealed,
		creditable(q), q)
	for _, a := range found {
		if a.altered {
			altered++
			continue
		}
		sound = append(sound, a.Deposit)
	}
	return sound, altered, err
}

// AwaitingOpinions is Final for the deposits that wait for a second opinion and for nothing else.
func (tx Deposits) AwaitingOpinions(ctx context.Context, q CreditQuery) ([]bursar.Deposit, error) {
	return dueDeposits(ctx, tx.Tx, "list deposits that wait for a second opinion", depositColumns.query,
		depositColumns.scan, "d.opinions > 0", q)
}

// creditable is the condition of deposits that wait neither for a second opinion nor for the screening service. The
// time is the parameter behind those of dueDeposits.
func creditable(q CreditQuery) string { return "d.opinions = 0" + mayBeCredited(q.Screened, "$8") }

func dueDeposits[T any](ctx context.Context, tx *Tx, what, query string, scan func(scanner) (T, error),
	condition string, q CreditQuery) ([]T, error) {
	if len(q.Currencies) == 0 {
		return nil, nil
	}
	fixed := []any{string(q.Chain), int64(q.Final), int64(q.Latest), int64(q.Recorded), q.Limit,
		int64(q.After.Height), q.After.Number}
	if strings.Contains(condition, "$8") {
		fixed = append(fixed, micros(tx.now))
	}
	due := `WHERE d.chain = $1 AND d.status = 'pending' AND d.height <= $2
		AND d.counts_from <= $3 AND d.height + d.required <= $4 + 1
		AND (d.height, d.number) > ($6, $7) AND ` + condition + `
		AND d.currency IN (` + list(len(q.Currencies), len(fixed)) + `)
		ORDER BY d.height, d.number LIMIT $5`
	from := depositFrom + ` ` + due
	if tx.postgres {
		// The joins come after the limit: PostgreSQL, which may sort all that are pending, would make them for each.
		from = `FROM (SELECT d.* FROM deposits d ` + due + `) d` + depositJoins + ` ORDER BY d.height, d.number`
	}
	return rows(ctx, tx, what, scan, query+from, codeArgs(q.Currencies, fixed...)...)
}

// UnfinishedCurrencies returns the currencies with deposits that are pending or withdrawals that are not completed,
// and the chain of each.
func (tx Deposits) UnfinishedCurrencies(ctx context.Context) (map[bursar.CurrencyCode]bursar.ChainID, error) {
	chains := map[bursar.CurrencyCode]bursar.ChainID{}
	_, err := rows(ctx, tx.Tx, "list unfinished currencies", func(s scanner) (none struct{}, err error) {
		var code, chain string
		if err = s.Scan(&code, &chain); err == nil {
			chains[bursar.CurrencyCode(code)] = bursar.ChainID(chain)
		}
		return none, err
	}, `SELECT currency, chain FROM deposits WHERE status = 'pending' UNION SELECT currency, chain FROM withdrawals
		WHERE completed_at = 0`)
	return chains, err
}

// SetNeeds changes what a pending deposit needs before it is credited: d.Required confirmations and the opinions of
// so many endpoints. It changes nothing, and reports that, when the deposit is no longer pending in the block in
// which d was read.
func (tx Deposits) SetNeeds(ctx context.Context, d bursar.Deposit, opinions int) (bool, error) {
	n, err := tx.exec(ctx, "set what a deposit needs",
		`UPDATE deposits SET required = $3, opinions = $4 WHERE id = $1 AND status = 'pending' AND block_hash = $2`,
		d.ID, d.BlockHash, int64(d.Required), int64(opinions))
	return n > 0, err
}

// PendingOn returns the pending deposits of a chain with a number above one, in the order of their numbers.
func (tx Deposits) PendingOn(ctx context.Context, chain bursar.ChainID, above int64,
	limit int) ([]bursar.Deposit, error) {
	return depositColumns.rows(ctx, tx.Tx, "list pending deposits", depositFrom+
		` WHERE d.chain = $1 AND d.status = 'pending' AND d.number > $2 ORDER BY d.number LIMIT $3`,
		string(chain), above, limit)
}
