package outgoing

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// evaluateAgain runs on a chain that is recovering and has unclear external spends. It ends the outgoing transactions
// that have expired, and then has the external spends evaluated again: one of them may have paid what another
// transaction of ours was to pay, and the two can be distinguished once the other one can no longer be included.
// Nothing is paid between the two steps, because the chain is not ready while any external spend is unclear.
func (s *Sender) evaluateAgain(ctx context.Context, lease store.Lease, state store.ChainState) error {
	if s.Chain.Capabilities().Lifetime.IsZero() {
		return nil
	}
	var open []bursar.OutgoingTx
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		unclear, err := tx.ExternalSpends().AnyUnclear(ctx, state.Chain)
		if err != nil || !unclear {
			return err
		}
		for _, part := range []bursar.OutgoingShare{bursar.ShareWithdrawal, bursar.ShareRefund} {
			some, err := tx.Outgoing().UnderWay(ctx, state.Chain, part, 0, max(1, s.Chain.Capabilities().MaxPending))
			if err != nil {
				return err
			}
			open = append(open, some...)
		}
		return nil
	})
	if err != nil || len(open) == 0 {
		return err
	}
	var failed error
	for _, p := range open {
		err := s.endIfOver(ctx, lease, state, p)
		if err != nil && stops(ctx, err) {
			return err
		}
		failed = errors.Join(failed, err)
	}
	assessor := s.assessor()
	return errors.Join(failed, s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Leases().Fence(ctx, lease); err != nil {
			return err
		}
		adopted, err := assessor.AssessAgain(ctx, tx)
		tx.After(func() {
			for _, id := range adopted {
				s.Log.Warn("external spend recognized", "chain", state.Chain, "hash", id)
			}
		})
		return err
	}))
}

// endIfOver ends a signed payment that can never be included any more.
func (s *Sender) endIfOver(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx) error {
	versions, err := s.versions(ctx, p.ID)
	if err != nil || len(versions) == 0 { // it is not signed
		return err
	}
	if gone, err := s.isOver(ctx, state, p, versions); gone || err != nil {
		return s.endExpired(ctx, lease, p, err)
	}
	return nil
}
