package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// errMoved is the error of an export while whose batches were read postings were archived.
var errMoved = errors.New("old entries were moved into an archive during the export, so that what it wrote is not " +
	"whole: export again")

// unmoved fails if postings were archived since the export began: what a transaction reads from then on is shortened.
func (x *export) unmoved(ctx context.Context, tx *store.Tx) error {
	newest, err := tx.Checkpoints().Newest(ctx)
	if err == nil && newest.Link != x.behind {
		err = errMoved
	}
	return err
}

// surely returns the lines that no booking under way can add others to.
func (x *export) surely(lines []store.Line) []store.Line {
	return inPeriod(lines, store.LineQuery{Until: x.sure})
}

// whole fails unless all lines of some accounts, with those before and behind the period, come to the accounts'
// balances. Those of the last moments it reads together with the balances, from one state of the database.
func (x *export) whole(ctx context.Context, accounts []ledger.Account) error {
	if x.sure.After(x.until) {
		behind := store.LineQuery{Accounts: accounts, Since: x.until, Until: x.sure}
		err := x.each(ctx, behind, func(_ context.Context, lines []store.Line) error {
			return count(x.sums, lines, accounts)
		})
		if err != nil {
			return err
		}
	}
	return x.db.View(ctx, func(tx *store.Tx) error {
		if err := x.unmoved(ctx, tx); err != nil {
			return err
		}
		sums := maps.Clone(x.sums)
		if err := countSince(ctx, tx, sums, x.sure, accounts); err != nil {
			return err
		}
		for _, account := range accounts {
			balances, err := tx.Ledger().Balances(ctx, account)
			if err != nil {
				return err
			}
			for asset, is := range balances {
				k := ledger.Key{Account: account, Asset: asset}
				if sums[k] != is {
					return notWhole(k, sums[k], is)
				}
				delete(sums, k)
			}
		}
		for k, sum := range sums {
			return notWhole(k, sum, ledger.Balance{})
		}
		return nil
	})
}

func notWhole(k ledger.Key, sum, is ledger.Balance) error {
	return fmt.Errorf("the entries of %s in %s come to %s debits and %s credits, its balance says %s and %s (smallest "+
		"units): run bursar ledger verify", k.Account, k.Asset, sum.Debits, sum.Credits, is.Debits, is.Credits)
}

// countSince adds the lines of a time or later to sums.
func countSince(ctx context.Context, tx *store.Tx, sums map[ledger.Key]ledger.Balance, since time.Time,
	accounts []ledger.Account) error {
	for after := int64(0); ; {
		lines, err := tx.Statements().After(ctx, store.LineQuery{Accounts: accounts, Since: since}, after, linesAtOnce)
		if err == nil {
			err = count(sums, lines, accounts)
		}
		if err != nil || len(lines) < linesAtOnce {
			return err
		}
		after = lines[linesAtOnce-1].Number()
	}
}

// count adds lines to the sums of some accounts.
func count(sums map[ledger.Key]ledger.Balance, lines []store.Line, accounts []ledger.Account) error {
	for _, l := range lines {
		for _, account := range slices.Compact([]ledger.Account{l.Debit, l.Credit}) {
			if !slices.Contains(accounts, account) {
				continue
			}
			k := ledger.Key{Account: account, Asset: l.Asset}
			sum, err := sums[k].Apply(account, l.Posting)
			if err != nil {
				return err
			}
			sums[k] = sum
		}
	}
	return nil
}
