package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// provenFinal returns the height up to which the recorded blocks are final, of which last is the last one. The node's
// final block proves them if it is one of them, which checkFinal finds out by its hash. While it is above them, it
// proves nothing of them: they may be from another endpoint, or another backend behind the same address, that is stuck
// on a branch which was replaced, and goes on to call the blocks of that branch its own. Then only what was final
// before is final, and what is further below the last block than any branch is long that can be replaced.
func (f *Follower) provenFinal(head chain.Head, last chain.BlockRef) uint64 {
	if head.Final.Height <= last.Height {
		return head.Final.Height
	}
	depth := min(last.Height, uint64(max(f.Chain.Capabilities().ReorgDepth, 1)))
	return max(last.Height-depth, min(f.memory.recordedFinal, last.Height))
}

// finalize records the head and the final height, has the creditor book what became final, and records when payments
// may go on. It reports whether there may be more. Nothing is final while the node's final block differs from the one
// recorded at its height.
func (f *Follower) finalize(
	ctx context.Context, lease store.Lease, head chain.Head, last chain.BlockRef, final uint64,
) (bool, error) {
	id := f.Chain.Capabilities().ID
	at := Finality{Final: final, Latest: max(head.Latest.Height, last.Height)}
	caughtUp := f.memory.readyToken != lease.Token && f.memory.goal.reached(lease, head, last, final)
	due := f.memory.moreToBook
	if !due {
		var err error
		if due, err = f.anythingNew(ctx, at); err != nil || !due && !caughtUp && f.memory.recovery.Number == 0 {
			return false, err
		}
	}
	var credited int
	var more bool
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		if state.Hash != last.Hash {
			return errMoved
		}
		if err := f.checkFinal(ctx, tx, head.Final, last); err != nil {
			return err
		}
		if err := tx.Chains().SetHead(ctx, id, at.Latest, final); err != nil {
			return err
		}
		if err := f.recordReady(ctx, tx, lease, readiness{
			ready:  caughtUp || f.memory.readyToken == lease.Token,
			now:    caughtUp,
			latest: at.Latest,
			final:  final,
		}); err != nil {
			return err
		}
		credited, more, err = f.Creditor.Credit(ctx, tx, at)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("credit up to block %d: %w", final, err)
	}
	f.memory.moreToBook = more
	if caughtUp {
		f.memory.readyToken = lease.Token
		f.Log.Info("chain is caught up", "chain", id, "token", lease.Token, "final", final)
	}
	if (credited > 0 || caughtUp) && f.Advanced != nil {
		f.Advanced()
	}
	return more, nil
}

// headAge is how long an unchanged head may go unrecorded.
const headAge = 5 * time.Second

// anythingNew reports whether there is a head to record or anything to book, so that an idle chain writes nothing.
func (f *Follower) anythingNew(ctx context.Context, at Finality) (due bool, err error) {
	id := f.Chain.Capabilities().ID
	err = f.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, id)
		if err != nil {
			return err
		}
		if due = state.Latest != at.Latest || state.Final != at.Final || tx.Now().Sub(state.CheckedAt) > headAge; due {
			return nil
		}
		due, err = f.Creditor.AnyDue(ctx, tx, at)
		return err
	})
	return due, err
}

// checkFinal compares the node's final block with the block recorded at its height, if it is one of the recorded
// blocks, the last of which is last, and not older than the stored ones.
func (f *Follower) checkFinal(ctx context.Context, tx *store.Tx, final, last chain.BlockRef) error {
	if final.Hash == "" || final.Height > last.Height {
		return nil // nothing is final yet, or nothing of this is recorded yet
	}
	id := f.Chain.Capabilities().ID
	b, err := tx.Blocks().At(ctx, id, final.Height)
	if errors.Is(err, store.ErrNotFound) {
		older, err := tx.Blocks().AnyBelow(ctx, id, final.Height)
		if err == nil && older { // on a chain that skips heights, the recorded branch has none there
			err = fmt.Errorf("the node's final block %d is %s, but no block is recorded at that height, although there are "+
				"earlier and later ones", final.Height, final.Hash)
		}
		return err
	}
	if err == nil && b.Hash != final.Hash {
		err = fmt.Errorf("the node's final block %d is %s, but the recorded block is %s", final.Height, final.Hash, b.Hash)
	}
	return err
}
