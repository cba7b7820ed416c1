// Package deposit turns blocks into deposits and final deposits into credits.
//
// It owns the follower of each chain: reading blocks in order, recording what arrived in the transaction that moves the
// cursor, crediting what became final, and taking back what left the chain. It never signs or sends anything. Its
// invariants: the cursor moves only with everything its block brought; a credit is posted in the transaction that marks
// the deposit and records its event; nothing is credited from a block that is not final and recorded.
package deposit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// blocksAtOnce bounds how many blocks are held in memory while catching up.
const blocksAtOnce = 16

// Rates tells what a whole unit of a currency is worth in USDT; the zero Rate where that is not known now. It answers from
// memory, as it is asked within a transaction.
type Rates interface {
	Rate(code bursar.Code) bursar.Rate
}

// Follower follows one chain for as long as its process leads it.
type Follower struct {
	DB       *store.DB
	Chain    chain.Chain
	Watch    *Watch
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Hot      string  // our own address on the chain; empty where wallets share it
	Start    *uint64 // the first block of a new database; nil: whatever follows the final block of now
	Pace     time.Duration

	Rates    Rates           // nil: no event tells what a charge's money is worth
	Wake     <-chan struct{} // a hint that there may be a new block; may be nil
	Credited func()          // called after a commit that recorded events or made anything final
}

// Run follows the chain until ctx ends or the lease is lost. A node or a database that is away is waited for.
func (f *Follower) Run(ctx context.Context, lease store.Lease) error {
	traits := f.Chain.Traits()
	return store.Work{
		Pace: cmp.Or(f.Pace, traits.Pace), Wake: f.Wake,
		Step: func(ctx context.Context) (bool, error) { return f.Step(ctx, lease) },
		Failed: func(failures int, err error) {
			f.Log.Warn("chain cannot be followed now", "chain", traits.ID, "failures", failures, "error", err)
		},
	}.Run(ctx)
}

// Step reads the chain once: it takes back one block that left the chain, or records the blocks that follow the cursor
// and credits what is final. It reports whether more is to be done at once.
func (f *Follower) Step(ctx context.Context, lease store.Lease) (more bool, err error) {
	head, err := f.Chain.Head(ctx)
	if err != nil {
		return false, fmt.Errorf("ask for the head: %w", err)
	}
	last, err := f.cursor(ctx, lease, head)
	if err != nil {
		return false, err
	}
	blocks, err := f.Chain.After(ctx, last, blocksAtOnce, f.Watch)
	if errors.Is(err, chain.ErrOffChain) {
		return true, f.pop(ctx, lease, last)
	}
	if err != nil {
		return false, fmt.Errorf("read blocks after %d: %w", last.Height, err)
	}
	for _, b := range blocks {
		if err := f.record(ctx, lease, b); err != nil {
			return false, fmt.Errorf("record block %d: %w", b.Ref.Height, err)
		}
		last = b.Ref
	}
	credited, err := f.credit(ctx, lease, head, last)
	return len(blocks) > 0 || credited, err
}

// cursor returns the last recorded block, and begins a new chain where there is none.
func (f *Follower) cursor(ctx context.Context, lease store.Lease, head chain.Head) (chain.BlockRef, error) {
	id := f.Chain.Traits().ID
	var state store.ChainState
	err := f.DB.View(ctx, func(tx *store.Tx) (err error) {
		state, err = tx.ChainState(ctx, id)
		return err
	})
	if err != nil || state.Height >= 0 {
		return chain.BlockRef{Height: uint64(max(state.Height, 0)), Hash: state.Hash}, err
	}
	ref, err := f.begin(ctx, head.Final)
	if err != nil {
		return ref, err
	}
	f.Log.Info("chain begins", "chain", id, "height", ref.Height, "hash", ref.Hash)
	return ref, f.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Lead(ctx, lease); err != nil {
			return err
		}
		return tx.SetCursor(ctx, id, int64(ref.Height), ref.Hash)
	})
}

// errMoved says that the cursor is not where the step began; the next step begins from where it is.
var errMoved = errors.New("the cursor has moved meanwhile")

// record writes a block and everything it brought, and moves the cursor to it, in one transaction.
func (f *Follower) record(ctx context.Context, lease store.Lease, b chain.Block) error {
	traits := f.Chain.Traits()
	err := f.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Lead(ctx, lease)
		if err != nil {
			return err
		}
		if state.Hash != b.Parent || state.Height >= int64(b.Ref.Height) {
			return errMoved
		}
		err = tx.PushBlock(ctx, traits.ID, store.Block{Height: b.Ref.Height, Hash: b.Ref.Hash, Parent: b.Parent}, 2*traits.ReorgDepth)
		if err != nil {
			return err
		}
		return f.recordContents(ctx, tx, b)
	})
	if err == nil && len(b.Transfers) > 0 && f.Credited != nil {
		f.Credited()
	}
	return err
}
