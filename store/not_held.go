package store

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
)

// ErrNotHeld is returned for an entry that would end an order for which the books hold nothing, or nothing any more:
// others' holds would pay for it. The status of an order is in a row that anybody who writes to the database can
// change.
var ErrNotHeld = errors.New("the books hold no money for this order")

// NotHeld says why the books hold no money for orders, by the names of their entries: nothing was held, or they have
// ended. Those whose money is held are not in the map. ids are as in NotOwed.
func (tx Withdrawals) NotHeld(ctx context.Context, ids ...bursar.ID) (map[bursar.ID]string, error) {
	holds, ended, again, err := tx.holdsOf(ctx, ids)
	if err != nil {
		return nil, err
	}
	why := map[bursar.ID]string{}
	for _, id := range ids {
		if _, is := holds[id]; !is {
			why[id] = nothingHeld
		}
	}
	return why, tx.addEnded(ctx, why, ids, ended, again)
}

// refuseNotHeld gives ErrNotHeld to entries that end an order whose money is not held, by the entries that are in the
// books, and by those before it in the list.
func (tx *Tx) refuseNotHeld(ctx context.Context, entries []ledger.Entry, errs []error) error {
	held, ended := map[bursar.ID]bool{}, map[bursar.ID]bool{} // by the list
	inBooks := map[bursar.ID]int{}                            // which entry ends what must be held by the books
	var ids []bursar.ID
	for i, e := range entries {
		if id, takes := ledger.Takes(e); takes {
			held[id] = true
		}
		id, ends := ledger.Ends(e)
		switch {
		case !ends:
			continue
		case ended[id]:
			errs[i] = fmt.Errorf("%w: %s ends %s, which another entry ends", ErrNotHeld, e.Kind, id)
		case !held[id]:
			inBooks[id], ids = i, append(ids, id)
		}
		ended[id] = true
	}
	if len(ids) == 0 {
		return nil
	}
	why, err := tx.Withdrawals().NotHeld(ctx, ids...)
	for id, reason := range why {
		i := inBooks[id]
		errs[i] = fmt.Errorf("%w: of %s %s, %s", ErrNotHeld, entries[i].Kind, id, reason)
	}
	return err
}
