package follow

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// errMoved says that the cursor is not where the step began; the next step begins where the cursor is.
var errMoved = errors.New("the cursor has moved since the step began")

// contentsAtOnce bounds how many transfers and transactions one database transaction records, so that it ends soon.
const contentsAtOnce = 200

// recordAll records blocks in their order and returns the last one that was recorded. While catching up, many blocks
// share a database transaction: the cursor still moves only with everything that they brought. If that fails, they are
// recorded one by one, so that the good ones are recorded and the error names the failing block.
func (f *Follower) recordAll(
	ctx context.Context, lease store.Lease, last chain.BlockRef, blocks []chain.Block,
) (chain.BlockRef, error) {
	for len(blocks) > 0 {
		n := blocksTogether(blocks)
		err := f.record(ctx, lease, blocks[:n])
		var forgotten *ForgottenError
		if err != nil && n > 1 && !errors.As(err, &forgotten) && !errors.Is(err, store.ErrLeaseLost) && ctx.Err() == nil {
			n = 1
			err = f.record(ctx, lease, blocks[:n])
		}
		if errors.As(err, &forgotten) {
			f.memory.unknownTxs[forgotten.TxID] = true
			f.Watch.Forget()
		}
		if err != nil {
			return last, fmt.Errorf("record block %d: %w", blocks[0].Ref.Height, err)
		}
		clear(f.memory.unknownTxs)
		f.blocks.Add(uint64(n))
		last, blocks = blocks[n-1].Ref, blocks[n:]
	}
	return last, nil
}

// blocksTogether returns how many of the blocks fit into one database transaction.
func blocksTogether(blocks []chain.Block) int {
	contents := 0
	for i, b := range blocks {
		if contents += len(b.Transfers) + len(b.Included); contents > contentsAtOnce {
			return max(i, 1)
		}
	}
	return len(blocks)
}

// record writes blocks that follow the cursor and everything they brought, and moves the cursor to the last one, in one
// database transaction.
func (f *Follower) record(ctx context.Context, lease store.Lease, blocks []chain.Block) error {
	capabilities := f.Chain.Capabilities()
	var arrived bool
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		links := make([]store.Block, len(blocks))
		parent, height := state.Hash, state.Height
		for i, b := range blocks {
			if parent != b.Parent || height >= int64(b.Ref.Height) {
				return errMoved
			}
			parent, height = b.Ref.Hash, int64(b.Ref.Height)
			links[i] = store.Block{Height: b.Ref.Height, Hash: b.Ref.Hash, Parent: b.Parent, Time: b.Time}
		}
		if err := tx.Blocks().PushAll(ctx, capabilities.ID, links, 2*capabilities.ReorgDepth); err != nil {
			return err
		}
		if err := f.countRecovery(ctx, tx, blocks); err != nil {
			return err
		}
		for _, b := range blocks {
			arrived = arrived || len(b.Transfers) > 0
			if err := f.apply(ctx, tx, b); err != nil {
				return err
			}
		}
		return nil
	})
	if err == nil && arrived && f.Advanced != nil {
		f.Advanced()
	}
	return err
}

// apply has the handlers write what a block brought. Applying the same block again changes nothing.
func (f *Follower) apply(ctx context.Context, tx *store.Tx, b chain.Block) error {
	if len(b.Transfers)+len(b.Included)+len(b.ExternalSpends)+len(b.Anomalies)+len(b.Spent) == 0 {
		return nil // true of nearly every block
	}
	block, err := f.blockOf(ctx, tx, b)
	if err != nil {
		return err
	}
	for _, h := range f.Handlers {
		if err := h.Apply(ctx, tx, block); err != nil {
			return err
		}
	}
	return f.recordAnomalies(ctx, tx, b)
}
