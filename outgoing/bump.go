package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// bumpFee replaces a transaction by one with the same claims and a higher fee: of the two, at most one can ever be
// included. It does nothing where another outgoing transaction builds on the transaction's change, or where it waits
// for another's nonce.
func (s *Sender) bumpFee(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (bool, error) {
	order, unsigned, err := s.higherFee(ctx, lease, state, p)
	if gas := (*chain.NeedsGasError)(nil); errors.As(err, &gas) {
		return false, s.topUp(ctx, lease, p, gas) // the gas that it had was reorged out, or does not suffice any more
	}
	if err != nil || len(unsigned.Reservations) == 0 {
		return false, err
	}
	return s.replace(ctx, lease, state, p, order, unsigned)
}

// higherFee drafts what would replace a transaction; a sweep's is for no more than its address holds now. The draft is
// empty where nothing may replace it now.
func (s *Sender) higherFee(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (order chain.TxRequest, unsigned chain.UnsignedTx, err error) {
	var changeUsed bool
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		changeUsed, err = tx.UTXOs().ChangeReserved(ctx, p.ID)
		return err
	})
	if err != nil || changeUsed {
		return order, unsigned, err
	}
	if order, err = Order(p); err != nil {
		return order, unsigned, err
	}
	return s.bumpFor(ctx, lease, state, p, order)
}

// bumpFor is higherFee for an order, anyone who builds on the transaction's change.
func (s *Sender) bumpFor(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
	order chain.TxRequest) (_ chain.TxRequest, unsigned chain.UnsignedTx, err error) {
	if err := s.ask(ctx, passage{p, order, stepBump, lease}); err != nil {
		return order, unsigned, err
	}
	if behind, err := s.behindAnother(ctx, p); err != nil || behind {
		return order, unsigned, err
	}
	before, err := readUnsigned(p)
	if err != nil {
		return order, unsigned, err
	}
	kept := order
	if order, err = s.complete(ctx, state, order); err != nil {
		return order, unsigned, err
	}
	if order.Replaces = &before; order.Kind != chain.KindSweep || kept.Payments[0].Amount.Less(order.Payments[0].Amount) {
		order.Payments = kept.Payments
	}
	if unsigned, err = s.Chain.Build(ctx, order); err != nil {
		return order, chain.UnsignedTx{}, fmt.Errorf("outbid: %w", err)
	}
	if !includesAll(unsigned.Reservations, before.Reservations) {
		return order, chain.UnsignedTx{}, fmt.Errorf("outbid: the new draft does not use up what the old one does")
	}
	return order, unsigned, nil
}

// behindAnother reports whether a transaction waits for a lower nonce that is free, or whose transaction has been
// replaced no more often: a fee bump would not bring it into a block, and would be paid in the end.
func (s *Sender) behindAnother(ctx context.Context, p bursar.OutgoingTx) (behind bool, err error) {
	own, numbered := nonceOfTx(p)
	if !numbered || s.Chain.Capabilities().Model != chain.AccountModel {
		return false, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		next, known, err := tx.Nonces().Next(ctx, p.Chain, p.Base)
		if behind = known && next < own; err != nil || behind {
			return err
		}
		open, err := tx.Outgoing().OpenFrom(ctx, p.Chain, p.Base, p.ID)
		for _, other := range open {
			if other.Versions > p.Versions {
				continue
			}
			nonce, numbered := nonceOfTx(other)
			behind = behind || numbered && nonce < own
		}
		return err
	})
	return behind, err
}

// nonceOfTx returns the nonce that an outgoing transaction's draft claims, and false where it claims none.
func nonceOfTx(p bursar.OutgoingTx) (uint64, bool) {
	if len(p.Unsigned) == 0 {
		return 0, false
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return 0, false
	}
	for _, resource := range unsigned.Reservations {
		if nonce, is := nonceOf(p.Base, resource); is {
			return nonce, true
		}
	}
	return 0, false
}

func includesAll(resources, wanted []string) bool {
	have := map[string]bool{}
	for _, c := range resources {
		have[c] = true
	}
	for _, c := range wanted {
		if !have[c] {
			return false
		}
	}
	return true
}

// replace claims, signs, stores and sends a fee bump, and reports whether the version before is not to be sent any
// more. A bump that comes too late, because the lower fee is in a block meanwhile, is dropped.
func (s *Sender) replace(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
	order chain.TxRequest, unsigned chain.UnsignedTx) (bool, error) {
	p, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.gate(ctx, tx, passage{now, order, stepBump, lease}); err != nil {
			return err
		}
		if err := s.budget(ctx, tx, now, order, unsigned.Fee); err != nil {
			return err
		}
		return tx.Reservations().Reserve(ctx, now, unsigned.Reservations)
	})
	if err != nil {
		return false, err
	}
	signed, err := s.Signer.Sign(ctx, p.Chain, withoutChoices(order), unsigned)
	if err != nil {
		return false, fmt.Errorf("outbid: %w", err)
	}
	p, err = s.store(ctx, passage{p, order, stepBump, lease}, signedVersion{unsigned, signed, state.Latest}, p.Status)
	if err != nil || p.TxID != signed.TxID {
		return err == nil, err
	}
	s.Log.Info("spend outbid", "spend", p.ID, "chain", p.Chain, "hash", signed.TxID, "fee", unsigned.Fee)
	return true, s.Chain.Broadcast(ctx, signed)
}
