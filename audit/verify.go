package audit

import (
	"bytes"
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// VerifyAll reads all of the books once, from the first link to the current newest one, and returns the number of links
// and the faults. Of links whose postings are in archives it verifies what stays and the sums. It writes nothing to the
// database; it keeps the sums of all accounts in memory.
func (a *Auditor) VerifyAll(ctx context.Context) (links int64, faults []store.BookFault, err error) {
	err = a.DB.View(ctx, func(tx *store.Tx) error {
		var f findings
		if f.head, err = tx.Links().Head(ctx); err != nil {
			return err
		}
		begin, err := a.verifyCheckpoints(ctx, tx, &f)
		if err != nil {
			return err
		}
		if err := a.verifyLinks(ctx, tx, &f, begin); err != nil {
			return err
		}
		for after := int64(0); ; {
			unlinked, last, err := tx.Links().Missing(ctx, after, entriesAtOnce)
			if err != nil {
				return err
			}
			for _, n := range unlinked {
				f.fault(faultEntry, fmt.Sprint(n), "entry %d of the books has no link: this service did not write it", n)
			}
			if after = last; last == 0 {
				break
			}
		}
		if err := a.verifyBalances(ctx, tx, &f); err != nil {
			return err
		}
		err = a.trial(ctx, tx, &f)
		links, faults = f.head.Number, f.faults
		return err
	})
	return links, faults, err
}

// verifyLinks follows every link behind one and sums every posting.
func (a *Auditor) verifyLinks(ctx context.Context, tx *store.Tx, f *findings, before store.Link) error {
	for {
		links, err := tx.Links().After(ctx, before.Number, linksAtOnce)
		if err != nil {
			return err
		}
		for _, l := range links {
			holds, err := tx.Links().Verify(before, l)
			if err != nil {
				return err
			}
			if !holds {
				f.faultLink(before, l)
			}
			if err := store.AddUp(f.sums, l); err != nil {
				return err
			}
			before = l
		}
		if len(links) == 0 {
			break
		}
	}
	if before.Number != f.head.Number || !bytes.Equal(before.Hash, f.head.Hash) {
		f.fault(faultHead, "", "the books end with link %d, but their head says %d", before.Number, f.head.Number)
	}
	return nil
}

// verifyBalances compares every balance with the sum of its postings. Bookings older than the links have no linked
// postings: those accounts are left to the rolling audit, which started with their balances.
func (a *Auditor) verifyBalances(ctx context.Context, tx *store.Tx, f *findings) error {
	old, err := tx.Ledger().BookedBeforeLinks(ctx)
	if err != nil || old {
		return err
	}
	for _, k := range slices.SortedFunc(maps.Keys(f.sums), compareKeys) {
		if f.sums[k].Overdrawn {
			f.faultOverdrawn(k)
		}
	}
	books := ledger.Books{}
	err = tx.Ledger().EachBalance(ctx, func(k ledger.Key, b ledger.Balance) error {
		books[k] = b
		return nil
	})
	if err != nil {
		return err
	}
	keys := slices.Concat(slices.Collect(maps.Keys(books)), slices.Collect(maps.Keys(f.sums)))
	for _, k := range distinct(keys) {
		if books[k] != f.sums[k].Balance {
			f.faults = append(f.faults, store.BookFault{
				Kind:    faultBalance,
				Ref:     refOf(k),
				Asset:   k.Asset,
				Message: a.differs(k, books[k], f.sums[k].Balance),
			})
		}
	}
	return nil
}
