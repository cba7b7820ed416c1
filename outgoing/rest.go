package outgoing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// sweepRest is how long an address is not swept after a sweep of it could not be made.
const sweepRest = time.Hour

// endSweep ends a sweep of an address that holds too little for it in the newest block. The cause may be temporary:
// the fee is above the amount for a block, or the endpoint is behind. So the address rests and is swept later. Only if
// the final block shows that the address is empty is it no longer due until its next deposit; reconciliation explains
// the difference from the books.
func (s *Sender) endSweep(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest,
	cause error) (bursar.OutgoingTx, error) {
	contract := request.Payments[0].Contract
	empty, final, err := s.isEmpty(ctx, request.From.Base, contract)
	if err != nil { // an unknown balance does not count as empty
		s.Log.Warn("balance of swept address is not known", "outgoing", p.ID, "chain", p.Chain, "address", request.From.Base,
			"error", err)
	}
	return s.changeAt(ctx, lease, p, func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error {
		h, err := tx.Holdings().Get(ctx, p.Chain, request.From.Base, contract)
		if err != nil {
			return err
		}
		if empty && state.Final == final { // a later final block may contain a deposit that made the address due
			h.Due = false
		} else {
			h.Rests = tx.Now().Add(sweepRest)
		}
		if err := tx.Holdings().Put(ctx, p.Chain, keyed(h, request.From)); err != nil {
			return err
		}
		s.log(tx, "sweep postponed", now, "address", request.From.Base, "reason", cause, "due", h.Due, "rests_until",
			h.Rests)
		return s.end(ctx, tx, now)
	})
}

// isEmpty reports whether an address holds nothing of an asset in the newest final block by the books, and returns that
// block's height. A block that is not recorded proves nothing.
func (s *Sender) isEmpty(ctx context.Context, base, contract string) (empty bool, final uint64, err error) {
	id := s.Chain.Capabilities().ID
	var at store.Block
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().State(ctx, id)
		if err != nil {
			return err
		}
		final = state.Final
		at, err = tx.Blocks().At(ctx, id, final)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return false, final, nil
	}
	if err != nil {
		return false, final, err
	}
	held, err := s.Chain.Holdings(ctx, []string{base}, contract, chain.BlockRef{Height: final, Hash: at.Hash})
	if err != nil {
		return false, final, fmt.Errorf("read the balance of the swept address: %w", err)
	}
	if len(held) != 1 {
		return false, final, fmt.Errorf("asked for the balance of 1 address, got %d", len(held))
	}
	return held[0].IsZero(), final, nil
}
