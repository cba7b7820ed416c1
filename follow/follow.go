// Package follow follows a chain block by block and keeps the database consistent with the block at its cursor.
//
// It owns the cursor of each chain: it reads blocks in their order, has its BlockHandlers write what each block brought
// in the database transaction that moves the cursor, has them undo it when the block is reorged out, and determines
// what is final. It decides nothing about deposits or payments, and never signs or sends anything. Its invariants: the
// cursor moves only with everything its block brought; a block is undone as a whole, in the database transaction that
// moves the cursor back; only recorded blocks are final here; a chain is ready for payments only once it is recorded up
// to what was final when its lease was acquired.
package follow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/panics"
	"github.com/bursar/bursar/store"
)

// Config is what the follower of one chain is made of. Nothing of it changes while the follower runs.
type Config struct {
	DB       *store.DB
	Chain    chain.Chain
	Watch    *Watch
	Registry *bursar.Registry
	Log      *slog.Logger
	Hot      string        // the hot wallet's address on the chain; empty if wallets share it
	Start    *uint64       // the first block of a new database; nil: the block after the current final block
	Pace     time.Duration // between two polls; 0: Capabilities.Pace

	Handlers []BlockHandler // apply a block in this order and undo it in the reverse order
	Creditor Creditor

	Wake     <-chan struct{} // a hint that there may be a new block; may be nil
	Advanced func()          // called after a commit that recorded a transfer, credited or made the chain ready

	// Current reports whether it is known from outside the database that the database is not older than the chain; nil:
	// it is not known. If it is not known, the database may be older until the follower has caught up.
	Current func() bool
	// Wait is how long nothing is signed after a recovery began, on a chain whose transactions do not expire.
	Wait chain.Lifetime

	// KnownFinal returns the highest final height of the chain that is known outside the database; nil: no height is
	// known. Nothing is signed before the chain is recorded up to it.
	KnownFinal func() uint64
}

// Follower follows one chain while its process holds the chain lease.
type Follower struct {
	Config
	memory memory // of the goroutine that steps
	pipe   *pipe  // reads ahead while Run runs; nil: Step reads what it records itself
	blocks atomic.Uint64
}

// New returns a follower that remembers nothing yet.
func New(c Config) *Follower { return &Follower{Config: c, memory: newMemory()} }

// Recorded returns the number of blocks recorded since the start. It may be called at any time.
func (f *Follower) Recorded() uint64 { return f.blocks.Load() }

// patience is the longest pause before a chain that could not be followed is tried again: a node that returns is used
// within a second.
const patience = time.Second

// Run follows the chain until ctx ends or the lease is lost. It retries while a node or the database is unavailable,
// and until then the database says why the chain is not followed.
func (f *Follower) Run(ctx context.Context, lease store.Lease) error {
	f.pipe, f.memory.failureNote = &pipe{}, unknownNote
	defer f.pipe.stop()
	f.Creditor.Begin(ctx, lease)
	return Guarded(func() error { return f.follow(ctx, lease) })
}

// Guarded turns a panic into an error, because nothing else recovers a panic in a goroutine that asks a node.
func Guarded(work func() error) error { return panics.CatchWithStack("a follower", work) }

func (f *Follower) follow(ctx context.Context, lease store.Lease) error {
	return store.Work{
		Pace: cmp.Or(f.Pace, f.Chain.Capabilities().Pace), Patience: patience, Wake: f.Wake,
		Step: func(ctx context.Context) (bool, error) {
			more, err := f.Step(ctx, lease)
			if err == nil {
				f.noteSuccess(ctx, lease)
			}
			return more, err
		},
		Failed: func(failures int, err error) { f.noteFailure(ctx, lease, failures, err) },
	}.Run(ctx)
}

// Step reads the chain once: it undoes one block that was reorged out, or records the blocks that follow the cursor and
// credits what is final. It reports whether more is known to be left. The head is read once, and not again while blocks
// up to it are left: at the tip a step costs one Head, and one After if there is a new block.
func (f *Follower) Step(ctx context.Context, lease store.Lease) (more bool, err error) {
	head, err := f.latestHead(ctx, lease)
	if err != nil {
		return false, fmt.Errorf("read the head: %w", err)
	}
	f.memory.blocksPending = false // until this step has ended well
	last, err := f.cursor(ctx, lease, head)
	if err != nil {
		return false, err
	}
	f.setGoal(ctx, lease, head)
	w, err := f.nextWindow(ctx, head, last)
	if errors.Is(err, chain.ErrOffChain) {
		return true, f.undo(ctx, lease, last)
	}
	if err != nil {
		return false, fmt.Errorf("read blocks after %d: %w", last.Height, err)
	}
	found := len(w.blocks) > 0
	if last, err = f.recordAll(ctx, lease, last, w.blocks); err != nil {
		return false, err
	}
	if !found && head.Final.Height > last.Height {
		// The endpoint returned no blocks, although there are some: it may not know the cursor's block, which may be on
		// a branch that was replaced. Nothing becomes final from that answer.
		return false, nil
	}
	credited, err := f.finalize(ctx, lease, head, last, f.provenFinal(head, last))
	if err != nil {
		return false, err
	}
	f.memory.blocksPending = found && last.Height < head.Latest.Height
	return f.memory.blocksPending || credited, nil
}

// latestHead reads the head, unless blocks are left up to a head that was read a moment ago under this lease.
func (f *Follower) latestHead(ctx context.Context, lease store.Lease) (head chain.Head, err error) {
	if f.memory.blocksPending && f.memory.goal.token == lease.Token && f.DB.Now().Sub(f.memory.headReadAt) < headAge {
		return f.memory.lastHead, nil
	}
	if head, err = f.Chain.Head(ctx); err != nil {
		return head, err
	}
	f.memory.lastHead, f.memory.headReadAt = head, f.DB.Now()
	return head, nil
}

// cursor returns the last recorded block, and begins a new chain if there is none.
func (f *Follower) cursor(ctx context.Context, lease store.Lease, head chain.Head) (chain.BlockRef, error) {
	id := f.Chain.Capabilities().ID
	var state store.ChainState
	err := f.DB.View(ctx, func(tx *store.Tx) (err error) {
		if state, err = tx.Chains().State(ctx, id); err != nil {
			return err
		}
		f.memory.recordedFinal = state.Final
		return f.readRecovery(ctx, tx)
	})
	if err != nil || state.Height >= 0 {
		return chain.BlockRef{Height: uint64(max(state.Height, 0)), Hash: state.Hash}, err
	}
	first, err := f.begin(ctx, state, head)
	if err != nil {
		return first.ref, err
	}
	f.Log.Info("chain begins", "chain", id, "height", first.ref.Height, "hash", first.ref.Hash)
	return first.ref, f.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		if err := f.warnOfGap(ctx, tx, first); err != nil {
			return err
		}
		return tx.Chains().SetCursor(ctx, id, int64(first.ref.Height), first.ref.Hash)
	})
}
