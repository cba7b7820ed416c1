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

// sign has a claimed draft signed and stores the bytes before anybody is sent them.
func (s *Sender) sign(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	order, err := Order(p)
	if err != nil {
		return p, err
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return p, err
	}
	if err := s.ask(ctx, passage{p, order, stepSign, lease}); err != nil {
		return p, err
	}
	if s.Marks != nil {
		if err := s.Marks.Sign(ctx, lease, p.ID); err != nil {
			return p, fmt.Errorf("count the signature: %w", err)
		}
	}
	signed, err := s.Signer.Sign(ctx, p.Chain, order, unsigned)
	if err != nil {
		if s.Marks != nil {
			s.Marks.Unsigned(p.Chain, p.ID)
		}
		return s.cannotSign(ctx, lease, p, order, unsigned, err)
	}
	after, err := s.store(ctx, passage{p, order, stepSign, lease}, signedVersion{unsigned, signed, 0},
		bursar.OutgoingSigned)
	var held *HeldError
	if s.Marks != nil && (errors.As(err, &held) || errors.Is(err, errRecalled) || errors.Is(err, errEarlierReturn)) {
		s.Marks.Unsigned(p.Chain, p.ID) // the bytes were dropped
	}
	return after, err
}

// signedVersion is a version of an outgoing transaction that was just signed.
type signedVersion struct {
	unsigned chain.UnsignedTx
	signed   chain.SignedTx
	at       uint64 // the height at which it is going to be sent; 0: it has to be sent first
}

// store keeps a version of the outgoing transaction: its bytes, its id, and the change that it will bring. It keeps
// nothing where another version is in a block already, and where the gate closed while it was signed: those bytes are
// then neither kept nor sent.
func (s *Sender) store(
	ctx context.Context, p passage, b signedVersion, next bursar.OutgoingStatus,
) (bursar.OutgoingTx, error) {
	text, err := encodeUnsigned(b.unsigned)
	if err != nil {
		return p.outgoingTx, err
	}
	after, err := s.change(ctx, p.lease, p.outgoingTx, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if now.Height > 0 {
			return nil
		}
		if err := s.gate(ctx, tx, passage{now, p.order, p.step, p.lease}); err != nil {
			return err
		}
		if err := tx.UTXOs().ForgetChange(ctx, now.ID); err != nil { // of a version that this one replaces
			return err
		}
		if err := tx.Outgoing().AddVersion(ctx, now,
			store.Version{TxID: b.signed.TxID, Unsigned: text, Raw: b.signed.Raw}); err != nil {
			return err
		}
		for _, c := range b.signed.Change {
			utxo := store.Coin{
				Claim:  c.Outpoint,
				Base:   c.Source.Base,
				Branch: c.Source.Key.Branch,
				Index:  c.Source.Key.Index,
				Amount: c.Amount,
				MadeBy: now.ID,
			}
			if err := tx.UTXOs().Put(ctx, now.Chain, utxo); err != nil {
				return err
			}
		}
		if err := s.nameWithdrawals(ctx, tx, now.ID, b.signed.TxID); err != nil {
			return err
		}
		if err := s.nameReturn(ctx, tx, now, b.signed.TxID); err != nil {
			return err
		}
		now.Unsigned, now.Error, now.TxID, now.SentAt = text, "", b.signed.TxID, b.at
		s.log(tx, "spend signed", now, "fee", b.unsigned.Fee)
		return tx.Outgoing().SetStatus(ctx, now, next)
	})
	return after, err
}

// nameWithdrawals notes with the withdrawals of an outgoing transaction which transaction pays them.
func (s *Sender) nameWithdrawals(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, txID string) error {
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, outgoingID)
	if err != nil {
		return err
	}
	for _, w := range withdrawals {
		if err := s.payouts().Signed(ctx, tx, w, txID); err != nil {
			return err
		}
	}
	return nil
}

// cannotSign gives back the claims of an unsigned transaction that the signer refuses: nothing of it was signed, so it
// can pay nobody. The order stays, and is drafted again; the operator is told. Several withdrawals that are too much
// for the hour go back into the queue, to be tried in smaller company.
func (s *Sender) cannotSign(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, order chain.TxRequest,
	unsigned chain.UnsignedTx, cause error) (bursar.OutgoingTx, error) {
	var refused *signer.RefusalError
	if !errors.As(cause, &refused) {
		return p, fmt.Errorf("sign: %w", cause)
	}
	halted := refused.Reason == signer.ReasonHalted
	smaller := refused.Reason == signer.ReasonPace && len(order.Payments) > 1 && order.Kind == chain.KindWithdrawal
	if !smaller && !halted && p.Error != cause.Error() {
		s.Log.Error("signer refused a draft", "spend", p.ID, "chain", p.Chain, "error", cause)
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if err := s.giveBack(ctx, tx, now, unsigned.Reservations); err != nil {
			return err
		}
		now.Unsigned, now.Error = nil, cause.Error()
		if err := tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingNew); err != nil || smaller || halted {
			return err
		}
		return tx.Alarms().Raise(ctx, store.Alarm{
			Chain:   p.Chain,
			Kind:    "signer_refused",
			Ref:     p.ID.String(),
			Message: cause.Error(),
		})
	})
	if err == nil && smaller {
		s.batch[p.Currency] = max(1, len(order.Payments)/2)
		return s.requeue(ctx, lease, after)
	}
	if halted {
		cause = &HeldError{Reason: cause.Error()}
	}
	return after, errors.Join(cause, err)
}

// giveBack frees the claims of an outgoing transaction that can pay nobody, so that the next draft uses its nonce.
func (s *Sender) giveBack(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, resources []string) error {
	if isVoiding(p) && p.Status == bursar.OutgoingReserved {
		return nil // what was moved to it stays with it: others must not take it meanwhile
	}
	if err := tx.Reservations().Free(ctx, p.ID); err != nil {
		return err
	}
	if s.Chain.Capabilities().Model != chain.AccountModel || isVoiding(p) {
		return nil // the nonce of what makes another one void is that one's
	}
	if moved, err := tx.Reservations().MovedFrom(ctx, p.ID); err != nil || len(moved) > 0 {
		return err // what has made it void has used its nonce
	}
	for _, resource := range resources {
		nonce, is := nonceOf(p.Base, resource)
		if !is {
			continue
		}
		if err := tx.Nonces().Free(ctx, p.Chain, p.Base, nonce); err != nil {
			return err
		}
	}
	return nil
}
