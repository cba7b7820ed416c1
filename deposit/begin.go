package deposit

import (
	"context"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// clockSkew is how far a block's time may lie beside the true one: Bitcoin's rules let it be two hours ahead.
const clockSkew = 2 * time.Hour

// begin finds the block after which a new chain is followed. That is a final one, so that a reorganisation can never reach
// below it: the configured one, or the newest. Where addresses were handed out before the chain could be asked for the
// first time, it lies before the oldest of them.
func (f *Follower) begin(ctx context.Context, final chain.BlockRef) (chain.BlockRef, error) {
	from := final.Height
	if f.Start != nil {
		from = min(from, max(*f.Start, 1)-1)
	} else {
		oldest, any, err := f.oldestWallet(ctx)
		if err != nil {
			return chain.BlockRef{}, err
		}
		if any {
			if from, err = f.heightBefore(ctx, oldest.Add(-clockSkew), from); err != nil {
				return chain.BlockRef{}, err
			}
		}
	}
	ref, err := f.Chain.At(ctx, from)
	if err != nil {
		return ref, fmt.Errorf("find the first block: %w", err)
	}
	return ref, nil
}

func (f *Follower) oldestWallet(ctx context.Context) (at time.Time, any bool, err error) {
	err = f.DB.View(ctx, func(tx *store.Tx) error {
		at, any, err = tx.OldestWallet(ctx, f.Registry.On(f.Chain.Traits().ID))
		return err
	})
	return at, any, err
}

// heightBefore searches for the highest block up to top that is not younger than a time, or 0.
func (f *Follower) heightBefore(ctx context.Context, at time.Time, top uint64) (uint64, error) {
	low, high := uint64(0), top
	for low < high {
		middle := low + (high-low+1)/2
		younger, err := f.youngerThan(ctx, middle, at)
		if err != nil {
			return 0, err
		}
		if younger {
			high = middle - 1
		} else {
			low = middle
		}
	}
	return low, nil
}

func (f *Follower) youngerThan(ctx context.Context, height uint64, at time.Time) (bool, error) {
	before, err := f.Chain.At(ctx, height-1)
	if err != nil {
		return false, fmt.Errorf("find block %d: %w", height-1, err)
	}
	blocks, err := f.Chain.After(ctx, before, 1, f.Watch)
	if err != nil {
		return false, fmt.Errorf("read block %d: %w", height, err)
	}
	return len(blocks) > 0 && blocks[0].Time.After(at), nil
}
