package follow

import (
	"context"
	"errors"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

func (f *Follower) readRecovery(ctx context.Context, tx *store.Tx) (err error) {
	f.memory.recovery, err = tx.Recoveries().Get(ctx, f.Chain.Capabilities().ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// lifetime is how long after its signature a transaction may still be included on this chain.
func (f *Follower) lifetime() chain.Lifetime {
	if life := f.Chain.Capabilities().Lifetime; !life.IsZero() {
		return life
	}
	return f.Wait
}

// countRecovery counts recorded blocks for the chain's recovery, if it has one.
func (f *Follower) countRecovery(ctx context.Context, tx *store.Tx, blocks []chain.Block) error {
	if f.memory.recovery.Number == 0 {
		return nil
	}
	return recovery.CountBlocks(ctx, tx, f.Chain.Capabilities().ID, blocks, f.lifetime())
}

// uncountRecovery undoes countRecovery for the newest block, which is being reorged out.
func (f *Follower) uncountRecovery(ctx context.Context, tx *store.Tx, height uint64) error {
	if f.memory.recovery.Number == 0 {
		return nil
	}
	return recovery.UncountBlock(ctx, tx, f.Chain.Capabilities().ID, height)
}

// readiness is the progress of the follower when it checks whether a recovery has ended.
type readiness struct {
	ready  bool   // the chain has caught up under this lease
	now    bool   // it has caught up in this database transaction
	latest uint64 // newest block
	final  uint64 // newest final block that is recorded
}

// recordReady records that the chain is ready for payments, in the database transaction that records the head: at once
// if it has caught up and no recovery is open, otherwise when the recovery ends.
func (f *Follower) recordReady(ctx context.Context, tx *store.Tx, lease store.Lease, at readiness) error {
	r, err := tx.Recoveries().Get(ctx, f.Chain.Capabilities().ID)
	switch {
	case errors.Is(err, store.ErrNotFound) && at.now:
		return tx.Chains().SetReady(ctx, lease)
	case err != nil || !at.ready:
		return store.IgnoreNotFound(err)
	}
	ended, err := f.continueRecovery(ctx, tx, r, at)
	if err != nil || !ended {
		return err
	}
	return tx.Chains().SetReady(ctx, lease)
}

// continueRecovery starts the wait of a recovery when the chain has caught up, and ends the recovery when the block
// waited for is final and nothing is unclear.
func (f *Follower) continueRecovery(
	ctx context.Context, tx *store.Tx, r store.Recovery, at readiness,
) (ended bool, err error) {
	if r.From < 0 && !at.now {
		return false, nil
	}
	if r.From < 0 {
		if r, err = recovery.BeginToWait(ctx, tx, r, at.latest, f.lifetime()); err != nil {
			return false, err
		}
	}
	unclear, err := tx.ExternalSpends().AnyUnclear(ctx, r.Chain)
	waited := r.Released || r.Journaled || r.Until >= 0 && int64(at.final) >= r.Until
	if err != nil || unclear || !waited {
		return false, err
	}
	if forgotten, err := recovery.AnyToWaitFor(ctx, tx, f.Chain.Capabilities()); err != nil || forgotten {
		return false, err // the forgotten payment is signed again first, so that nothing takes its nonce or its UTXOs
	}
	tx.After(func() { f.Log.Warn("recovery ended: payments go on", "chain", r.Chain, "cause", r.Cause) })
	return true, recovery.End(ctx, tx, r)
}
