package store

import (
	"context"
	"time"

	"github.com/bursar/bursar"
)

// Reconciliation is the newest comparison of one currency's custody with its chain.
type Reconciliation struct {
	Currency  bursar.CurrencyCode
	Chain     bursar.ChainID
	At        time.Time
	Height    uint64
	Custody   bursar.Amount
	Unbooked  bursar.Amount
	Unsettled bursar.Amount
	OnChain   bursar.Amount

	Cold        bursar.Amount // what cold wallets should hold by the books; part of the above
	ColdOnChain bursar.Amount // what they hold
	Unswept     bursar.Amount // what waits at deposit addresses by the books
}

var reconciliationColumns = columnsOf([]column[Reconciliation]{
	{"currency", func(r *Reconciliation) any { return &r.Currency }},
	{"chain", func(r *Reconciliation) any { return &r.Chain }},
	{"at", func(r *Reconciliation) any { return instant{&r.At} }},
	{"height", func(r *Reconciliation) any { return &r.Height }},
	{"custody", func(r *Reconciliation) any { return &r.Custody }},
	{"unbooked", func(r *Reconciliation) any { return &r.Unbooked }},
	{"unsettled", func(r *Reconciliation) any { return &r.Unsettled }},
	{"on_chain", func(r *Reconciliation) any { return &r.OnChain }},
	{"cold", func(r *Reconciliation) any { return &r.Cold }},
	{"cold_on_chain", func(r *Reconciliation) any { return &r.ColdOnChain }},
	{"unswept", func(r *Reconciliation) any { return &r.Unswept }},
})

// Put keeps a comparison in place of the one before it.
func (tx Reconciliations) Put(ctx context.Context, r Reconciliation) error {
	query, args := values{
		{"currency", string(r.Currency)},
		{"chain", string(r.Chain)},
		{"at", micros(tx.now)},
		{"height", int64(r.Height)},
		{"custody", r.Custody},
		{"unbooked", r.Unbooked},
		{"unsettled", r.Unsettled},
		{"on_chain", r.OnChain},
		{"cold", r.Cold},
		{"cold_on_chain", r.ColdOnChain},
		{"unswept", r.Unswept},
	}.insertInto("reconciliations")
	_, err := tx.exec(ctx, "keep a reconciliation", query+` ON CONFLICT (currency) DO UPDATE SET
		chain = excluded.chain, at = excluded.at, height = excluded.height, custody = excluded.custody,
		unbooked = excluded.unbooked, unsettled = excluded.unsettled, on_chain = excluded.on_chain,
		cold = excluded.cold, cold_on_chain = excluded.cold_on_chain, unswept = excluded.unswept`, args...)
	return err
}

// All returns the newest comparison of each currency that was ever compared.
func (tx Reconciliations) All(ctx context.Context) (map[bursar.CurrencyCode]Reconciliation, error) {
	found := map[bursar.CurrencyCode]Reconciliation{}
	list, err := reconciliationColumns.rows(ctx, tx.Tx, "list reconciliations", `FROM reconciliations`)
	for _, r := range list {
		found[r.Currency] = r
	}
	return found, err
}
