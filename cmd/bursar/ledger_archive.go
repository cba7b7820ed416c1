package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar/archive"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// inArchives is the error of a period of which a part is in archives.
func inArchives(until time.Time) error {
	return fmt.Errorf("entries of before %s are in archives of the books: name all of these with --archive FILE, or "+
		"begin the period at that time or later with --since", instant(until))
}

// begin returns the balances with which the owner's statement begins in the database: none where all of it is there, or
// where archives are named, whose lines are kept to be read with those of the database; else the sums of what is
// archived.
func (x *export) begin(ctx context.Context, accounts []ledger.Account) (ledger.Running, error) {
	running := ledger.Running{}
	x.sums = map[ledger.Key]ledger.Balance{}
	if len(x.files) > 0 {
		found, err := archive.Statement(ctx, x.db, accounts, x.files)
		x.archived, x.behind = found.Lines, found.Link
		return running, err
	}
	return running, x.db.View(ctx, func(tx *store.Tx) error {
		newest, err := tx.Checkpoints().Newest(ctx)
		if err != nil {
			return err
		}
		x.behind = newest.Link
		sums, err := tx.Checkpoints().SumsOfAccounts(ctx, accounts...)
		if err == nil && len(sums) > 0 && x.since.Before(newest.Until) {
			err = inArchives(newest.Until)
		}
		for k, sum := range sums {
			x.sums[k] = sum.Balance
			has := running[k.Asset]
			if k.Account == ledger.Available(x.owner) {
				has.Available = sum.Balance
			} else {
				has.Held = sum.Balance
			}
			running[k.Asset] = has
		}
		return err
	})
}

// inPeriod returns those of some lines that a query is for.
func inPeriod(lines []store.Line, q store.LineQuery) (found []store.Line) {
	for _, l := range lines {
		if !l.At.Before(q.Since) && (q.Until.IsZero() || l.At.Before(q.Until)) {
			found = append(found, l)
		}
	}
	return found
}

// merged returns lines with those of archives that have no higher number than the last, in order, and what is left of
// the latter.
func merged(lines, archived []store.Line, last int64) (all, rest []store.Line) {
	n := 0
	for n < len(archived) && archived[n].Number() <= last {
		n++
	}
	if n == 0 {
		return lines, archived
	}
	all = slices.Concat(archived[:n], lines)
	slices.SortFunc(all, func(a, b store.Line) int { return cmp.Compare(a.Number(), b.Number()) })
	return all, archived[n:]
}
