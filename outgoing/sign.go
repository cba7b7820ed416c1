package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// sign has a reserved transaction signed, and stores the bytes before they are sent anywhere.
func (s *Sender) sign(
	ctx context.Context, lease store.Lease, _ store.ChainState, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return p, err
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return p, err
	}
	if err := s.reservesAll(unsigned); err != nil {
		return p, err
	}
	proven, err := s.evidence(ctx, p, request, unsigned)
	if err != nil {
		return p, err
	}
	out := s.mayBeOut(p) // the commit that stored the bytes of an earlier signature was lost
	at := attempt{outgoingTx: p, request: request, step: stepSign, lease: lease, out: out}
	if err := s.checkGate(ctx, at); err != nil {
		return p, err
	}
	discarded, err := s.countSignature(ctx, lease, p)
	if err != nil {
		return p, err
	}
	signed, err := s.Signer.Sign(ctx, p.Chain, request, proven)
	switch {
	case err != nil && out && s.neverSigned(request, err):
		s.Marks.NeverSigned(p.Chain, p.ID)
		return s.cannotSign(ctx, lease, p, request, unsigned, err)
	case err != nil && out:
		// A refusal of today says nothing about what was signed before: it is signed again once the signer allows it, and
		// until then nothing else may pay for it or use what it uses.
		return p, s.cannotSignAgain(ctx, lease, p, request, err)
	case err != nil:
		discarded()
		return s.cannotSign(ctx, lease, p, request, unsigned, err)
	}
	delete(s.memory.pauses, p.ID)
	after, err := s.storeVersion(ctx, at, signedVersion{unsigned: unsigned, signed: signed}, bursar.OutgoingSigned)
	if !out && isDiscarded(err) {
		discarded()
	}
	return after, err
}

// isDiscarded reports whether an error of storeVersion says that it stored nothing. After any other one, as that of a
// commit whose answer was lost, the bytes may be stored, and sent.
func isDiscarded(err error) bool {
	var waiting *WaitError
	return errors.As(err, &waiting) || errors.Is(err, unattributed.ErrRecalled) ||
		errors.Is(err, unattributed.ErrEarlierRefund)
}

// countSignature counts a signature that is about to be made. discarded undoes that, where it was not made or nobody
// gets the bytes.
func (s *Sender) countSignature(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (discarded func(), err error) {
	if s.Marks == nil {
		return func() {}, nil
	}
	if discarded, err = s.Marks.Sign(ctx, lease, p.ID); err != nil {
		return nil, fmt.Errorf("count the signature: %w", err)
	}
	return discarded, nil
}

// neverSigned reports whether the signer refuses what may be out, and is sure that it never signed it: it was asked and
// did not get to it before an epoch began. Where each process has a signer of its own, another one may have signed it.
// The answer is not signed, so it is believed only of what a signer must refuse: anyone who answers in its place must
// not have a payment made twice at any time of their choice.
func (s *Sender) neverSigned(request chain.TxRequest, cause error) bool {
	refused, is := errors.AsType[*signer.RefusalError](cause)
	return is && refused.Never && refused.Reason == signer.ReasonSweepOld && s.SoleSigner && s.needsOld(request)
}

// keepUnsigned makes durable that what is reserved was not signed, before the database says so and frees what it
// reserved: the journal does not believe that later, since anyone who can write to the database can write it.
func (s *Sender) keepUnsigned(ctx context.Context, p bursar.OutgoingTx) error {
	if s.Marks == nil || p.Status != bursar.OutgoingReserved || !s.Chain.Capabilities().Lifetime.IsZero() {
		return nil
	}
	if err := s.Marks.KeepUnsigned(ctx, p.Chain); err != nil {
		return fmt.Errorf("note that nothing was signed: %w", err)
	}
	return nil
}

// signedVersion is a version of an outgoing transaction that has just been signed.
type signedVersion struct {
	unsigned chain.UnsignedTx
	signed   chain.SignedTx
	at       uint64 // the height at which it is about to be sent; 0: it must be sent first
}

// storeVersion stores a version of the outgoing transaction: its bytes, its hash, and the change that it will create.
// It stores nothing if another version is in a block already, or if the gate was closed while it was signed: those
// bytes are then neither stored nor sent.
func (s *Sender) storeVersion(
	ctx context.Context, p attempt, v signedVersion, next bursar.OutgoingStatus,
) (bursar.OutgoingTx, error) {
	text, err := encodeUnsigned(v.unsigned)
	if err != nil {
		return p.outgoingTx, err
	}
	after, err := s.change(ctx, p.lease, p.outgoingTx, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if now.Height > 0 {
			return nil
		}
		again := p
		again.outgoingTx = now
		again.outgoingTx.Unsigned = text // what was signed, whatever the database has by now
		if err := s.gate(ctx, tx, again); err != nil {
			return err
		}
		if err := errors.Join(tx.Alarms().Resolve(ctx, recovery.AlarmDiffers, now.ID.String()),
			tx.Alarms().Resolve(ctx, recovery.AlarmUnclear, now.ID.String()),
			tx.UTXOs().ForgetChange(ctx, now.ID)); err != nil { // the change of a version that this one replaces
			return err
		}
		if err := tx.Outgoing().AddVersion(ctx, now,
			store.Version{TxID: v.signed.TxID, Unsigned: text, Raw: v.signed.Raw}); err != nil {
			return err
		}
		for _, c := range v.signed.Change {
			utxo := store.UTXO{
				Outpoint: c.Outpoint,
				Base:     c.Source.Base,
				Branch:   c.Source.Key.Branch,
				Index:    c.Source.Key.Index,
				Amount:   c.Amount,
				MadeBy:   now.ID,
			}
			if err := tx.UTXOs().Put(ctx, now.Chain, utxo); err != nil {
				return err
			}
		}
		if err := s.nameWithdrawals(ctx, tx, now.ID, v.signed.TxID); err != nil {
			return err
		}
		if err := s.nameRefund(ctx, tx, again, v.signed.TxID); err != nil {
			return err
		}
		now.Unsigned, now.Error, now.TxID, now.SentAt = text, "", v.signed.TxID, v.at
		s.log(tx, "outgoing transaction signed", now, "fee", s.nativeText(v.unsigned.Fee))
		return tx.Outgoing().SetStatus(ctx, now, next)
	})
	return after, err
}

// nameWithdrawals records with the withdrawals of an outgoing transaction which transaction pays them.
func (s *Sender) nameWithdrawals(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, txID string) error {
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, outgoingID)
	if err != nil {
		return err
	}
	return s.payouts().Signed(ctx, tx, withdrawals, txID)
}

// cannotSign frees the reservations of an unsigned transaction that the signer refused: nothing was signed, so it can
// pay nobody. The request stays and is built again; an alarm says why, unless it waits for people. A batch of several
// withdrawals that exceeds a limit, or in which one waits for people, is requeued and retried in smaller batches.
func (s *Sender) cannotSign(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, request chain.TxRequest,
	unsigned chain.UnsignedTx, cause error) (bursar.OutgoingTx, error) {
	var refused *signer.RefusalError
	if !errors.As(cause, &refused) {
		return p, fmt.Errorf("sign: %w", cause)
	}
	if err := s.keepUnsigned(ctx, p); err != nil {
		return p, errors.Join(cause, err)
	}
	late, err := s.orderIsOutdated(ctx, p, refused)
	if err != nil {
		return p, errors.Join(cause, err)
	}
	halted, people := refused.Reason == signer.ReasonHalted, refused.Reason.WaitsForPeople()
	smaller := (refused.Reason == signer.ReasonQuota || people || isOfOrder(refused.Reason)) &&
		len(request.Payments) > 1 && request.Kind == chain.KindWithdrawal
	if !smaller && !halted && !people && p.Error != cause.Error() {
		s.Log.Error("signer refused an unsigned transaction", "outgoing", p.ID, "chain", p.Chain, "error", cause)
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.freeReservations(ctx, tx, now, unsigned.Reservations); err != nil {
			return err
		}
		if refused.Reason == signer.ReasonScreened {
			if err := s.screenAgain(ctx, tx, now, cause.Error()); err != nil {
				return err
			}
		}
		now.Unsigned, now.Error = nil, cause.Error()
		if err := tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingNew); err != nil || smaller || halted || late {
			return err
		}
		if wait := waitFor(refused.Reason); wait != "" {
			now.WaitsFor, now.Lacks, now.Missing, now.Needed = wait, "", bursar.Amount{}, bursar.Amount{}
			if err := tx.Outgoing().SetWait(ctx, now); err != nil || people {
				return err
			}
		}
		return tx.Alarms().Raise(ctx, store.Alarm{
			Chain:   p.Chain,
			Kind:    "signer_refused",
			Ref:     p.ID.String(),
			Message: cause.Error(),
		})
	})
	if err == nil && smaller {
		s.memory.batchLimit[p.Currency] = max(1, len(request.Payments)/2)
		return s.endAndRequeue(ctx, lease, after)
	}
	if err == nil && late {
		return s.endRefused(ctx, lease, after, request, outdated, nil)
	}
	if halted || people {
		cause = &WaitError{Reason: cause.Error()}
	}
	if refused.Reason == signer.ReasonQuota {
		s.pauseAfterRefusal(p.ID, cause)
	}
	return after, errors.Join(cause, err)
}

// waitFor returns what a transaction waits for that the signer refused, so that it takes no place: customers cause
// these refusals, and the places are of all of them.
func waitFor(reason signer.Reason) bursar.OutgoingWait {
	switch {
	case reason.WaitsForPeople():
		return bursar.WaitsForApproval
	case isOfOrder(reason):
		return bursar.WaitsForOrder
	}
	return ""
}

// freeReservations frees the reservations of an outgoing transaction that can pay nobody, so that the next one uses its
// nonce.
func (s *Sender) freeReservations(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, resources []string) error {
	if isVoiding(p) && p.Status == bursar.OutgoingReserved {
		return nil // what was moved to it stays with it: no other transaction may take it in between
	}
	if err := tx.Reservations().Free(ctx, p.ID); err != nil {
		return err
	}
	if s.Chain.Capabilities().Model != chain.AccountModel || isVoiding(p) {
		return nil // the nonce of a voiding transaction belongs to the one that it voids
	}
	if moved, err := tx.Reservations().MovedFrom(ctx, p.ID); err != nil || len(moved) > 0 {
		return err // the transaction that voids it has used its nonce
	}
	for _, resource := range resources {
		nonce, is := nonceOf(p.Base, resource)
		if !is {
			continue
		}
		passed, err := passOn(ctx, tx, p, resource, nonce)
		if err == nil && !passed {
			err = tx.Nonces().Free(ctx, p.Chain, p.Base, nonce)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// passOn gives the nonce of a transaction that has ended to another open one that was built with it, and reports
// whether there is one: a transaction that is put back after a restore may have the nonce of one that the older
// database still had, and that expired before the other was signed.
func passOn(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, resource string, nonce uint64) (bool, error) {
	open, err := tx.Outgoing().OpenFrom(ctx, p.Chain, p.Base, p.ID)
	if err != nil {
		return false, err
	}
	for _, other := range open {
		if theirs, numbered := nonceOfTx(other); numbered && theirs == nonce {
			return true, tx.Reservations().Take(ctx, other, []string{resource})
		}
	}
	return false, nil
}
