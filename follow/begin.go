package follow

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// clockSkew is how far a block's time may differ from the true time: Bitcoin's rules allow it to be two hours ahead.
const clockSkew = 2 * time.Hour

// beginning says where following a new chain begins: after ref. If the nodes lack the blocks since the oldest wallet
// was made, Since is the time of that wallet, otherwise zero.
type beginning struct {
	ref   chain.BlockRef
	since time.Time
}

// errNothingFinal is returned while a chain that has a history reports no final block: it must not be read from its
// first block just for that reason.
var errNothingFinal = errors.New("the node reports no final block yet, so the chain cannot begin")

// begin finds the block after which a new chain is followed. It is a final block, so that a reorg can never reach below
// it: the configured one, or the newest. If addresses were handed out before the chain was asked for the first time, it
// is a block before the oldest of them, or as far back as the nodes have blocks.
func (f *Follower) begin(ctx context.Context, state store.ChainState, head chain.Head) (beginning, error) {
	final := head.Final
	if final.Hash == "" && head.Latest.Height > uint64(2*f.Chain.Capabilities().ReorgDepth) {
		return beginning{}, errNothingFinal
	}
	if f.Start != nil {
		return f.blockAt(ctx, final, min(final.Height, max(*f.Start, 1)-1))
	}
	oldest, found, err := f.oldestWallet(ctx)
	if err != nil {
		return beginning{}, err
	}
	if !found {
		return f.blockAt(ctx, final, final.Height)
	}
	if oldest.Before(state.AddedAt) {
		oldest = state.AddedAt // a wallet on this chain is not older than its first configuration
	}
	s := search{f: f, before: oldest.Add(-clockSkew), top: final.Height}
	from, missing, err := s.find(ctx)
	if err != nil {
		return beginning{}, fmt.Errorf("find the block at which the oldest wallet was made: %w", err)
	}
	b, err := f.blockAt(ctx, final, from)
	if missing {
		b.since = oldest
	}
	return b, err
}

// blockAt returns the block at a height that is not above the final one.
func (f *Follower) blockAt(ctx context.Context, final chain.BlockRef, height uint64) (b beginning, err error) {
	if b.ref = final; height == final.Height && final.Hash != "" {
		return b, nil
	}
	if b.ref, err = f.Chain.At(ctx, height); err != nil {
		return b,
			fmt.Errorf("find the first block, %d (a pruned node may lack it: then raise start_height): %w",
				height, err)
	}
	return b, nil
}

func (f *Follower) oldestWallet(ctx context.Context) (at time.Time, found bool, err error) {
	err = f.DB.View(ctx, func(tx *store.Tx) error {
		at, found, err = tx.Wallets().Oldest(ctx, f.Registry.On(f.Chain.Capabilities().ID))
		return err
	})
	return at, found, err
}

// warnOfGap raises an alarm if the nodes lack blocks since the oldest wallet was made.
func (f *Follower) warnOfGap(ctx context.Context, tx *store.Tx, b beginning) error {
	if b.since.IsZero() {
		return nil
	}
	id := f.Chain.Capabilities().ID
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: id, Kind: "history_gap", Ref: string(id), Message: fmt.Sprintf(
		"the oldest wallet on %s was made at %s, and the nodes lack blocks since then: the chain begins after block %d; "+
			"search the earlier blocks with `bursar chain rescan` at a node that has them", id, b.since.Format(time.RFC3339),
		b.ref.Height)})
}

// search finds the block after which a chain begins. It goes down from the newest final block in steps that double, so
// that it reads few blocks and none from long before. A block that no node has counts as the end of the history.
type search struct {
	f      *Follower
	before time.Time
	top    uint64
}

// age is the result of comparing a block's time with a given time.
type age int

const (
	younger age = iota
	older       // or equally old
	missing     // the nodes do not have the block
)

// find returns the highest block that is not younger than before. If such a block cannot be read, it returns the one
// below the lowest block that can be read, and reports that blocks are missing.
func (s search) find(ctx context.Context) (height uint64, gap bool, err error) {
	high := s.top // is younger and can be read
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

// look is read, and distinguishes a block that the nodes lack from nodes that do not answer: they lack the block if
// they fail to return it twice and return the top block before and in between.
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
			s.f.Log.Info("block counts as missing", "chain", s.f.Chain.Capabilities().ID, "height", height, "error", err)
			return missing, nil
		}
	}
}

// read compares the time of a block with a given time.
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
