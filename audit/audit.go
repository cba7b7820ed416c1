// Package audit checks the consistency of the books continuously: that no entry, posting, balance or withdrawal was
// changed, added or removed by anybody but this service, and that every balance is the sum of its postings.
//
// It owns the progress of the check, the faults that it found, and the halt that they cause. It never changes an entry,
// a balance or a withdrawal. Its invariants: a step costs a bounded number of rows; a step reads everything that it
// compares from one consistent state; a withdrawal is not owed before its hold has been audited; a halt of the books
// ends by itself once the same check finds no fault.
package audit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Bounds of one step.
const (
	linksAtOnce    = 500 // limited further to links with 5,000 entries together
	againAtOnce    = 50  // links of the rolling pass
	balancesAtOnce = 500
	entriesAtOnce  = 5000
	ordersAtOnce   = 1000
	faultsAtOnce   = 100
)

// pagesAtOnce bounds what CatchUp reads: 100,000 links, which a service that books 1,000 times per second writes in a
// minute and a half.
const pagesAtOnce = 200

// Pace is how long the auditor pauses once everything is read.
const Pace = 2 * time.Second

// Auditor audits the books of one service. Any number may run, in as many processes: they take turns.
type Auditor struct {
	DB       *store.DB
	Registry *bursar.Registry
	Log      *slog.Logger
	Anchor   Anchor // nil: none outside this process
	Pace     time.Duration

	turn     store.Turn // one step at a time
	started  bool       // a link was read
	deposits int64      // position of the check of pending deposits
	orders   int64      // position of the check of open withdrawals

	checkpoints int64      // the link of the last checkpoint that was checked
	faults      int64      // and of known faults
	unchecked   ledger.Key // and of unchecked balances
}

// Mark identifies a link that existed once.
type Mark struct {
	Link int64
	Hash []byte
}

// Anchor keeps the newest link outside the database, so that an older database, or another one, is detected.
type Anchor interface {
	// LinkMark returns the link recorded last; the zero Mark if there is none.
	LinkMark() (Mark, error)
	// NoteLink records a newer link.
	NoteLink(Mark) error
}

// Run audits until ctx ends.
func (a *Auditor) Run(ctx context.Context) error {
	pace := a.Pace
	if pace == 0 {
		pace = Pace
	}
	step := func(ctx context.Context) (bool, error) {
		more, err := a.Step(ctx)
		if err == nil && !more {
			err = a.Trial(ctx)
		}
		return more, err
	}
	return store.Work{Pace: pace, Step: step, Failed: func(failures int, err error) {
		a.Log.Warn("audit failed", "failures", failures, "error", err)
	}}.Run(ctx)
}

// CatchUp audits what was booked since the last step, up to the current newest link, and every balance that it moved:
// what has to be known before a payment that the books owe. It reads nothing else. It works page by page and records
// each page, so that a later call continues where this one ended. The error is ErrBehind if it is still behind after
// pagesAtOnce pages.
func (a *Auditor) CatchUp(ctx context.Context) error {
	var at ledger.Key
	for range pagesAtOnce {
		if more, err := a.step(ctx, a.readLinks, a.readHead, a.moved(&at), a.readNew); err != nil || !more {
			return err
		}
	}
	return ErrBehind
}

// ErrBehind is returned while there are more links to read than CatchUp reads at once.
var ErrBehind = errors.New("the audit of the books has not caught up yet")

// Step takes one bounded step: it reads what is new, and a part of everything again. more reports whether there is more
// new data to read.
func (a *Auditor) Step(ctx context.Context) (more bool, err error) {
	return a.step(ctx, a.readLinks, a.readHead, a.moved(&a.unchecked), a.readNew,
		a.readBalances, a.readEntries, a.readAgain, a.readCheckpoints, a.readWithdrawals, a.readDeposits, a.readFaults)
}

// hasRead reports whether a link of these books is known to have been read. After a recovery the anchor has the
// database's link.
func (a *Auditor) hasRead() (bool, error) {
	if a.started || a.Anchor == nil {
		return a.started, nil
	}
	mark, err := a.Anchor.LinkMark()
	if err != nil {
		return false, fmt.Errorf("read which link of the books is recorded outside the database: %w", err)
	}
	return mark.Link > 0, nil
}

// look reads a part of one state of the database.
type look func(ctx context.Context, tx *store.Tx, f *findings) error

func (a *Auditor) step(ctx context.Context, looks ...look) (more bool, err error) {
	release, err := a.DB.Take(ctx, &a.turn)
	if err != nil {
		return false, err
	}
	defer release()
	if err := a.begin(ctx); err != nil {
		return false, err
	}
	var f findings
	err = a.DB.View(ctx, func(tx *store.Tx) (err error) {
		f, err = a.read(ctx, tx, looks)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("audit the books: %w", err)
	}
	if err := a.write(ctx, f); err != nil {
		return false, fmt.Errorf("record the findings of the audit: %w", err)
	}
	return f.more, a.anchor(f)
}

// begin seals what is older than the first link, once, and whatever is booked concurrently: it ends with the first link
// that the audit has read. It locks the audit, so that no sum is written back that another auditor has continued. If
// this process or the anchor knows of a link that was read, the audit has not started over by itself, whatever the
// database says: nothing is sealed.
func (a *Auditor) begin(ctx context.Context) error {
	read, err := a.hasRead()
	if err != nil {
		return err
	}
	for more := !read; more; {
		err := a.DB.View(ctx, func(tx *store.Tx) error {
			now, err := tx.Audits().Get(ctx)
			more = err == nil && now.Link == 0
			a.started = a.started || now.Link > 0
			return err
		})
		if err != nil || !more {
			return err
		}
		err = a.DB.Do(ctx, func(tx *store.Tx) error {
			now, err := tx.Audits().Lock(ctx)
			if more = err == nil && now.Link == 0; !more {
				return err
			}
			more, err = tx.Ledger().SealOld(ctx, entriesAtOnce)
			return err
		})
		if err != nil {
			return fmt.Errorf("seal what is older than the links: %w", err)
		}
	}
	return nil
}
