package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// inOrder makes the nonces of an address be signed one after another. A transaction that is held back releases its
// nonce, so that no signed transaction waits behind a nonce that nothing uses.
func (s *Sender) inOrder(ctx context.Context, tx *store.Tx, p attempt) error {
	own, numbered := nonceOfTx(p.outgoingTx)
	if p.step != stepSign || !numbered || s.Chain.Capabilities().Model != chain.AccountModel {
		return nil
	}
	unsigned, err := tx.Outgoing().ReservedFrom(ctx, p.outgoingTx.Chain, p.outgoingTx.Base)
	if err != nil {
		return err
	}
	for _, other := range unsigned {
		if nonce, is := nonceOfTx(other); is && nonce < own {
			return &WaitError{keepsReservations: true,
				Reason: fmt.Sprintf("it waits for nonce %d of %s, reserved by outgoing transaction %s, which is not signed", nonce,
					other.Base, other.ID)}
		}
	}
	return nil
}

// lowerNonce releases an unsigned transaction's nonce if a lower one has been released in the meantime: the transaction
// is built again with the lower one.
func (s *Sender) lowerNonce(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	own, numbered := nonceOfTx(p)
	if !numbered || s.Chain.Capabilities().Model != chain.AccountModel || isVoiding(p) {
		return p, nil
	}
	var free bool
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		next, known, err := tx.Nonces().Next(ctx, p.Chain, p.Base)
		free = known && next < own
		return err
	})
	if err != nil || !free {
		return p, err
	}
	return s.unreserve(ctx, lease, p, "")
}
