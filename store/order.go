package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

const (
	orderColumns  = withdrawalColumns + `, chain, seal`
	returnColumns = decisionColumns + `, seal`
)

// sealed is a row that was read with its seal; altered is ErrAltered where its facts are not those that were taken.
type sealed[T any] struct {
	it      T
	altered error
}

// ordered scans a withdrawal with its seal.
func (tx *Tx) ordered(s scanner) (o sealed[bursar.Withdrawal], err error) {
	var chain bursar.ChainID
	var seal []byte
	if o.it, err = scanWithdrawal(behind(s, &chain, &seal)); err == nil {
		o.altered = tx.seal.check(withdrawalFacts(chain, o.it), seal)
	}
	return o, err
}

// returned scans a decision with its seal.
func (tx *Tx) returned(s scanner) (o sealed[bursar.Decision], err error) {
	var seal []byte
	if o.it, err = scanDecision(behind(s, &seal)); err == nil {
		o.altered = tx.seal.check(returnFacts(o.it), seal)
	}
	return o, err
}

// unaltered returns what was read, or ErrAltered.
func (o sealed[T]) unaltered(err error) (T, error) { return o.it, cmp.Or(err, o.altered) }

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

// behind is a row with more columns behind those of a scan function.
func behind(s scanner, more ...any) scanner { return longer{s, more} }

type longer struct {
	scanner
	more []any
}

func (l longer) Scan(dest ...any) error { return l.scanner.Scan(slices.Concat(dest, l.more)...) }

// AlteredOrders returns the orders of one page that wait or are under way and whose facts are not those that were taken,
// and where the next page begins: 0 after the last.
func (tx *Tx) AlteredOrders(ctx context.Context, after int64, limit int) (altered map[bursar.ID]bursar.Code, next int64, err error) {
	altered = map[bursar.ID]bursar.Code{}
	found, err := rows(ctx, tx, "look through open orders", tx.ordered,
		`SELECT `+orderColumns+` FROM withdrawals WHERE completed_at = 0 AND number > $1 ORDER BY number LIMIT $2`, after, limit)
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
	returns, err := rows(ctx, tx, "look through open returns", tx.returned,
		`SELECT `+returnColumns+` FROM decisions WHERE kind = 'return' AND status IN ('queued', 'signed') ORDER BY number LIMIT $1`, limit)
	for _, o := range returns {
		if o.altered != nil {
			altered[o.it.ID] = o.it.Currency
		}
	}
	return altered, next, err
}

// NotOwed says why the books do not owe an order's payment: its hold is missing, or ended already, or it or the
// balance that it was taken from is not yet audited; orders that are owed are not in the map. onlyAudited is false
// where nobody audits. ids are those of withdrawals, or of returns.
func (tx *Tx) NotOwed(ctx context.Context, ids []bursar.ID, onlyAudited bool) (map[bursar.ID]string, error) {
	why := map[bursar.ID]string{}
	if len(ids) == 0 {
		return why, nil
	}
	var args []any
	for _, id := range ids {
		why[id] = "the books hold nothing for it"
		for _, kind := range []ledger.Kind{ledger.KindWithdrawalHeld, ledger.KindWithdrawalSettled, ledger.KindWithdrawalRefund, ledger.KindInternalTransfer,
			ledger.KindReturnHeld, ledger.KindReturnSettled, ledger.KindReturnReopened} {
			args = append(args, string(kind), id.String())
		}
		args = append(args, string(ledger.KindReopened), id.String()+"/1", string(ledger.KindReturnUnsettled), id.String()+"/1")
	}
	audited, err := tx.Audit(ctx)
	if err != nil {
		return nil, err
	}
	ended, again := map[bursar.ID]bool{}, map[bursar.ID]ledger.Kind{}
	_, err = rows(ctx, tx, "look up what is owed", func(s scanner) (none struct{}, err error) {
		var kind ledger.Kind
		var ref string
		var link sql.NullInt64
		var unchecked bool
		if err := s.Scan(&kind, &ref, &link, &unchecked); err != nil {
			return none, err
		}
		id, err := bursar.ParseID(ref[:min(len(ref), 36)])
		switch {
		case kind == ledger.KindReopened || kind == ledger.KindReturnUnsettled:
			again[id] = kind
		case kind != ledger.KindWithdrawalHeld && kind != ledger.KindReturnHeld:
			ended[id] = true
		case !link.Valid:
			why[id] = "its hold is under no link of the books"
		case onlyAudited && link.Int64 > audited.Link:
			why[id] = "its hold is not yet audited"
		case onlyAudited && unchecked:
			why[id] = "the balance that it was held from is not yet audited"
		default:
			delete(why, id)
		}
		return none, err
	}, `SELECT e.kind, e.ref, s.link, EXISTS (SELECT 1 FROM postings p
			JOIN posted q ON q.account = p.debit AND q.asset = p.asset WHERE p.entry = e.number AND q.unchecked = TRUE)
		FROM entries e LEFT JOIN seals s ON s.entry = e.number
		WHERE (e.kind, e.ref) IN (VALUES `+tuples(len(args)/2, 2, 0)+`)`, args...)
	if err != nil {
		return nil, err
	}
	for _, id := range ids {
		if kind := again[id]; ended[id] && kind != "" {
			if ended[id], err = tx.endedAgain(ctx, id, kind); err != nil {
				return nil, err
			}
		}
		if ended[id] {
			why[id] = "it was settled or refunded already"
		}
	}
	return why, nil
}

// endedAgain reports whether a withdrawal or a return whose end was taken back, as entries of a kind say, has ended in its newest
// round too.
func (tx *Tx) endedAgain(ctx context.Context, id bursar.ID, taken ledger.Kind) (ended bool, err error) {
	round, err := tx.Round(ctx, taken, id.String())
	if err != nil {
		return false, err
	}
	ends := []ledger.Kind{ledger.KindWithdrawalSettled, ledger.KindWithdrawalRefund}
	if taken == ledger.KindReturnUnsettled {
		ends = []ledger.Kind{ledger.KindReturnSettled, ledger.KindReturnReopened}
	}
	err = tx.row(ctx, "look up the end of an order", `SELECT EXISTS (SELECT 1 FROM entries WHERE kind IN ($1, $2) AND ref = $3)`,
		[]any{string(ends[0]), string(ends[1]), fmt.Sprintf("%s/%d", id, round)}, &ended)
	return ended, err
}
