package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

// bumpFee replaces a transaction by one with the same reservations and a higher fee: at most one of the two can ever be
// included. It does nothing if another outgoing transaction builds on the transaction's change, or if the transaction
// waits for another's nonce.
func (s *Sender) bumpFee(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (bool, error) {
	request, unsigned, err := s.higherFee(ctx, lease, state, p)
	if gas := (*chain.NeedsGasError)(nil); errors.As(err, &gas) {
		return false, s.topUp(ctx, lease, p, gas) // its gas was reorged out, or is no longer enough
	}
	funds, lacks := errors.AsType[*chain.NeedsFundsError](err)
	if lacks && s.toppedUp(p, funds) {
		return false, s.topUp(ctx, lease, p, &chain.NeedsGasError{Source: request.From, Amount: funds.Missing})
	}
	if err != nil || len(unsigned.Reservations) == 0 {
		return false, err
	}
	return s.replace(ctx, lease, state, p, request, unsigned)
}

// higherFee builds the replacement of a transaction. The replacement of a sweep collects no more than its address holds
// now. The result is empty if nothing may replace the transaction now.
func (s *Sender) higherFee(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
) (request chain.TxRequest, unsigned chain.UnsignedTx, err error) {
	var changeUsed bool
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		changeUsed, err = tx.UTXOs().ChangeReserved(ctx, p.ID)
		return err
	})
	if err != nil || changeUsed {
		return request, unsigned, err
	}
	if request, err = DecodeRequest(p); err != nil {
		return request, unsigned, err
	}
	return s.bumpFor(ctx, lease, state, p, request)
}

// bumpFor is higherFee for a given request, without the check that nothing builds on the transaction's change.
func (s *Sender) bumpFor(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
	request chain.TxRequest) (_ chain.TxRequest, unsigned chain.UnsignedTx, err error) {
	if err := s.checkGate(ctx, attempt{outgoingTx: p, request: request, step: stepBump, lease: lease}); err != nil {
		return request, unsigned, err
	}
	if behind, err := s.behindAnother(ctx, p); err != nil || behind {
		return request, unsigned, err
	}
	before, err := readUnsigned(p)
	if err != nil {
		return request, unsigned, err
	}
	kept := request
	if request, err = s.completeRequest(ctx, state, request, true); err != nil {
		return request, unsigned, err
	}
	request.Replaces = &before
	if request.Kind != chain.KindSweep || kept.Payments[0].Amount.Less(request.Payments[0].Amount) {
		request.Payments = kept.Payments
	}
	if unsigned, err = s.buildVoiding(ctx, p, request); err != nil {
		return request, chain.UnsignedTx{}, fmt.Errorf("bump the fee: %w", err)
	}
	if !includesAll(unsigned.Reservations, before.Reservations) {
		return request, chain.UnsignedTx{}, fmt.Errorf("bump the fee: the replacement does not use the UTXOs or " +
			"nonce of the transaction that it replaces")
	}
	return request, unsigned, nil
}

// behindAnother reports whether a transaction waits for a lower nonce that is free, or for one whose transaction was
// replaced no more often than this one. A fee bump would not bring the transaction into a block, and its fee would
// still be paid in the end.
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

// nonceOfTx returns the nonce that an outgoing transaction's unsigned transaction uses, and false if it uses none.
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

// replace reserves, signs, stores and sends a fee bump, and reports whether the previous version must no longer be
// sent. A bump is discarded if a version with a lower fee has been included in the meantime.
func (s *Sender) replace(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx,
	request chain.TxRequest, unsigned chain.UnsignedTx) (bool, error) {
	proven, err := s.evidence(ctx, p, request, unsigned)
	if err != nil {
		return false, fmt.Errorf("bump the fee: %w", err)
	}
	var added []string
	p, err = s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.gate(ctx, tx, attempt{outgoingTx: now, request: request, step: stepBump, lease: lease}); err != nil {
			return err
		}
		if err := s.budget(ctx, tx, now, request, unsigned.Fee); err != nil {
			return err
		}
		if added, err = unowned(ctx, tx, now, unsigned.Reservations); err != nil {
			return err
		}
		return tx.Reservations().Reserve(ctx, now, unsigned.Reservations)
	})
	if err != nil {
		return false, err
	}
	signed, err := s.Signer.Sign(ctx, p.Chain, withoutChoices(request), proven)
	if err != nil {
		return false, errors.Join(fmt.Errorf("bump the fee: %w", err), s.cannotBump(ctx, lease, p, added, err))
	}
	p, err = s.storeVersion(ctx, attempt{outgoingTx: p, request: request, step: stepBump, lease: lease},
		signedVersion{unsigned: unsigned, signed: signed, at: state.Latest}, p.Status)
	if err != nil || p.TxID != signed.TxID {
		return err == nil, err
	}
	s.Log.Info("outgoing transaction fee bumped", "outgoing", p.ID, "chain", p.Chain, "hash", signed.TxID,
		"fee", s.nativeText(unsigned.Fee))
	return true, s.Chain.Broadcast(ctx, signed)
}

// unowned returns which of the reservations an outgoing transaction does not have yet.
func unowned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, reservations []string) (list []string, err error) {
	owners, err := tx.Reservations().Owners(ctx, p.Chain, reservations)
	for _, resource := range reservations {
		if owners[resource] != p.ID {
			list = append(list, resource)
		}
	}
	return list, err
}

// cannotBump gives back what only a replacement would have used that the signer refused, and raises an alarm. What an
// earlier replacement reserved stays: that one may have been signed, if the signer's answer was lost.
func (s *Sender) cannotBump(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, added []string, cause error,
) error {
	var refused *signer.RefusalError
	if !errors.As(cause, &refused) {
		return nil
	}
	_, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := tx.Reservations().GiveBack(ctx, now, added); err != nil || refused.Reason == signer.ReasonHalted {
			return err
		}
		return tx.Alarms().Raise(ctx, store.Alarm{Chain: now.Chain, Kind: "signer_refused", Ref: now.ID.String(),
			Message: "its fee is not bumped: " + cause.Error()})
	})
	return err
}
