package recovery

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// CountBlocks records which of the blocks that are being recorded, once final, proves that everything that was signed
// before a chain's recovery began is in a block or expired; life is how long after its signature a transaction may be
// included. Without a recovery it does nothing. UncountBlock is its reversal.
func CountBlocks(
	ctx context.Context, tx *store.Tx, id bursar.ChainID, blocks []chain.Block, life chain.Lifetime,
) error {
	r, err := tx.Recoveries().Get(ctx, id)
	if err != nil || r.From < 0 || r.Until >= 0 {
		return store.IgnoreNotFound(err)
	}
	// A quarter is added: the newest block here may be older than the one that a lifetime was counted from.
	for _, b := range blocks {
		if int64(b.Ref.Height) <= r.From {
			continue
		}
		r.Blocks++
		young := life.Time == 0 || b.Time.After(r.BeganAt.Add(life.Time))
		if r.Blocks >= int64(life.Blocks+life.Blocks/4) && young {
			r.Until = int64(b.Ref.Height)
			break // the blocks that follow are not counted
		}
	}
	return tx.Recoveries().Set(ctx, r)
}

// UncountBlock undoes CountBlocks for a chain's newest block, which is being reorged out. A block above Until was never
// counted.
func UncountBlock(ctx context.Context, tx *store.Tx, id bursar.ChainID, height uint64) error {
	r, err := tx.Recoveries().Get(ctx, id)
	if err != nil || r.Until >= 0 && int64(height) > r.Until {
		return store.IgnoreNotFound(err)
	}
	r.Until, r.Blocks = -1, max(r.Blocks-1, 0)
	if int64(height) <= r.From {
		r.From = int64(height) - 1
	}
	return tx.Recoveries().Set(ctx, r)
}

// BeginToWait begins the wait of a recovery whose chain has caught up to its newest block. Where nothing that was
// signed expires, so that no number of blocks proves anything, it waits for that block alone.
func BeginToWait(
	ctx context.Context, tx *store.Tx, r store.Recovery, latest uint64, life chain.Lifetime,
) (store.Recovery, error) {
	r.From = int64(latest)
	if life.IsZero() {
		r.Until = r.From
	}
	return r, tx.Recoveries().Set(ctx, r)
}

// ErrUnclear means that payments of a chain wait for somebody who explains them.
var ErrUnclear = errors.New("payments are unclear: explain them with `bursar recovery adopt` first, see `bursar " +
	"recovery status`")

// Release ends the wait of a chain's recovery, by the word of an operator who knows that nothing that was signed before
// it can still be included. The error is store.ErrNotFound for a chain that is not recovering, and ErrUnclear.
func Release(ctx context.Context, tx *store.Tx, id bursar.ChainID) error {
	if _, err := tx.Chains().Lock(ctx, id); err != nil {
		return err
	}
	r, err := tx.Recoveries().Get(ctx, id)
	if err != nil {
		return err
	}
	unclear, err := tx.ExternalSpends().AnyUnclear(ctx, id)
	if err == nil && unclear {
		err = ErrUnclear
	}
	if err != nil {
		return err
	}
	r.Released = true
	return tx.Recoveries().Set(ctx, r)
}
