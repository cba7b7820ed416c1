package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// clockSkew is how far a block's time may lie beside the true one: Bitcoin's rules let it be two hours ahead.
const clockSkew = 2 * time.Hour

// beginning is where a new chain begins: after ref. Since is the time of the oldest wallet where the nodes do not have
// the blocks that followed it, else zero.
type beginning struct {
	ref   chain.BlockRef
	since time.Time
}

// errNothingFinal is returned while a chain with a history does not say what of it is final: it must not be read from
// its first block on for that.
var errNothingFinal = errors.New("no block is final yet by the node's own word, so that the chain cannot begin")

// begin finds the block after which a new chain is followed. That is a final one, so that a reorganisation can never
// reach below it: the configured one, or the newest. Where addresses were handed out before the chain could be asked
// for the first time, it lies before the oldest of them, or as far back as the nodes have blocks.
func (f *Follower) begin(ctx context.Context, state store.ChainState, head chain.Head) (beginning, error) {
	final := head.Final
	if final.Hash == "" && head.Latest.Height > uint64(2*f.Chain.Capabilities().ReorgDepth) {
		return beginning{}, errNothingFinal
	}
	if f.Start != nil {
		return f.after(ctx, final, min(final.Height, max(*f.Start, 1)-1))
	}
	oldest, any, err := f.oldestWallet(ctx)
	if err != nil {
		return beginning{}, err
	}
	if !any {
		return f.after(ctx, final, final.Height)
	}
	if oldest.Before(state.AddedAt) {
		oldest = state.AddedAt // a wallet on this chain is not older than its first configuration
	}
	s := search{f: f, before: oldest.Add(-clockSkew), top: final.Height}
	from, missing, err := s.find(ctx)
	if err != nil {
		return beginning{}, fmt.Errorf("find where the oldest wallet was made: %w", err)
	}
	b, err := f.after(ctx, final, from)
	if missing {
		b.since = oldest
	}
	return b, err
}

// after names the block at a height, which is final or lower.
func (f *Follower) after(ctx context.Context, final chain.BlockRef, height uint64) (b beginning, err error) {
	if b.ref = final; height == final.Height && final.Hash != "" {
		return b, nil
	}
	if b.ref, err = f.Chain.At(ctx, height); err != nil {
		return b,
			fmt.Errorf("find the first block, %d (a node that is pruned may lack it: then start_height must be higher): %w",
				height, err)
	}
	return b, nil
}

func (f *Follower) oldestWallet(ctx context.Context) (at time.Time, any bool, err error) {
	err = f.DB.View(ctx, func(tx *store.Tx) error {
		at, any, err = tx.Wallets().Oldest(ctx, f.Registry.On(f.Chain.Capabilities().ID))
		return err
	})
	return at, any, err
}

// warnOfGap raises an alarm where the nodes do not have all blocks since the oldest wallet.
func (f *Follower) warnOfGap(ctx context.Context, tx *store.Tx, b beginning) error {
	if b.since.IsZero() {
		return nil
	}
	id := f.Chain.Capabilities().ID
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: "history_gap", Ref: string(id), Message: fmt.Sprintf(
		"the oldest wallet on %s is of %s, and the nodes have no blocks from then on: the chain begins after block %d; "+
			"search the blocks before with `bursar chain rescan` at a node that has them", id, b.since.Format(time.RFC3339),
		b.ref.Height)})
}

// search looks for the block after which a chain begins. It goes down from the newest final block in steps that double,
// so that it reads few blocks and none from long before, and takes a block that no node has for the end of what there
// is.
type search struct {
	f      *Follower
	before time.Time
	top    uint64
}

// age is what a block's time says.
type age int

const (
	younger age = iota
	older       // or as old
	missing     // the nodes do not have it
)

// find returns the highest block that is not younger than before, or the one below the lowest that can be read; then it
// reports that blocks are missing.
func (s search) find(ctx context.Context) (height uint64, gap bool, err error) {
	high := s.top // is younger, and can be read
	if of, err := s.read(ctx, high); err != nil || of == older {
		return high, false, err
	}
	low, of := uint64(0), older // the first block counts as old
	for step := uint64(1); step < s.top; step *= 2 {
		if of, err = s.look(ctx, s.top-step); err != nil {
			return 0, false, err
		}
		if of != younger {
			low = s.top - step
			break
		}
		high, of = s.top-step, older
	}
	for high-low > 1 {
		middle := low + (high-low)/2
		found, err := s.look(ctx, middle)
		if err != nil {
			return 0, false, err
		}
		if found == younger {
			high = middle
		} else {
			low, of = middle, found
		}
	}
	if of == missing {
		return high - 1, true, nil
	}
	return low, false, nil
}

// look is read, and tells a block that the nodes lack from nodes that do not answer: they lack it if they cannot give
// it twice and give the top before and between.
func (s search) look(ctx context.Context, height uint64) (age, error) {
	for try := 0; ; try++ {
		of, err := s.read(ctx, height)
		if err == nil {
			return of, nil
		}
		if _, topErr := s.read(ctx, s.top); topErr != nil {
			return 0, topErr
		}
		if try > 0 {
			s.f.Log.Info("block taken for missing", "chain", s.f.Chain.Capabilities().ID, "height", height, "error", err)
			return missing, nil
		}
	}
}

// read compares the time of a block.
func (s search) read(ctx context.Context, height uint64) (age, error) {
	if height == 0 {
		return older, nil
	}
	parent, err := s.f.Chain.At(ctx, height-1)
	if err != nil {
		return 0, fmt.Errorf("find block %d: %w", height-1, err)
	}
	blocks, err := s.f.Chain.After(ctx, parent, 1, s.f.Watch)
	if err != nil {
		return 0, fmt.Errorf("read block %d: %w", height, err)
	}
	if len(blocks) == 0 {
		return 0, fmt.Errorf("read block %d: %w", height, chain.ErrNoBlock)
	}
	if blocks[0].Time.After(s.before) {
		return younger, nil
	}
	return older, nil
}
