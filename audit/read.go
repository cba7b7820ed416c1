package audit

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// findings are the results of one step over one state of the database.
type findings struct {
	from   store.Audit // the state that the step found
	to     store.Audit
	sums   map[ledger.Key]store.Posted // the state to write
	faults []store.BookFault
	gone   []store.BookFault // faults that are gone
	more   bool
	head   store.Link
}

func (f *findings) fault(kind, ref, format string, args ...any) {
	f.faults = append(f.faults, store.BookFault{Kind: kind, Ref: ref, Message: fmt.Sprintf(format, args...)})
}

// Kinds of faults.
const (
	faultLink    = "link"    // an entry or a withdrawal under it was changed, added or removed
	faultHead    = "head"    // links are missing, or differ from those that were there
	faultEntry   = "entry"   // an entry that this service did not write
	faultOrder   = "order"   // a withdrawal that was changed
	faultPosted  = "posted"  // the audit's own sums were changed
	faultBalance = "balance" // a balance that is not the sum of its postings
	faultTrial   = "trial"   // debits and credits differ
	faultBelow   = "below"   // a customer below zero without a reversal that explains it

	faultCheckpoint = "checkpoint" // what is left of archived entries was changed, or what is recorded about them
	faultArchived   = "archived"   // the sums of what is archived were changed

	faultDeposit   = "deposit"   // a deposit that was not recorded like this by this service
	faultOverdrawn = "overdrawn" // a customer below zero because of an entry that may not do so
)

func (a *Auditor) read(ctx context.Context, tx *store.Tx, looks []look) (f findings, err error) {
	if f.from, err = tx.Audits().Get(ctx); err != nil {
		return f, err
	}
	if f.head, err = tx.Links().Head(ctx); err != nil {
		return f, err
	}
	f.to, f.sums = f.from, map[ledger.Key]store.Posted{}
	for _, look := range looks {
		if err := look(ctx, tx, &f); err != nil {
			return f, err
		}
	}
	return f, nil
}

// readLinks follows the new links and sums their postings. It stops before an invalid link.
func (a *Auditor) readLinks(ctx context.Context, tx *store.Tx, f *findings) error {
	if over, err := a.startOver(ctx, tx, f); err != nil || over {
		return err
	}
	links, err := tx.Links().After(ctx, f.from.Link, linksAtOnce)
	if err != nil {
		return err
	}
	before, err := tx.Links().At(ctx, f.from.Link)
	if missing(err) {
		f.fault(faultHead, "", "link %d of the books, which the audit has read, is missing", f.from.Link)
		return nil
	}
	if err != nil {
		return err
	}
	before.Hash = f.from.Hash
	good := 0
	for _, l := range links {
		holds, err := tx.Links().Verify(before, l)
		if err != nil {
			return err
		}
		if !holds {
			f.faultLink(before, l)
			break
		}
		before, good = l, good+1
	}
	f.to.Link, f.to.Hash = before.Number, before.Hash
	f.more = good > 0 && good == len(links) && f.to.Link < f.head.Number
	return a.sum(ctx, tx, f, links[:good])
}

func (f *findings) faultLink(before, l store.Link) {
	if l.Number != before.Number+1 {
		f.fault(faultLink, fmt.Sprint(before.Number+1), "link %d of the books is missing", before.Number+1)
		return
	}
	names := ""
	for _, e := range l.Entries[:min(len(l.Entries), 10)] {
		names += fmt.Sprintf(" %d (%s %s)", e.Number, e.Kind, e.Ref)
	}
	f.fault(faultLink, fmt.Sprint(l.Number),
		"link %d of the books is invalid: one of its %d entries, or a withdrawal in them, was changed, added or removed:%s",
		l.Number, len(l.Entries), names)
}

// sum adds the postings of links to the sums of their accounts.
func (a *Auditor) sum(ctx context.Context, tx *store.Tx, f *findings, links []store.Link) error {
	touched := map[ledger.Key]bool{}
	for _, l := range links {
		for _, e := range l.Entries {
			for _, k := range e.Keys() {
				touched[k] = true
			}
		}
	}
	sums, err := tx.Ledger().PostedOf(ctx, slices.Collect(maps.Keys(touched)))
	if err != nil {
		return err
	}
	for k, p := range sums {
		if p.Altered {
			f.faultPosted(k)
			f.to.Link, f.to.Hash, f.more = f.from.Link, f.from.Hash, false
			return nil
		}
	}
	for _, l := range links {
		if err := store.AddUp(sums, l); err != nil {
			return err
		}
	}
	f.sums = sums
	return nil
}

func (f *findings) faultPosted(k ledger.Key) {
	f.faults = append(f.faults, store.BookFault{Kind: faultPosted, Ref: refOf(k), Asset: k.Asset,
		Message: fmt.Sprintf("the sum of the postings of %s in %s was not written by the audit", k.Account,
			k.Asset)})
}

func (f *findings) faultOverdrawn(k ledger.Key) {
	f.faults = append(f.faults, store.BookFault{Kind: faultOverdrawn, Ref: refOf(k), Asset: k.Asset,
		Message: fmt.Sprintf("%s was taken below zero in %s by an entry that its postings did not cover: its balance was "+
			"raised while it was booked",
			k.Account, k.Asset)})
}

// readHead compares the newest link with what was read last and with the link recorded outside the database.
func (a *Auditor) readHead(ctx context.Context, tx *store.Tx, f *findings) error {
	if f.from.Link > f.head.Number || f.to.Link == f.head.Number && string(f.to.Hash) != string(f.head.Hash) {
		f.fault(faultHead, "", "the books end with link %d, but the audit has read up to %d", f.head.Number, f.to.Link)
	}
	mark, err := a.mark()
	if err != nil || mark.Link == 0 {
		return err
	}
	l, err := tx.Links().At(ctx, mark.Link)
	if missing(err) {
		f.fault(faultHead, "",
			"the books had link %d and now end with %d: the database is older than it was, or links were removed",
			mark.Link, f.head.Number)
		return nil
	}
	if err == nil && string(l.Hash) != string(mark.Hash) {
		f.fault(faultHead, "", "link %d of the books differs from the recorded one: this is another history", mark.Link)
	}
	return err
}

// readNew looks among the new entries for entries without a link.
func (a *Auditor) readNew(ctx context.Context, tx *store.Tx, f *findings) error {
	last, err := a.unlinked(ctx, tx, f, f.to.Entry)
	f.to.Entry = max(last, f.to.Entry)
	return err
}

// readEntries looks for entries without a link, rolling over all.
func (a *Auditor) readEntries(ctx context.Context, tx *store.Tx, f *findings) (err error) {
	f.to.PassEntry, err = a.unlinked(ctx, tx, f, f.to.PassEntry)
	return err
}

// unlinked records the entries of one page without a link, and returns the last entry that it checked: 0 after the
// newest.
func (a *Auditor) unlinked(ctx context.Context, tx *store.Tx, f *findings, after int64) (last int64, err error) {
	found, last, err := tx.Links().Missing(ctx, after, entriesAtOnce)
	for _, n := range found {
		f.fault(faultEntry, fmt.Sprint(n), "entry %d of the books has no link: this service did not write it", n)
	}
	return last, err
}

// readAgain verifies a part of the links that were read before, repeatedly from the first whose postings are in the
// database to the last.
func (a *Auditor) readAgain(ctx context.Context, tx *store.Tx, f *findings) error {
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil {
		return err
	}
	f.to.PassLink = max(f.to.PassLink, newest.Link)
	links, err := tx.Links().After(ctx, f.to.PassLink, againAtOnce)
	if err != nil {
		return err
	}
	before := newest.At()
	if f.to.PassLink > newest.Link {
		if before, err = tx.Links().At(ctx, f.to.PassLink); err != nil && !missing(err) {
			return err
		}
	}
	before.Number = f.to.PassLink
	for _, l := range links {
		if l.Number > f.to.Link {
			break
		}
		holds, err := tx.Links().Verify(before, l)
		if err != nil {
			return err
		}
		if !holds {
			f.faultLink(before, l)
		}
		before, f.to.PassLink = l, l.Number
	}
	if f.to.PassLink >= f.to.Link || len(links) == 0 {
		f.to.PassLink, f.to.PassedAt = 0, tx.Now()
	}
	return nil
}

// readWithdrawals checks the pending withdrawals.
func (a *Auditor) readWithdrawals(ctx context.Context, tx *store.Tx, f *findings) error {
	altered, next, err := tx.Withdrawals().ListAltered(ctx, a.orders, ordersAtOnce)
	if err != nil {
		return err
	}
	a.orders = next
	ids := slices.SortedFunc(maps.Keys(altered), bursar.ID.Compare)
	for _, id := range ids {
		f.fault(faultOrder, id.String(),
			"withdrawal %s was changed: its account, currency, amount, fee, destination or time was altered in the "+
				"database", id)
	}
	return nil
}

// readDeposits checks the deposits that wait to be credited. A deposit that this service did not record is not
// credited.
func (a *Auditor) readDeposits(ctx context.Context, tx *store.Tx, f *findings) error {
	altered, next, err := tx.Deposits().ListAltered(ctx, a.deposits, ordersAtOnce)
	if err != nil {
		return err
	}
	a.deposits = next
	for _, d := range altered {
		f.fault(faultDeposit, d.ID.String(),
			"deposit %s of %s in transaction %s was not recorded from a block: it was written or changed in the database", d.ID,
			d.Currency, d.TxID)
	}
	return nil
}

func missing(err error) bool { return errors.Is(err, store.ErrNotFound) }
