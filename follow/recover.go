package follow

import (
	"context"
	"errors"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

func (f *Follower) readRecovery(ctx context.Context, tx *store.Tx) (err error) {
	f.recovery, err = tx.Recoveries().Get(ctx, f.Chain.Capabilities().ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// lifetime is how long after it was signed a transaction is reckoned with on this chain.
func (f *Follower) lifetime() chain.Lifetime {
	if life := f.Chain.Capabilities().Lifetime; !life.IsZero() {
		return life
	}
	return f.Wait
}

// countRecovery notes which recorded block, once final, proves that whatever was signed before the recovery began is in
// a block or expired. Without a recovery it does nothing.
func (f *Follower) countRecovery(ctx context.Context, tx *store.Tx, blocks []chain.Block) error {
	if f.recovery.Number == 0 {
		return nil
	}
	r, err := tx.Recoveries().Get(ctx, f.Chain.Capabilities().ID)
	if err != nil || r.From < 0 || r.Until >= 0 {
		return ignoreNone(err)
	}
	life := f.lifetime() // and a quarter more: the newest block here may be older than the one that was signed by
	for _, b := range blocks {
		if int64(b.Ref.Height) <= r.From {
			continue
		}
		r.Blocks++
		young := life.Time == 0 || b.Time.After(r.BeganAt.Add(life.Time))
		if r.Blocks >= int64(life.Blocks+life.Blocks/4) && young {
			r.Until = int64(b.Ref.Height)
			break // what follows is not counted
		}
	}
	return tx.Recoveries().Set(ctx, r)
}

// uncountRecovery undoes countRecovery for the newest block, which is reorged out. One above Until was never counted.
func (f *Follower) uncountRecovery(ctx context.Context, tx *store.Tx, height uint64) error {
	if f.recovery.Number == 0 {
		return nil
	}
	r, err := tx.Recoveries().Get(ctx, f.Chain.Capabilities().ID)
	if err != nil || r.Until >= 0 && int64(height) > r.Until {
		return ignoreNone(err)
	}
	r.Until, r.Blocks = -1, max(r.Blocks-1, 0)
	if int64(height) <= r.From {
		r.From = int64(height) - 1
	}
	return tx.Recoveries().Set(ctx, r)
}

// recovered is how far the follower is when it looks whether a recovery has ended.
type recovered struct {
	ready  bool   // the chain is caught up under this lease
	now    bool   // it is so by this transaction
	latest uint64 // newest block
	final  uint64 // newest final block, recorded
}

// carryOn notes that the chain is ready to be paid on, in the transaction that notes the head: at once where it is
// caught up and in no recovery, else when the recovery ends.
func (f *Follower) carryOn(ctx context.Context, tx *store.Tx, lease store.Lease, at recovered) error {
	r, err := tx.Recoveries().Get(ctx, f.Chain.Capabilities().ID)
	switch {
	case errors.Is(err, store.ErrNotFound) && at.now:
		return tx.Chains().SetReady(ctx, lease)
	case err != nil || !at.ready:
		return ignoreNone(err)
	}
	ended, err := f.carryRecovery(ctx, tx, r, at)
	if err != nil || !ended {
		return err
	}
	return tx.Chains().SetReady(ctx, lease)
}

// carryRecovery begins to wait when the chain is caught up, and ends the recovery when what was waited for is final and
// nothing is unclear.
func (f *Follower) carryRecovery(
	ctx context.Context, tx *store.Tx, r store.Recovery, at recovered,
) (ended bool, err error) {
	if r.From < 0 && !at.now {
		return false, nil
	}
	if r.From < 0 {
		if r.From = int64(at.latest); f.lifetime().IsZero() {
			r.Until = r.From
		}
		if err := tx.Recoveries().Set(ctx, r); err != nil {
			return false, err
		}
	}
	unclear, err := tx.ExternalSpends().AnyUnclear(ctx, r.Chain)
	waited := r.Released || r.Journaled || r.Until >= 0 && int64(at.final) >= r.Until
	if err != nil || unclear || !waited {
		return false, err
	}
	if forgotten, err := tx.ForgottenPayments().Any(ctx, r.Chain); err != nil || forgotten {
		return false, err // it is signed again first, so that nothing takes its nonce or its UTXOs
	}
	tx.After(func() { f.Log.Warn("recovery ended: payments go on", "chain", r.Chain, "cause", r.Cause) })
	return true, recovery.End(ctx, tx, r)
}

func ignoreNone(err error) error {
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
