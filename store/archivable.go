package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// Archivable returns how many of some links, from the first on, may be archived, and what stands in the way of the next
// one. A posting must stay while something may still depend on it: on the hold of an order that has not ended, whether
// it is paid; on a deposit whose block is not final, whether it is reversed; and on what took a customer below zero
// who still is, that the books explain it; and so must one that is not in the sums of its month yet. Nothing is
// archived while the books contradict themselves.
func (tx Checkpoints) Archivable(ctx context.Context, links []Link) (n int, why string, err error) {
	faults, err := tx.BookFaults().List(ctx, 1)
	if err != nil {
		return 0, "", err
	}
	if len(faults) > 0 {
		return 0, "the books contradict themselves: " + faults[0].Message, nil
	}
	open, err := tx.openAmong(ctx, links)
	if err != nil {
		return 0, "", err
	}
	months, summing, err := tx.MonthSums().Read(ctx)
	if err != nil {
		return 0, "", err
	}
	newest, err := tx.Newest(ctx)
	if err != nil {
		return 0, "", err
	}
	if summing && !months.whole(newest) {
		return 0, "an earlier version archived entries that were not in the sums of their month, which the service makes " +
			"again", nil
	}
	for i, l := range links {
		for _, e := range l.Entries {
			if summing && e.Number > months.Entry {
				return i, fmt.Sprintf("entry %d of %s is not in the sums of its month yet, which the service makes", e.Number,
					e.At.UTC().Format(time.RFC3339)), nil
			}
			for _, name := range neededBy(e.Entry) {
				if open[name] {
					return i, fmt.Sprintf("entry %d (%s %s) of %s is still needed: %s", e.Number, e.Kind, e.Ref,
						e.At.UTC().Format(time.RFC3339), name.why()), nil
				}
			}
		}
	}
	return len(links), "", nil
}

// need is what an entry's postings may still be needed for.
type need struct {
	order   bursar.ID
	deposit bursar.ID
	below   ledger.Key
}

func (n need) why() string {
	switch {
	case !n.order.IsZero():
		return fmt.Sprintf("the order %s has not ended", n.order)
	case !n.deposit.IsZero():
		return fmt.Sprintf("the block of deposit %s is not final", n.deposit)
	}
	return fmt.Sprintf("%s is below zero in %s", n.below.Account, n.below.Asset)
}

// neededBy returns all that an entry may be needed for.
func neededBy(e ledger.Entry) (of []need) {
	if id, is := ledger.Takes(e); is {
		of = append(of, need{order: id})
	}
	if e.Kind == ledger.KindDeposit || e.Kind == ledger.KindTransfer {
		if id, err := bursar.ParseID(string(e.Ref[:min(len(e.Ref), 36)])); err == nil {
			of = append(of, need{deposit: id})
		}
	}
	if e.MayOverdraw() {
		for _, p := range e.Postings {
			of = append(of, need{below: ledger.Key{Account: p.Debit, Asset: p.Asset}})
		}
	}
	return of
}

// openAmong returns those of the needs of links that still exist, in a constant number of statements.
func (tx *Tx) openAmong(ctx context.Context, links []Link) (map[need]bool, error) {
	var orders, deposits []bursar.ID
	var keys []ledger.Key
	for _, l := range links {
		for _, e := range l.Entries {
			for _, n := range neededBy(e.Entry) {
				switch {
				case !n.order.IsZero():
					orders = append(orders, n.order)
				case !n.deposit.IsZero():
					deposits = append(deposits, n.deposit)
				default:
					keys = append(keys, n.below)
				}
			}
		}
	}
	open := map[need]bool{}
	err := errors.Join(
		tx.openIDs(ctx, `SELECT id FROM withdrawals WHERE completed_at = 0 AND `, "id", orders,
			func(id bursar.ID) { open[need{order: id}] = true }),
		tx.openIDs(ctx, `SELECT id FROM resolutions WHERE status IN ('queued', 'signed') AND `, "id", orders,
			func(id bursar.ID) { open[need{order: id}] = true }),
		tx.openIDs(ctx, `SELECT d.id FROM deposits d JOIN chains c ON c.chain = d.chain WHERE d.height > c.final_height AND `,
			"d.id", deposits, func(id bursar.ID) { open[need{deposit: id}] = true }))
	if err != nil {
		return nil, err
	}
	slices.SortFunc(keys, byName)
	balances, err := tx.Ledger().BalancesOf(ctx, slices.Compact(keys))
	for k, b := range balances {
		open[need{below: k}] = below(k, b)
	}
	return open, err
}

func (tx *Tx) openIDs(ctx context.Context, query, column string, ids []bursar.ID, note func(bursar.ID)) error {
	for part := range parts(tx, ids) {
		those, args := among(tx, column, part)
		found, err := rows(ctx, tx, "look for what is open", scanOne[bursar.ID], query+those, args...)
		if err != nil {
			return err
		}
		for _, id := range found {
			note(id)
		}
	}
	return nil
}
