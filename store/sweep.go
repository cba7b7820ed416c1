package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// busy are the open spends that are no failures: those fail that are not drafted for a reason that no rule foresees, such as an
// address that a token's issuer has frozen.
const busy = `s.status <> 'final' AND s.status <> 'abandoned' AND (s.status <> 'new' OR s.error = '' OR s.waits_for <> '')`

// DueHoldings returns the addresses that are worth a sweep of one asset and that no open spend empties of it, the largest
// first. The native asset stays while a sweep of the address is under way, whose gas it may be; and after a sweep that failed on
// the chain, which has cost its fee for nothing, an address is left alone for failedRest.
func (tx *Tx) DueHoldings(ctx context.Context, chain bursar.ChainID, currency bursar.Currency, limit int) ([]Holding, error) {
	native := ""
	if !currency.IsToken() {
		native = ` AND NOT EXISTS (SELECT 1 FROM spends s WHERE s.chain = h.chain AND s.base = h.base AND ` + busy + `)`
	}
	return rows(ctx, tx, "list sweeps", scanHolding, `SELECT `+holdingColumns+` FROM holdings h
		WHERE h.chain = $1 AND h.due = TRUE AND h.contract = $2
		AND NOT EXISTS (SELECT 1 FROM spends s WHERE s.chain = h.chain AND s.base = h.base AND s.currency = $3
			AND s.status <> 'final' AND s.status <> 'abandoned')
		AND NOT EXISTS (SELECT 1 FROM spends f WHERE f.chain = h.chain AND f.base = h.base AND f.failed = TRUE AND f.share = 'sweep'
			AND f.currency = $3 AND f.updated_at > $5)`+native+`
		ORDER BY LENGTH(h.amount) DESC, h.amount DESC LIMIT $4`,
		string(chain), currency.Contract, string(currency.Code), limit, micros(tx.now.Add(-failedRest)))
}

// failedRest is how long an address is not swept again after a sweep of it failed on the chain.
const failedRest = 24 * time.Hour

// OpenSweeps returns sweeps of a currency that are open, in no block, and no failures.
func (tx *Tx) OpenSweeps(ctx context.Context, chain bursar.ChainID, currency bursar.Code, limit int) ([]bursar.Spend, error) {
	return rows(ctx, tx, "list open sweeps", scanSpend, `SELECT `+spendColumns+` FROM spends s
		WHERE s.chain = $1 AND s.share = 'sweep' AND s.currency = $2 AND s.height = 0 AND `+busy+` LIMIT $3`,
		string(chain), string(currency), limit)
}
