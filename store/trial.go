package store

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// TrialBalance returns the sums of all balances by asset. It reads every balance, in the database's own arithmetic where that
// is exact.
func (tx *Tx) TrialBalance(ctx context.Context) (map[bursar.Code]ledger.Balance, error) {
	totals := map[bursar.Code]ledger.Balance{}
	if tx.postgres {
		_, err := rows(ctx, tx, "draw up the trial balance", func(s scanner) (none struct{}, err error) {
			var code bursar.Code
			var b ledger.Balance
			err = s.Scan(&code, &b.Debits, &b.Credits)
			totals[code] = b
			return none, err
		}, `SELECT asset, SUM(debits::numeric)::text, SUM(credits::numeric)::text FROM balances GROUP BY asset`)
		return totals, err
	}
	err := tx.EachBalance(ctx, func(k ledger.Key, b ledger.Balance) (err error) {
		t := totals[k.Asset]
		if t.Debits, err = t.Debits.Add(b.Debits); err == nil {
			t.Credits, err = t.Credits.Add(b.Credits)
		}
		totals[k.Asset] = t
		return err
	})
	return totals, err
}

// BelowZero returns the customers' balances below zero that no entry took there which may: nothing but a chain that took
// something back can.
func (tx *Tx) BelowZero(ctx context.Context) ([]ledger.Key, error) {
	return rows(ctx, tx, "look for balances below zero", func(s scanner) (k ledger.Key, err error) {
		return k, s.Scan(&k.Account, &k.Asset)
	}, `SELECT b.account, b.asset FROM balances b WHERE b.below = TRUE AND b.account LIKE 'customer:%' AND NOT EXISTS (SELECT 1 FROM postings p
		JOIN entries e ON e.number = p.entry WHERE p.debit = b.account AND p.asset = b.asset AND e.kind IN ($1, $2)) ORDER BY b.account, b.asset LIMIT 100`,
		string(ledger.KindDepositReversed), string(ledger.KindReopened))
}

// BookedBeforeLinks reports whether entries are there that were booked before there were links.
func (tx *Tx) BookedBeforeLinks(ctx context.Context) (old bool, err error) {
	err = tx.row(ctx, "look for entries older than the links", `SELECT EXISTS (SELECT 1 FROM seals WHERE link = 0)`, nil, &old)
	return old, err
}
