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

// refuseNotHeld gives ErrNotHeld to entries that end an order whose money is not held, by the entries that are in the
// books, and by those before it in the list.
func (tx *Tx) refuseNotHeld(ctx context.Context, entries []ledger.Entry, errs []error) error {
	ends, taken := map[bursar.ID]int{}, map[bursar.ID]bool{}
	var ids []bursar.ID
	for i, e := range entries {
		if id, takes := ledger.Takes(e); takes {
			taken[id] = true
		}
		id, is := ledger.Ends(e)
		if _, twice := ends[id]; is && twice {
			errs[i] = fmt.Errorf("%w: %s ends %s, which another entry ends", ErrNotHeld, e.Kind, id)
		} else if is && !taken[id] {
			ends[id], ids = i, append(ids, id)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	why, err := tx.Withdrawals().NotHeld(ctx, ids...)
	for id, reason := range why {
		errs[ends[id]] = fmt.Errorf("%w: of %s %s, %s", ErrNotHeld, entries[ends[id]].Kind, id, reason)
	}
	return err
}
