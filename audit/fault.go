package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// readFaults checks known faults again, and finds those that are gone: some of them in each step, rolling over all.
func (a *Auditor) readFaults(ctx context.Context, tx *store.Tx, f *findings) error {
	known, err := tx.BookFaults().After(ctx, a.faults, faultsAtOnce)
	if err != nil {
		return err
	}
	a.faults = 0
	if len(known) == faultsAtOnce {
		a.faults = known[faultsAtOnce-1].Number
	}
	for _, fault := range known {
		if ofTrial(fault) || contains(f.faults, fault) {
			continue
		}
		still, err := a.still(ctx, tx, f, fault)
		if err != nil {
			return err
		}
		if !still {
			f.gone = append(f.gone, fault)
		}
	}
	return nil
}

// still reports whether a fault that this step did not come across still exists.
func (a *Auditor) still(ctx context.Context, tx *store.Tx, f *findings, fault store.BookFault) (bool, error) {
	number, _ := strconv.ParseInt(fault.Ref, 10, 64)
	switch fault.Kind {
	case faultLink:
		return a.linkBroken(ctx, tx, number)
	case faultCheckpoint:
		return a.checkpointBroken(ctx, tx, number)
	case faultEntry:
		unlinked, _, err := tx.Links().Missing(ctx, number-1, 1)
		return slices.Contains(unlinked, number), err
	case faultOrder:
		id, err := bursar.ParseID(fault.Ref)
		if err != nil {
			return true, err
		}
		return tx.Withdrawals().Altered(ctx, id)
	case faultDeposit:
		id, err := bursar.ParseID(fault.Ref)
		if err != nil {
			return true, err
		}
		altered, err := tx.Deposits().Altered(ctx, id)
		if missing(err) {
			return false, nil
		}
		return altered, err
	case faultBalance, faultPosted, faultOverdrawn:
		if f.to.Link != f.head.Number {
			return true, nil
		}
		again := findings{sums: maps.Clone(f.sums), to: f.to, head: f.head}
		err := a.compare(ctx, tx, &again, []ledger.Key{keyOf(fault.Ref)})
		return len(again.faults) > 0, err
	}
	return false, nil // the head is checked at every step
}

// linkBroken checks a fault of a link again. That of an archived one is its checkpoint's: nothing is archived while
// the books contradict themselves.
func (a *Auditor) linkBroken(ctx context.Context, tx *store.Tx, number int64) (bool, error) {
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil || number <= newest.Link {
		return newest.Altered, err
	}
	before, err := tx.Links().At(ctx, number-1)
	if missing(err) {
		return true, nil
	}
	if err != nil {
		return true, err
	}
	links, err := tx.Links().After(ctx, number-1, 1)
	if err != nil || len(links) == 0 {
		return true, err
	}
	holds, err := tx.Links().Verify(before, links[0])
	return !holds, err
}

// write records the progress of the step, unless another auditor was faster, and halts or resumes what the faults
// concern.
func (a *Auditor) write(ctx context.Context, f findings) error {
	return a.DB.Do(ctx, func(tx *store.Tx) error {
		now, err := tx.Audits().Lock(ctx)
		if err != nil {
			return err
		}
		if now.Link != f.from.Link || now.CheckedAt != f.from.CheckedAt || now.PassLink != f.from.PassLink {
			return nil // another auditor was here in the meantime
		}
		if other, err := isOther(ctx, tx, f); err != nil || other {
			return err
		}
		if err := tx.Ledger().PutPosted(ctx, f.sums); err != nil {
			return err
		}
		if err := tx.Audits().Set(ctx, f.to); err != nil {
			return err
		}
		if len(f.faults) == 0 && len(f.gone) == 0 {
			return nil
		}
		return a.evaluate(ctx, tx, f)
	})
}

// isOther reports whether a database does not have the link that a step has read up to: the step read another one, for
// which this one was put since, older or restored. What was read there is no fault here, and the next step reads this.
func isOther(ctx context.Context, tx *store.Tx, f findings) (bool, error) {
	if f.to.Link == f.from.Link {
		return false, nil
	}
	l, err := tx.Links().At(ctx, f.to.Link)
	if missing(err) {
		return true, nil
	}
	return err == nil && string(l.Hash) != string(f.to.Hash), err
}

const alarmKind = "books_contradict"

// evaluate records new faults, removes those that are gone, and halts what the rest concerns.
func (a *Auditor) evaluate(ctx context.Context, tx *store.Tx, f findings) error {
	for _, fault := range f.gone {
		if err := tx.BookFaults().Drop(ctx, fault.Kind, fault.Ref); err != nil {
			return err
		}
		if err := tx.Alarms().Resolve(ctx, alarmKind, fault.Kind+":"+fault.Ref); err != nil {
			return err
		}
		tx.After(func() { a.Log.Info("the books are consistent again", "fault", fault.Kind, "ref", fault.Ref) })
	}
	for _, fault := range a.foremost(f.faults) {
		if err := tx.BookFaults().Put(ctx, fault); err != nil {
			return err
		}
		err := tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmKind, Ref: fault.Kind + ":" + fault.Ref,
			Message: fault.Message +
				". Nothing is paid until the books are consistent again; docs/operations/solvency.md says what to do"})
		if err != nil {
			return err
		}
		tx.After(func() {
			a.Log.Error("the books are inconsistent", "fault", fault.Kind, "ref", fault.Ref, "message", fault.Message)
		})
	}
	return a.halt(ctx, tx)
}

// foremost selects the faults that one step records: first one that concerns all currencies and one of each served
// currency, so that faults in unknown assets cannot hide them. An attacker who can write to the database can create any
// number of faults in unknown assets.
func (a *Auditor) foremost(faults []store.BookFault) []store.BookFault {
	var front, rest []store.BookFault
	seen := map[bursar.CurrencyCode]bool{}
	for _, fault := range faults {
		_, err := a.Registry.Get(fault.Asset)
		if (fault.Asset == "" || err == nil) && !seen[fault.Asset] {
			seen[fault.Asset] = true
			front = append(front, fault)
		} else {
			rest = append(rest, fault)
		}
	}
	return append(front, rest[:min(len(rest), max(0, faultsAtOnce-len(front)))]...)
}

// halt stops what the faults concern and lets everything else continue: one currency if only its balances are wrong,
// everything if somebody wrote into the books.
func (a *Auditor) halt(ctx context.Context, tx *store.Tx) error {
	faults, err := tx.BookFaults().Assets(ctx)
	if err != nil {
		return err
	}
	wanted := map[store.HaltScope]string{}
	for _, fault := range a.foremost(faults) {
		scope := store.HaltAll
		if fault.Asset != "" {
			scope = store.HaltCurrency(fault.Asset)
		}
		if wanted[scope] == "" {
			wanted[scope] = fault.Message
		}
	}
	halts, err := tx.Halts().List(ctx)
	if err != nil {
		return err
	}
	for _, h := range halts {
		if h.Kind == store.HaltByBooks && wanted[h.Scope] == "" {
			if _, err := tx.Halts().Lift(ctx, h.Scope, h.Kind, ""); err != nil {
				return err
			}
		}
	}
	for _, scope := range slices.Sorted(maps.Keys(wanted)) {
		if err := tx.Halts().Put(ctx, store.Halt{Scope: scope, Kind: store.HaltByBooks,
			Reason: "the books are inconsistent: " + wanted[scope]}); err != nil {
			return err
		}
	}
	return nil
}

// mark returns the newest link that was recorded outside the database. Without an anchor there is none: that a database
// is older than it was, as after a failover, is then detected by the recovery of the chains, which ends by itself.
func (a *Auditor) mark() (Mark, error) {
	if a.Anchor == nil {
		return Mark{}, nil
	}
	noted, err := a.Anchor.LinkMark()
	if err != nil {
		return Mark{}, fmt.Errorf("read the mark of the newest link: %w", err)
	}
	return noted, nil
}

// anchor records the newest audited link outside the database.
func (a *Auditor) anchor(f findings) error {
	mark, err := a.mark()
	if err != nil || a.Anchor == nil || f.to.Link <= mark.Link || len(f.faults) > 0 {
		return err
	}
	return a.Anchor.NoteLink(Mark{f.to.Link, f.to.Hash})
}
