package recovery

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// The alarm about a full journal. Its ref is always the same.
const (
	alarmFull = "journal_full"
	refFull   = "journal"
)

// errMoved says that another copy of the database than the one in the marks answers.
var errMoved = errors.New("another copy of the database answers")

// Sign counts an outgoing transaction that is about to be signed for the first time, first in the database and then
// outside it, where the journal keeps everything needed to put it back. The error is ErrBehind if the database has lost
// a signed transaction: then nothing is signed, and the chain recovers. It is marks.ErrFull if the journal is full:
// then nothing is signed before something has ended. A payment is not signed if another transaction in the journal that
// has not ended makes it.
//
// unsigned undoes it: the transaction was not signed after all, so that nobody has the bytes, and it may be given up
// again. What its entry has replaced in the journal comes back. It undoes this signature alone: where the lease was
// lost in between, another process may have counted another one of the same transaction.
func (g *Guard) Sign(ctx context.Context, lease store.Lease, id bursar.ID) (unsigned func(), err error) {
	if err := g.notOlder(); err != nil { // before it takes a number of the older database
		return nil, err
	}
	e, err := g.count(ctx, lease, id)
	switch {
	case errors.Is(err, errMoved):
		return nil, errors.Join(err, g.Compare(ctx))
	case errors.Is(err, marks.ErrFull):
		return nil, errors.Join(err, g.alarmFull(ctx))
	case err != nil:
		return nil, err
	}
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return nil, err
	}
	defer release()
	if err := g.notOlder(); err != nil { // another look may have noticed it meanwhile
		return nil, err
	}
	if e.Number <= g.Kept().Signed[e.Chain] {
		return nil, g.late(ctx, lease, e)
	}
	g.noteReplaced(e)
	err = g.raise(ctx, marks.State{Signed: map[string]int64{e.Chain: e.Number}, Journal: []marks.Entry{e}})
	if err != nil {
		g.uncounted(e.Name())
		return nil, err
	}
	return func() { g.unsigned(e.Name()) }, nil
}

// count takes the number of a signature, and describes the transaction for the journal.
func (g *Guard) count(ctx context.Context, lease store.Lease, id bursar.ID) (e marks.Entry, err error) {
	err = g.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		answers, err := tx.Settings().Identity(ctx)
		if err != nil {
			return err
		}
		kept := g.Kept()
		if moved(answers, kept.Database) {
			return errMoved
		}
		p, err := tx.Outgoing().Get(ctx, id)
		if err != nil {
			return err
		}
		if p.Status != bursar.OutgoingReserved &&
			p.Status != bursar.OutgoingSent { // sent: adopted from a block, and now signed here for the first time
			return fmt.Errorf("outgoing transaction %s is %s", p.ID, p.Status)
		}
		if e, err = entryOf(ctx, tx, p); err != nil {
			return err
		}
		if err := mayFollow(ctx, tx, kept, e, p); err != nil {
			return err
		}
		if err := kept.Fits(e); err != nil {
			return err
		}
		e.Number, err = tx.Counters().CountSigned(ctx, lease.Chain)
		return err
	})
	return e, err
}

// late handles a number that the marks have already. While this process holds the chain lease nobody else takes one:
// the database has gone back. Otherwise another process that shares the marks has held the lease since. The caller
// holds the mutex.
func (g *Guard) late(ctx context.Context, lease store.Lease, e marks.Entry) error {
	var now store.Marks
	err := g.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if _, err = tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		now, err = tx.Counters().Read(ctx)
		return err
	})
	if err != nil {
		return err
	}
	cause := fmt.Sprintf("the database has gone back: it had %d signed transactions of %s, the marks have %d",
		e.Number-1, e.Chain, g.Kept().Signed[e.Chain])
	now.Signed[e.Chain] = e.Number - 1 // the signature counted just before is void
	if err := g.recover(ctx, now, behind{cause: cause, chains: g.Chains}); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", ErrBehind, cause)
}

func (g *Guard) alarmFull(ctx context.Context) error {
	g.setFull(true)
	return g.DB.Do(ctx, func(tx *store.Tx) error {
		return tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmFull, Ref: refFull, Message: fmt.Sprintf(
			"the journal beside the marks holds %d payments that were signed and have not ended, and has no capacity for "+
				"another: nothing is signed before some of them are final; see `bursar doctor`",
			len(g.Kept().Journal))})
	})
}

// endFull closes the alarm about a full journal once there is capacity, in the transaction of a look. The caller holds
// the mutex.
func (g *Guard) endFull(ctx context.Context, tx *store.Tx) error {
	g.state.RLock()
	full := g.full
	g.state.RUnlock()
	if !full || g.Kept().Fits(marks.Entry{}) != nil {
		return nil
	}
	tx.After(func() { g.setFull(false) })
	return tx.Alarms().Resolve(ctx, alarmFull, refFull)
}

func (g *Guard) setFull(full bool) {
	g.state.Lock()
	defer g.state.Unlock()
	g.full = full
}
