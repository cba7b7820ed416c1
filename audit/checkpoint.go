package audit

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// checkpointsAtOnce bounds the checkpoints that VerifyAll reads with one statement.
const checkpointsAtOnce = 100

// readCheckpoints verifies what is left of the entries under the next checkpoint, in turn over all checkpoints, and
// that the newest one was written by this service: the rest of the audit begins there.
func (a *Auditor) readCheckpoints(ctx context.Context, tx *store.Tx, f *findings) error {
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil || newest.Link == 0 {
		return err
	}
	if newest.Altered {
		f.faultCheckpoint(newest)
		return nil
	}
	next, err := tx.Checkpoints().After(ctx, a.checkpoints, 1)
	if missing(err) {
		f.fault(faultCheckpoint, fmt.Sprint(a.checkpoints), "the checkpoint of the books at link %d is missing",
			a.checkpoints)
		a.checkpoints = 0
		return nil
	}
	if a.checkpoints = 0; err != nil || len(next) == 0 {
		return err
	}
	holds, err := tx.Checkpoints().Holds(ctx, next[0])
	if err != nil {
		return err
	}
	if !holds {
		f.faultCheckpoint(next[0])
	}
	a.checkpoints = next[0].Link
	return nil
}

// startOver restarts an audit whose own rows were lost at the newest checkpoint, with the archived sums, if both verify
// under the key. Without it the audit would begin with links whose postings are in archives. It reads all archived sums
// at once, since they verify only as a whole. over reports whether it restarted, or found that it must not.
func (a *Auditor) startOver(ctx context.Context, tx *store.Tx, f *findings) (over bool, err error) {
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil || f.from.Link >= newest.Link {
		return false, err
	}
	holds, err := tx.Checkpoints().Holds(ctx, newest)
	if err != nil {
		return true, err
	}
	if !holds {
		f.faultCheckpoint(newest)
		return true, nil
	}
	sums := map[ledger.Key]store.Posted{}
	hold, err := tx.Checkpoints().EachSum(ctx, newest, func(k ledger.Key, p store.Posted) { sums[k] = p })
	if err != nil {
		return true, err
	}
	if !hold {
		f.faultArchived(newest)
		return true, nil
	}
	for k, p := range sums {
		p.Unchecked = true
		f.sums[k] = p
	}
	f.to.Link, f.to.Hash, f.more = newest.Link, newest.Hash, newest.Link < f.head.Number
	return true, nil
}

func (f *findings) faultArchived(newest store.Checkpoint) {
	f.fault(faultArchived, "", "the sums of the archived postings up to link %d of the books are not those that were "+
		"written when they were archived", newest.Link)
}

func (f *findings) faultCheckpoint(c store.Checkpoint) {
	f.fault(faultCheckpoint, fmt.Sprint(c.Link),
		"what stays of the archived links %d to %d of the books is not what was there when they were archived: an entry, an "+
			"order or the checkpoint itself was changed, added or removed", c.First, c.Link)
}

// checkpointBroken checks a fault of a checkpoint again.
func (a *Auditor) checkpointBroken(ctx context.Context, tx *store.Tx, link int64) (bool, error) {
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil || newest.Altered {
		return true, err
	}
	for at := int64(0); ; {
		list, err := tx.Checkpoints().After(ctx, at, checkpointsAtOnce)
		if err != nil {
			return true, err
		}
		for _, c := range list {
			if at = c.Link; c.Altered {
				return true, nil
			}
			if c.Link == link {
				holds, err := tx.Checkpoints().Holds(ctx, c)
				return !holds, err
			}
		}
		if len(list) == 0 {
			return true, nil // it is missing
		}
	}
}

// verifyCheckpoints verifies all checkpoints with what is left of their links, and the archived sums, and returns where
// the rest of the books begins.
func (a *Auditor) verifyCheckpoints(ctx context.Context, tx *store.Tx, f *findings) (begin store.Link, err error) {
	var newest store.Checkpoint
	for {
		list, err := tx.Checkpoints().After(ctx, newest.Link, checkpointsAtOnce)
		if err != nil {
			return begin, err
		}
		for _, c := range list {
			holds, err := tx.Checkpoints().Holds(ctx, c)
			if err != nil {
				return begin, err
			}
			if !holds {
				f.faultCheckpoint(c)
			}
			newest = c
		}
		if len(list) == 0 {
			break
		}
	}
	f.sums = map[ledger.Key]store.Posted{} // which the trial balance verifies
	_, err = tx.Checkpoints().EachSum(ctx, newest, func(k ledger.Key, p store.Posted) { f.sums[k] = p })
	return newest.At(), err
}

// trialOfArchives verifies the sums of what is archived.
func (a *Auditor) trialOfArchives(ctx context.Context, tx *store.Tx, f *findings) error {
	newest, err := tx.Checkpoints().Newest(ctx)
	if err != nil {
		return err
	}
	hold, err := tx.Checkpoints().EachSum(ctx, newest, func(ledger.Key, store.Posted) {})
	if err == nil && !hold {
		f.faultArchived(newest)
	}
	return err
}
