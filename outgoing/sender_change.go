package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// storeError stores an outgoing transaction's error for the operator, and clears it once there is none.
func (s *Sender) storeError(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, trouble error) error {
	text := ""
	if trouble != nil {
		text = s.describe(trouble)
	}
	if text == p.Error {
		if !differs(trouble) && !mayBePaid(trouble) {
			return nil
		}
		// An earlier version, or a process that ended in between, stored the text alone.
		return s.DB.Do(ctx, func(tx *store.Tx) error {
			if _, err := tx.Leases().Fence(ctx, lease); err != nil {
				return err
			}
			now, err := tx.Outgoing().Get(ctx, p.ID)
			if err != nil || now.Status != p.Status { // it has gone on, or has ended
				return err
			}
			return errors.Join(alarmIfDiffers(ctx, tx, now, trouble), alarmIfMayBePaid(ctx, tx, now, trouble))
		})
	}
	var gas *chain.NeedsGasError
	var waiting *WaitError
	switch {
	case errors.As(trouble, &waiting):
		s.Log.Info("outgoing transaction held back", "outgoing", p.ID, "chain", p.Chain, "status", p.Status,
			"reason", waiting.Reason)
	case errors.As(trouble, &gas): // every sweep of a token begins this way
		s.Log.Info("outgoing transaction waits for gas", "outgoing", p.ID, "chain", p.Chain, "address", gas.Source.Base,
			"amount", s.nativeText(gas.Amount))
	case trouble != nil:
		s.Log.Warn("outgoing transaction cannot go on now", "outgoing", p.ID, "chain", p.Chain, "status", p.Status,
			"error", text)
	}
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		now, err := tx.Outgoing().Get(ctx, p.ID)
		if err != nil {
			return err
		}
		if err := errors.Join(alarmGas(ctx, tx, now, trouble), alarmIfDiffers(ctx, tx, now, trouble),
			alarmIfMayBePaid(ctx, tx, now, trouble)); err != nil {
			return err
		}
		now.Error = text
		return tx.Outgoing().SetStatus(ctx, now, now.Status)
	})
}

// change runs f in a database transaction under the lease, with the current outgoing transaction. f is not run if its
// status has changed since p was read, because the step was taken already.
func (s *Sender) change(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, f func(tx *store.Tx, now bursar.OutgoingTx) error,
) (bursar.OutgoingTx, error) {
	return s.changeAt(ctx, lease, p, func(tx *store.Tx, _ store.ChainState, now bursar.OutgoingTx) error {
		return f(tx, now)
	})
}

// changeAt is change for an f that depends on the chain's final height. The height is read under the lock that the
// lease takes, so that no block can be reorged out before f has ended.
func (s *Sender) changeAt(ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
	f func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error) (after bursar.OutgoingTx, err error) {
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		now, err := tx.Outgoing().Get(ctx, p.ID)
		if err != nil {
			return err
		}
		if now.Status == p.Status {
			if err := f(tx, state, now); err != nil {
				return err
			}
		}
		after, err = tx.Outgoing().Get(ctx, p.ID)
		return err
	})
	if err != nil {
		return p, fmt.Errorf("outgoing transaction %s: %w", p.ID, err)
	}
	return after, nil
}
