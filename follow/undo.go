package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// undo removes the cursor's block, in one database transaction: the handlers undo what it brought, in reverse order,
// and the cursor moves to its parent.
func (f *Follower) undo(ctx context.Context, lease store.Lease, last chain.BlockRef) error {
	id := f.Chain.Capabilities().ID
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		if state.Hash != last.Hash {
			return errMoved
		}
		block, err := tx.Blocks().At(ctx, id, last.Height)
		if errors.Is(err, store.ErrNotFound) {
			return f.tooDeep(last)
		}
		if err != nil {
			return err
		}
		for _, h := range slices.Backward(f.Handlers) {
			if err := h.Undo(ctx, tx, RolledBackBlock{last.Height, state}); err != nil {
				return err
			}
		}
		if err := f.uncountRecovery(ctx, tx, last.Height); err != nil {
			return err
		}
		return tx.Blocks().RollBack(ctx, id, block)
	})
	if err != nil {
		return fmt.Errorf("undo block %d: %w", last.Height, err)
	}
	f.Log.Warn("block reorged out", "chain", id, "height", last.Height, "hash", last.Hash)
	return nil
}

// tooDeep returns the error for a reorg deeper than the stored block history, which needs an operator.
func (f *Follower) tooDeep(last chain.BlockRef) error {
	return fmt.Errorf("block %d (%s) is not on the node's chain and its parent is not recorded: the node follows "+
		"another chain, or the reorg is deeper than %d blocks",
		last.Height, last.Hash, f.Chain.Capabilities().ReorgDepth)
}
