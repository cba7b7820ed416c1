package withdrawal

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// notForgotten refuses to decide about a withdrawal that the chain may show to be paid, in whatever process it is asked: while
// the chain recovers, while nobody leads it, and until the follower has caught up under the lease. The error is unavailable.
func (s *Service) notForgotten(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	currency, err := s.registry.Get(w.Currency)
	if err != nil {
		return nil // not configured: nothing is followed that could show it
	}
	state, err := tx.ChainState(ctx, currency.Chain)
	if errors.Is(err, bursar.ErrNotFound) {
		return nil // never led: nothing was ever paid on it
	}
	if err != nil {
		return err
	}
	if state.Token == 0 {
		return nil
	}
	recovering, err := tx.IsRecovering(ctx, currency.Chain)
	switch {
	case err != nil:
		return err
	case recovering:
		return bursar.Refuse(bursar.CodeUnavailable, "%s recovers: the withdrawal may be paid already; see `bursar recovery status`, and try again once it has ended", currency.Chain)
	case !state.CaughtUp(tx.Now()):
		return bursar.Refuse(bursar.CodeUnavailable, "%s is not caught up: the withdrawal may be paid already; try again in a moment", currency.Chain)
	}
	return nil
}
