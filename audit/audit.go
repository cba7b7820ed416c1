// Package audit checks the books against themselves, all the time: that no entry, posting, balance or order was
// changed, added or taken away by anybody but this service, and that every balance is the sum of its postings.
//
// It owns how far the check has come, the faults that it found, and the halt that they mean. It never changes an entry,
// a balance or an order. Its invariants: a step costs a bounded number of rows; what a step judges, it reads from one
// consistent state; an order is not owed before its hold has been audited; a halt of the books ends by itself, once the
// same check finds nothing.
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
	linksAtOnce    = 500 // and as many as have 5,000 entries together
	againAtOnce    = 50  // links of the rolling pass
	balancesAtOnce = 500
	entriesAtOnce  = 5000
	ordersAtOnce   = 1000
	faultsAtOnce   = 100
)

// pagesAtOnce bounds what CatchUp reads: 100,000 links, at which a service that books 1,000 times a second is a minute
// and a half behind.
const pagesAtOnce = 200

// Pace is how long the auditor rests where everything is read.
const Pace = 2 * time.Second

// Auditor audits the books of one service. Any number may run, in as many processes: they take turns.
type Auditor struct {
	DB       *store.DB
	Registry *bursar.Registry
	Log      *slog.Logger
	Anchor   Anchor // nil: none outside this process
	Pace     time.Duration

	turn      store.Turn // one step at a time
	started   bool       // a link was read
	arrivals  int64      // where the look through pending deposits goes on
	orders    int64      // where the look through open orders goes on
	faults    int64      // and that through known faults
	unchecked ledger.Key // and that through unchecked balances
}

// Mark names a link that was there once.
type Mark struct {
	Link int64
	Hash []byte
}

// Anchor remembers the newest link outside the database, so that a database which is older, or another one, is found.
type Anchor interface {
	// LinkMark returns what was noted last; the zero Mark where nothing was.
	LinkMark() (Mark, error)
	// NoteLink notes a newer link.
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
		a.Log.Warn("the books cannot be audited now", "failures", failures, "error", err)
	}}.Run(ctx)
}

// CatchUp audits what was booked since, up to the newest link that is there now, and every balance that it moved: what
// has to be known before a payment that the books owe. It reads nothing else. It goes on page by page, each of which
// is noted, so that a later call goes on where this one ended: the error is ErrBehind where it is still behind after
// many.
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

// Step takes one bounded step: it reads what is new, and a part of everything again. more says that there is more to
// be read that is new.
func (a *Auditor) Step(ctx context.Context) (more bool, err error) {
	return a.step(ctx, a.readLinks, a.readHead, a.moved(&a.unchecked), a.readNew,
		a.readBalances, a.readEntries, a.readAgain, a.readOrders, a.readArrivals, a.readFaults)
}

// hasRead reports whether a link of these books is known to have been read. After a recovery the anchor knows what the
// database has.
func (a *Auditor) hasRead() (bool, error) {
	if a.started || a.Anchor == nil {
		return a.started, nil
	}
	mark, err := a.Anchor.LinkMark()
	if err != nil {
		return false, fmt.Errorf("ask which link of the books is known outside the database: %w", err)
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
		return false, fmt.Errorf("note what the audit found: %w", err)
	}
	return f.more, a.anchor(f)
}

// begin seals what was there before there were links, once, and no matter what is booked meanwhile: it ends with the
// first link that the audit has read. It locks the audit, so that no sum is written back that another auditor has
// carried on. Where this process or the anchor knows of a link that was read, the audit has not begun again by itself,
// whatever the database says: nothing is sealed.
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
