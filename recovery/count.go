package recovery

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/store"
)

// The alarm about a journal that holds as much as it may. Ref is always the same.
const (
	alarmFull = "journal_full"
	refFull   = "journal"
)

// errMoved says that another copy of the database answers than the marks name.
var errMoved = errors.New("another copy of the database answers")

// Sign counts an outgoing transaction that is about to be signed for the first time, first in the database and then
// outside it, where the journal keeps all that puts it back. The error is ErrBehind where the database has forgotten
// one that was signed: then nothing is signed, and the chain recovers. It is marks.ErrFull where the journal has no
// room: then nothing is signed before something has ended. What another transaction pays that is in the journal and has
// not ended is not signed.
func (g *Guard) Sign(ctx context.Context, lease store.Lease, id bursar.ID) error {
	e, err := g.count(ctx, lease, id)
	switch {
	case errors.Is(err, errMoved):
		return errors.Join(err, g.Look(ctx))
	case errors.Is(err, marks.ErrFull):
		return errors.Join(err, g.alarmFull(ctx))
	case err != nil:
		return err
	}
	release, err := g.DB.Take(ctx, &g.turn)
	if err != nil {
		return err
	}
	defer release()
	if e.Number <= g.Kept().Signed[e.Chain] {
		return g.late(ctx, lease, e)
	}
	return g.raise(ctx, marks.State{Signed: map[string]int64{e.Chain: e.Number}, Journal: []marks.Entry{e}})
}

// count takes the number of a signature, and describes what is signed for the journal.
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
			return fmt.Errorf("spend %s is %s", p.ID, p.Status)
		}
		if e, err = entryOf(ctx, tx, p); err != nil {
			return err
		}
		if other, err := paidBy(ctx, tx, kept, e); err != nil || !other.IsZero() {
			return errors.Join(err, fmt.Errorf("%w: outgoing transaction %s pays it", errPaysAgain, other))
		}
		if err := kept.Room(e); err != nil {
			return err
		}
		e.Number, err = tx.Counters().CountSigned(ctx, lease.Chain)
		return err
	})
	return e, err
}

// late judges a number that the marks have already. While this process leads the chain nobody else takes one: the
// database has stepped back. Else another process that shares the marks has led it since. The caller has the turn.
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
	cause := fmt.Sprintf("the database has stepped back: it knew %d signed transactions of %s, %d are known outside it",
		e.Number-1, e.Chain, g.Kept().Signed[e.Chain])
	now.Signed[e.Chain] = e.Number - 1 // what was counted a moment ago stands for nothing
	if err := g.recover(ctx, now, behind{cause: cause, chains: g.Chains}); err != nil {
		return err
	}
	return fmt.Errorf("%w: %s", ErrBehind, cause)
}

// Unsigned notes that an outgoing transaction was not signed after all, as nobody has its bytes: it may be given up
// again.
func (g *Guard) Unsigned(chain bursar.ChainID, id bursar.ID) {
	g.state.Lock()
	defer g.state.Unlock()
	is := func(e marks.Entry) bool { return e.Chain == string(chain) && e.OutgoingID == id.String() }
	for _, e := range g.kept.Journal {
		if is(e) {
			g.ended = append(g.ended, marks.Ended{Chain: e.Chain, Number: e.Number})
		}
	}
	g.kept.Journal = slices.DeleteFunc(slices.Clone(g.kept.Journal), is)
}

// Signed reports whether an outgoing transaction that the database takes for unsigned may have been signed: then it is
// not given up, and the same draft is signed again.
func (g *Guard) Signed(chain bursar.ChainID, id bursar.ID) bool {
	return slices.ContainsFunc(g.Kept().Journal, func(e marks.Entry) bool {
		return e.Chain == string(chain) && e.OutgoingID == id.String()
	})
}

func (g *Guard) takeEnded() (ended []marks.Ended) {
	g.state.Lock()
	defer g.state.Unlock()
	ended, g.ended = g.ended, nil
	return ended
}

func (g *Guard) addEnded(ended []marks.Ended) {
	g.state.Lock()
	defer g.state.Unlock()
	for _, e := range ended {
		if !slices.Contains(g.ended, e) {
			g.ended = append(g.ended, e)
		}
	}
}

func (g *Guard) alarmFull(ctx context.Context) error {
	g.setFull(true)
	return g.DB.Do(ctx, func(tx *store.Tx) error {
		return tx.Alarms().Raise(ctx, store.Alarm{Kind: alarmFull, Ref: refFull, Message: fmt.Sprintf(
			"the journal beside the marks holds %d payments that were signed and have not ended, and has no room for "+
				"another: nothing is signed before some of them are final; see `bursar doctor`",
			len(g.Kept().Journal))})
	})
}

// endFull ends the alarm about a full journal once there is room, in the transaction of a look. The caller has the
// turn.
func (g *Guard) endFull(ctx context.Context, tx *store.Tx) error {
	g.state.RLock()
	full := g.full
	g.state.RUnlock()
	if !full || g.Kept().Room(marks.Entry{}) != nil {
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
