package store

import (
	"context"

	"github.com/bursar/bursar"
)

var feeRuleColumns = columnsOf([]column[bursar.FeeRule]{
	{"account_id", func(r *bursar.FeeRule) any { return &r.AccountID }},
	{"currency", func(r *bursar.FeeRule) any { return &r.Currency }},
	{"kind", func(r *bursar.FeeRule) any { return &r.Kind }},
	{"network", func(r *bursar.FeeRule) any { return &r.Fee.Network }},
	{"millionths", func(r *bursar.FeeRule) any { return &r.Fee.Millionths }},
	{"fixed", func(r *bursar.FeeRule) any { return &r.Fee.Fixed }},
	{"set_at", func(r *bursar.FeeRule) any { return instant{&r.SetAt} }},
})

// Set sets a fee of an account, in place of the one that was set for the same before. The account must exist.
func (tx FeeRules) Set(ctx context.Context, r bursar.FeeRule) error {
	query, args := values{
		{"account_id", r.AccountID},
		{"currency", string(r.Currency)},
		{"kind", string(r.Kind)},
		{"network", r.Fee.Network},
		{"millionths", int64(r.Fee.Millionths)},
		{"fixed", r.Fee.Fixed},
		{"set_at", micros(tx.now)},
	}.insertInto("fee_rules")
	_, err := tx.exec(ctx, "set fee", query+`
		ON CONFLICT (account_id, currency, kind) DO UPDATE SET network = excluded.network,
		millionths = excluded.millionths, fixed = excluded.fixed, set_at = excluded.set_at`, args...)
	return err
}

// Clear takes back what was set for an account and a currency, or everything for "", and returns how many rules
// that were.
func (tx FeeRules) Clear(ctx context.Context, account bursar.ID, currency bursar.CurrencyCode) (int64, error) {
	return tx.exec(ctx, "clear fees",
		`DELETE FROM fee_rules WHERE account_id = $1 AND (currency = $2 OR $2 = '')`, account, string(currency))
}

// Of returns the rules of accounts; most accounts have none.
func (tx FeeRules) Of(ctx context.Context, accounts ...bursar.ID) (bursar.FeeRules, error) {
	return tx.OfDeferred(ctx, accounts...).Get(ctx)
}

// OfDeferred is Of together with other reads.
func (tx FeeRules) OfDeferred(ctx context.Context, accounts ...bursar.ID) *Deferred[bursar.FeeRules] {
	if len(accounts) == 0 {
		return known(bursar.FeeRules(nil))
	}
	those, args := among(tx.Tx, "account_id", accounts)
	return ask(ctx, tx.Tx, "read fees", feeRuleColumns.scan, func(rules []bursar.FeeRule) (bursar.FeeRules, error) {
		return rules, nil
	}, feeRuleColumns.query+`FROM fee_rules WHERE `+those+` ORDER BY account_id, currency, kind`, args...)
}
