package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/bursar/bursar/store"
)

// How often the trial balance of all accounts is computed: more often while it finds a fault.
const (
	trialEvery = time.Hour
	trialAgain = time.Minute
)

// Trial computes the trial balance if it is due: it reads every balance, page by page, from one state of the database,
// and blocks neither payments nor the rest of the audit.
func (a *Auditor) Trial(ctx context.Context) error {
	var f findings
	due := false
	err := a.DB.View(ctx, func(tx *store.Tx) (err error) {
		if f.from, err = tx.Audits().Get(ctx); err != nil {
			return err
		}
		known, err := trialFaults(ctx, tx)
		if err != nil {
			return err
		}
		if due = trialDue(f.from.TrialAt, tx.Now(), len(known) > 0); !due {
			return nil
		}
		if err := a.trial(ctx, tx, &f); err != nil {
			return err
		}
		for _, fault := range known {
			if !contains(f.faults, fault) {
				f.gone = append(f.gone, fault)
			}
		}
		return nil
	})
	if err != nil || !due {
		return wrapped(err, "compute the trial balance")
	}
	return wrapped(a.writeTrial(ctx, f), "record the trial balance")
}

func wrapped(err error, what string) error {
	if err != nil {
		err = fmt.Errorf("%s: %w", what, err)
	}
	return err
}

// trialDue reports whether it is time, by a clock that may have been ahead at the last trial balance.
func trialDue(last, now time.Time, faulty bool) bool {
	every := trialEvery
	if faulty {
		every = trialAgain
	}
	return now.Before(last) || now.Sub(last) >= every
}

func trialFaults(ctx context.Context, tx *store.Tx) ([]store.BookFault, error) {
	known, err := tx.BookFaults().List(ctx, faultsAtOnce)
	return slices.DeleteFunc(known, func(f store.BookFault) bool { return !ofTrial(f) }), err
}

// ofTrial reports whether only the trial balance finds a fault.
func ofTrial(f store.BookFault) bool {
	return f.Kind == faultTrial || f.Kind == faultBelow || f.Kind == faultArchived
}

func contains(list []store.BookFault, fault store.BookFault) bool {
	return slices.ContainsFunc(list, func(now store.BookFault) bool {
		return now.Kind == fault.Kind && now.Ref == fault.Ref
	})
}

// writeTrial records a trial balance, unless another auditor was faster.
func (a *Auditor) writeTrial(ctx context.Context, f findings) error {
	return a.DB.Do(ctx, func(tx *store.Tx) error {
		now, err := tx.Audits().Lock(ctx)
		if err != nil || now.TrialAt != f.from.TrialAt {
			return err
		}
		now.TrialAt = tx.Now()
		if err := tx.Audits().Set(ctx, now); err != nil || len(f.faults) == 0 && len(f.gone) == 0 {
			return err
		}
		return a.evaluate(ctx, tx, f)
	})
}

func (a *Auditor) trial(ctx context.Context, tx *store.Tx, f *findings) error {
	totals, err := tx.Ledger().TrialBalance(ctx)
	if err != nil {
		return err
	}
	for _, asset := range slices.Sorted(maps.Keys(totals)) {
		b := totals[asset]
		if b.Debits != b.Credits {
			f.faults = append(f.faults, store.BookFault{Kind: faultTrial, Ref: string(asset), Asset: asset,
				Message: fmt.Sprintf("the debits of all accounts sum to %s, the credits to %s", a.Registry.Text(asset, b.Debits),
					a.Registry.Text(asset, b.Credits))})
		}
	}
	below, err := tx.Ledger().BelowZero(ctx)
	for _, k := range below {
		f.faults = append(f.faults, store.BookFault{Kind: faultBelow, Ref: refOf(k), Asset: k.Asset,
			Message: fmt.Sprintf("%s is below zero in %s, but no reversal after a reorg explains that", k.Account,
				k.Asset)})
	}
	if err != nil {
		return err
	}
	return a.trialOfArchives(ctx, tx, f)
}
