package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// sweepsTogether is the maximum number of sweeps that one database transaction settles. Their entries are on accounts
// of the operator, which no request waits for; those of withdrawals are on their customers' accounts, and are not kept
// locked for one another.
const sweepsTogether = 32

// settledTogether splits outgoing transactions into those that one database transaction settles.
func settledTogether(due []bursar.OutgoingTx) (groups [][]bursar.OutgoingTx) {
	var sweeps []bursar.OutgoingTx
	for _, p := range due {
		if p.Kind == string(chain.KindSweep) {
			sweeps = append(sweeps, p)
		} else {
			groups = append(groups, []bursar.OutgoingTx{p})
		}
	}
	return slices.AppendSeq(groups, slices.Chunk(sweeps, sweepsTogether))
}

// settleGroup settles outgoing transactions in one database transaction, or each in its own if one of them cannot be
// settled.
func (s *Sender) settleGroup(ctx context.Context, lease store.Lease, group []bursar.OutgoingTx) error {
	err := s.settleAll(ctx, lease, group)
	switch {
	case err == nil:
		for _, p := range group {
			delete(s.memory.lastSentHeight, p.ID)
		}
		return nil
	case stops(ctx, err) || len(group) == 1:
		return err
	}
	var failed error
	for _, p := range group {
		err := s.settleGroup(ctx, lease, []bursar.OutgoingTx{p})
		if err != nil && stops(ctx, err) {
			return err
		}
		failed = errors.Join(failed, err)
	}
	return failed
}

// settleAll settles outgoing transactions in one database transaction: all of them, or none. The final height is read
// under the lock that the lease takes, so that no block can be reorged out before the end.
func (s *Sender) settleAll(ctx context.Context, lease store.Lease, group []bursar.OutgoingTx) error {
	return s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Leases().Fence(ctx, lease)
		if err != nil {
			return err
		}
		for _, p := range group {
			if err := s.settleIfDue(ctx, tx, state, p); err != nil {
				return fmt.Errorf("outgoing transaction %s: %w", p.ID, err)
			}
		}
		return nil
	})
}
