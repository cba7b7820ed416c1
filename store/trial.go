package store

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// balancesAtOnce bounds the balances of one statement of the trial balance.
const balancesAtOnce = 5000

// TrialBalance returns the sums of all balances by asset. It reads every balance, a bounded number with each statement.
func (tx Ledger) TrialBalance(ctx context.Context) (map[bursar.CurrencyCode]ledger.Balance, error) {
	totals := map[bursar.CurrencyCode]ledger.Balance{}
	var after ledger.Key
	for {
		page, err := rows(ctx, tx.Tx, "draw up the trial balance", func(s scanner) (k ledger.Key, err error) {
			var b ledger.Balance
			if err := s.Scan(&k.Account, &k.Asset, &b.Debits, &b.Credits); err != nil {
				return k, err
			}
			t := totals[k.Asset]
			if t.Debits, err = t.Debits.Add(b.Debits); err == nil {
				t.Credits, err = t.Credits.Add(b.Credits)
			}
			totals[k.Asset] = t
			return k, err
		}, `SELECT account, asset, debits, credits FROM balances WHERE (account, asset) > ($1, $2)
			ORDER BY account, asset LIMIT $3`,
			string(after.Account), string(after.Asset), balancesAtOnce)
		if err != nil || len(page) < balancesAtOnce {
			return totals, err
		}
		after = page[len(page)-1]
	}
}

// BelowZero returns the customers' negative balances that are not explained by a reversal after a reorg.
func (tx Ledger) BelowZero(ctx context.Context) ([]ledger.Key, error) {
	return rows(ctx, tx.Tx, "look for balances below zero", func(s scanner) (k ledger.Key, err error) {
		return k, s.Scan(&k.Account, &k.Asset)
	}, `SELECT b.account, b.asset FROM balances b WHERE b.below = TRUE AND b.account LIKE 'customer:%'
		AND NOT EXISTS (SELECT 1 FROM postings p
		JOIN entries e ON e.number = p.entry WHERE p.debit = b.account AND p.asset = b.asset AND e.kind IN ($1, $2, $3))
		ORDER BY b.account, b.asset LIMIT 100`,
		string(ledger.KindDepositReversed), string(ledger.KindUnsettled), string(ledger.KindPayoutShortUndone))
}

// BookedBeforeLinks reports whether entries are there that were booked before there were links.
func (tx Ledger) BookedBeforeLinks(ctx context.Context) (old bool, err error) {
	err = tx.row(ctx, "look for entries older than the links",
		`SELECT EXISTS (SELECT 1 FROM seals WHERE link = 0)`, nil, &old)
	return old, err
}
