package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// finalize notes how far the chain is, has the creditor book what became final up to a height, and notes when the chain
// is ready to be paid on. It reports whether there may be more. Nothing is final while the node's final block is
// another than the one recorded at its height.
func (f *Follower) finalize(
	ctx context.Context, lease store.Lease, head chain.Head, last chain.BlockRef, final uint64,
) (bool, error) {
	id := f.Chain.Capabilities().ID
	at := Finality{Final: final, Latest: max(head.Latest.Height, last.Height)}
	caughtUp := f.ready != lease.Token && f.goal.reached(lease, head, last, final)
	if due, err := f.anythingNew(ctx, at); err != nil || !due && !caughtUp && f.recovery.Number == 0 {
		return false, err
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
		if err := f.checkFinal(ctx, tx, head.Final); err != nil {
			return err
		}
		if err := tx.Chains().SetHead(ctx, id, at.Latest, final); err != nil {
			return err
		}
		if err := f.carryOn(ctx, tx, lease, recovered{caughtUp || f.ready == lease.Token, caughtUp, at.Latest,
			final}); err != nil {
			return err
		}
		credited, more, err = f.Creditor.Credit(ctx, tx, at)
		return err
	})
	if err != nil {
		return false, fmt.Errorf("credit up to block %d: %w", final, err)
	}
	if caughtUp {
		f.ready = lease.Token
		f.Log.Info("chain is caught up", "chain", id, "token", lease.Token, "final", final)
	}
	if (credited > 0 || caughtUp) && f.Advanced != nil {
		f.Advanced()
	}
	return more, nil
}

// headAge is how long a head that does not change may go unnoted.
const headAge = 5 * time.Second

// anythingNew reports whether there is a head to note or anything to book, so that an idle chain writes nothing.
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

// checkFinal compares the node's final block with the one recorded at its height, where one is.
func (f *Follower) checkFinal(ctx context.Context, tx *store.Tx, final chain.BlockRef) error {
	if final.Hash == "" {
		return nil // nothing is final yet
	}
	b, err := tx.Blocks().At(ctx, f.Chain.Capabilities().ID, final.Height)
	if errors.Is(err, store.ErrNotFound) {
		return nil // above the cursor, or older than what is remembered
	}
	if err == nil && b.Hash != final.Hash {
		err = fmt.Errorf("the node's final block %d is %s, recorded is %s", final.Height, final.Hash, b.Hash)
	}
	return err
}
