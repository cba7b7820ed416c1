package follow

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// Rescan searches recorded blocks again, from one height to another, and returns how many it searched. What is known
// already is left unchanged; what was missed is recorded and credited by the follower. It needs no lease: each block is
// checked against the cursor in the database transaction that writes.
func (f *Follower) Rescan(ctx context.Context, from, to uint64) (int, error) {
	before, err := f.Chain.At(ctx, max(from, 1)-1)
	if err != nil {
		return 0, fmt.Errorf("find block %d: %w", max(from, 1)-1, err)
	}
	searched := 0
	for before.Height < to {
		blocks, err := f.Chain.After(ctx, before, blocksAtOnce, f.Watch)
		if err != nil {
			return searched, fmt.Errorf("read blocks after %d: %w", before.Height, err)
		}
		for _, b := range blocks {
			if b.Ref.Height > to {
				return searched, nil
			}
			done, err := f.rescanBlock(ctx, b)
			if err != nil || !done {
				return searched, err
			}
			before = b.Ref
			searched++
		}
		if len(blocks) == 0 {
			return searched, nil
		}
	}
	return searched, nil
}

// RescanTx searches the block that holds a transaction again.
func (f *Follower) RescanTx(ctx context.Context, txID string) (chain.BlockRef, error) {
	ref, err := f.Chain.Find(ctx, txID)
	if err != nil {
		return chain.BlockRef{}, fmt.Errorf("find transaction %s: %w", txID, err)
	}
	_, err = f.Rescan(ctx, ref.Height, ref.Height)
	return ref, err
}

// rescanBlock records a block's contents if the cursor has passed it; it reports false for a block that the follower
// has not reached.
func (f *Follower) rescanBlock(ctx context.Context, b chain.Block) (passed bool, err error) {
	id := f.Chain.Capabilities().ID
	err = f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().Lock(ctx, id)
		if err != nil {
			return err
		}
		if passed = int64(b.Ref.Height) <= state.Height; !passed {
			return nil
		}
		if b.Transfers, err = f.unreadTransfers(ctx, tx, b); err != nil {
			return err
		}
		recorded, err := tx.Blocks().At(ctx, id, b.Ref.Height)
		switch {
		case errors.Is(err, store.ErrNotFound) && b.Ref.Height <= state.Final:
			return f.apply(ctx, tx, b)
		case err != nil:
			return fmt.Errorf("block %d is not final and not recorded: %w", b.Ref.Height, err)
		case recorded.Hash != b.Ref.Hash:
			return fmt.Errorf("block %d is %s on the node and %s in the database: let the follower undo or record it first",
				b.Ref.Height, b.Ref.Hash, recorded.Hash)
		}
		return f.apply(ctx, tx, b)
	})
	return passed, err
}

// unreadTransfers returns a block's transfers except those that an earlier reading may have recorded under other names:
// what contracts sent to an address is recorded from only one reading of a block, since a trace and a comparison of
// balances split the same sum differently.
func (f *Follower) unreadTransfers(ctx context.Context, tx *store.Tx, b chain.Block) ([]chain.Transfer, error) {
	if !slices.ContainsFunc(b.Transfers, func(t chain.Transfer) bool { return t.Internal }) {
		return b.Transfers, nil
	}
	recorded, err := tx.Deposits().InBlock(ctx, f.Chain.Capabilities().ID, b.Ref.Height)
	if err != nil {
		return nil, err
	}
	read := map[string]bool{}
	for _, d := range recorded {
		if d.Contract == "" && d.Output > 0 {
			read[d.Address.Base] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(b.Transfers), func(t chain.Transfer) bool {
		return t.Internal && read[t.Address.Base]
	}), nil
}
