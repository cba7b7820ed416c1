package store

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar"
)

// busy are the open outgoing transactions that are no failures: those fail that are not drafted for a reason that no
// rule foresees, such as an address that a token's issuer has frozen. A sweep that hangs, because its deposits were
// rolled back, keeps nobody busy.
const busy = `s.status <> 'final' AND s.status <> 'abandoned'
	AND (s.status <> 'new' OR s.error = '' OR s.waits_for <> '')
	AND s.waits_for <> 'deposit'`

// Due returns the addresses that are worth a sweep of one asset and that no open outgoing transaction empties of it,
// the largest first. The native asset stays while a sweep of the address is under way, whose gas it may be; and after
// a sweep that failed on the chain, which has cost its fee for nothing, an address is left alone for failedRest;
// after one that could not be made, for as long as Holding.Rests says.
func (tx Holdings) Due(ctx context.Context, chain bursar.ChainID, currency bursar.Currency,
	limit int) ([]Holding, error) {
	return tx.due(ctx, chain, currency, limit, "")
}

// DueAt is Due of one address, whatever others hold: it returns none or one.
func (tx Holdings) DueAt(ctx context.Context, chain bursar.ChainID, currency bursar.Currency, base string) ([]Holding,
	error) {
	return tx.due(ctx, chain, currency, 1, ` AND h.base = $7`, base)
}

// DueBelow is Due of addresses whose key has an index below the given one: those of earlier epochs.
func (tx Holdings) DueBelow(ctx context.Context, chain bursar.ChainID, currency bursar.Currency, index uint32,
	limit int) ([]Holding, error) {
	return tx.due(ctx, chain, currency, limit, ` AND h.key_index < $7`, int64(index))
}

func (tx Holdings) due(ctx context.Context, chain bursar.ChainID, currency bursar.Currency, limit int, which string,
	args ...any) ([]Holding, error) {
	native := ""
	if !currency.IsToken() {
		native = ` AND NOT EXISTS (SELECT 1 FROM outgoing_txs s WHERE s.chain = h.chain AND s.base = h.base AND ` + busy + `)`
	}
	return holdingColumns.rows(ctx, tx.Tx, "list sweeps", `FROM holdings h
		WHERE h.chain = $1 AND h.due = TRUE AND h.contract = $2 AND h.rests_until <= $6`+which+`
		AND NOT EXISTS (SELECT 1 FROM outgoing_txs s WHERE s.chain = h.chain AND s.base = h.base AND s.currency = $3
			AND s.status <> 'final' AND s.status <> 'abandoned')
		AND NOT EXISTS (SELECT 1 FROM outgoing_txs f WHERE f.chain = h.chain AND f.base = h.base AND f.failed = TRUE
			AND f.share = 'sweep' AND f.currency = $3 AND f.updated_at > $5)`+native+`
		ORDER BY LENGTH(h.amount) DESC, h.amount DESC LIMIT $4`,
		append([]any{string(chain), currency.Contract, string(currency.Code), limit, micros(tx.now.Add(-failedRest)),
			micros(tx.now)}, args...)...)
}

// failedRest is how long an address is not swept again after a sweep of it failed on the chain.
const failedRest = 24 * time.Hour

// OpenSweeps returns sweeps of a currency that are open, in no block, and no failures.
func (tx Outgoing) OpenSweeps(ctx context.Context, chain bursar.ChainID, currency bursar.CurrencyCode,
	limit int) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list open sweeps", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.share = 'sweep' AND s.currency = $2 AND s.height = 0 AND `+busy+` LIMIT $3`,
		string(chain), string(currency), limit)
}

// AnySweepFrom reports whether a sweep of an address is open and does not hang.
func (tx Outgoing) AnySweepFrom(ctx context.Context, chain bursar.ChainID, base string) (open bool, err error) {
	err = tx.row(ctx, "look for sweeps",
		`SELECT EXISTS (SELECT 1 FROM outgoing_txs s WHERE s.chain = $1 AND s.base = $2 AND s.share = 'sweep'
		AND s.status <> 'final' AND s.status <> 'abandoned' AND s.waits_for <> 'deposit')`, []any{string(chain), base}, &open)
	return open, err
}

// AnyWaitsForGas reports whether a transaction of an address is not built because it waits for gas, or is to void
// another one and is in no block: a bump of its fee may need gas.
func (tx Outgoing) AnyWaitsForGas(ctx context.Context, chain bursar.ChainID, base string) (waits bool, err error) {
	err = tx.row(ctx, "look for transactions that wait for gas",
		`SELECT EXISTS (SELECT 1 FROM outgoing_txs s WHERE s.chain = $1 AND s.base = $2
		AND (s.status = 'new' AND s.waits_for = 'gas' OR s.status IN ('claimed', 'signed', 'sent') AND s.height = 0
			AND s.once LIKE 'abandon/%'))`, []any{string(chain), base}, &waits)
	return waits, err
}

// AnyFinalAbove reports whether an outgoing transaction of a chain is final in a block above a height.
func (tx Outgoing) AnyFinalAbove(ctx context.Context, chain bursar.ChainID, height uint64) (found bool, err error) {
	err = tx.row(ctx, "look for later final transactions",
		`SELECT EXISTS (SELECT 1 FROM outgoing_txs WHERE chain = $1 AND height > $2 AND status = 'final')`,
		[]any{string(chain), int64(height)}, &found)
	return found, err
}

// HangingSweeps returns the signed sweeps of an address that hang, oldest first.
func (tx Outgoing) HangingSweeps(ctx context.Context, chain bursar.ChainID, base string) ([]bursar.OutgoingTx, error) {
	return outgoingColumns.rows(ctx, tx.Tx, "list hanging sweeps", `FROM outgoing_txs s
		WHERE s.chain = $1 AND s.base = $2 AND s.height = 0 AND s.status <> 'final' AND s.status <> 'abandoned'
		AND s.waits_for = 'deposit' ORDER BY s.number`, string(chain), base)
}

// SetHanging notes whether a signed sweep hangs.
func (tx Outgoing) SetHanging(ctx context.Context, id bursar.ID, hangs bool) error {
	wait := ""
	if hangs {
		wait = string(bursar.WaitsForDeposit)
	}
	_, err := tx.exec(ctx, "note that a sweep hangs",
		`UPDATE outgoing_txs SET waits_for = $2, updated_at = $3 WHERE id = $1`, id, wait, micros(tx.now))
	return err
}

// GiveSweep has a hanging sweep collect another asset of its address from now on, by the order of an abandoned sweep.
// One that uses up a lost nonce still does.
func (tx Outgoing) GiveSweep(ctx context.Context, id bursar.ID, from bursar.OutgoingTx, order []byte) error {
	query, args := values{
		{"currency", string(from.Currency)},
		{"once", expression(`CASE WHEN once LIKE ` + onceFill + ` THEN once ELSE $2 END`)},
		{"order_json", string(order)},
		{"waits_for", ""},
		{"error", ""},
		{"updated_at", micros(tx.now)},
	}.update("outgoing_txs", `WHERE id = $1 AND waits_for = 'deposit'`, id, from.Once)
	return tx.change(ctx, "give a sweep another asset", query, args...)
}

// ExchangeSweeps has a hanging sweep collect by the order of another signed one of its address, which hangs from then
// on with the order of the first.
func (tx Outgoing) ExchangeSweeps(
	ctx context.Context, hanging bursar.OutgoingTx, given []byte, other bursar.OutgoingTx, left []byte,
) error {
	if err := tx.change(ctx, "free the name of a sweep",
		`UPDATE outgoing_txs SET once = NULL WHERE id = $1`, other.ID); err != nil {
		return err
	}
	if err := tx.GiveSweep(ctx, hanging.ID, other, given); err != nil {
		return err
	}
	var once any
	if hanging.Once != "" && !strings.Contains(hanging.Once, PurposeFill) { // one that uses up a lost nonce still does
		once = hanging.Once
	}
	query, args := values{
		{"currency", string(hanging.Currency)},
		{"once", once},
		{"order_json", string(left)},
		{"waits_for", string(bursar.WaitsForDeposit)},
		{"error", ""},
		{"updated_at", micros(tx.now)},
	}.update("outgoing_txs", `WHERE id = $1`, other.ID)
	return tx.change(ctx, "have a sweep hang for another one", query, args...)
}

// AnyPendingAt reports whether a deposit of an asset at an address, in a block up to a height, is not booked yet.
func (tx Deposits) AnyPendingAt(ctx context.Context, chain bursar.ChainID, base, contract string,
	height uint64) (pending bool, err error) {
	err = tx.row(ctx, "look for pending deposits",
		`SELECT EXISTS (SELECT 1 FROM deposits WHERE chain = $1 AND status = 'pending' AND base = $2 AND contract = $3
		AND height <= $4)`, []any{string(chain), base, contract, int64(height)}, &pending)
	return pending, err
}
