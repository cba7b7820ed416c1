package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// ErrCannotBeVoid is returned for an outgoing transaction whose UTXOs or nonce cannot be moved to a voiding
// transaction.
var ErrCannotBeVoid = errors.New("outgoing transaction cannot be made void")

// Abandonment is an operator's request to make a sent outgoing transaction void.
type Abandonment struct {
	Reason string
	Actor  string
}

const onceAbandon = recovery.OnceVoid

// Abandon makes a sent transaction void. On the UTXO model a second transaction sends the UTXOs that are left back to
// the hot wallet at a higher fee. On the account model this is possible for an adopted transaction whose bytes are not
// known, and for one of the hot wallet of an earlier epoch: a second transaction uses its nonce. A transaction that is
// stored as unsigned can be made void too once the alarm AlarmMayBeOut is open. At most one of the two can ever be
// included. What the first transaction pays is paid again only once the second one is final; if the first is included
// after all, it counts and the second one ends. Abandon returns the ID of the second transaction. One that uses up a
// lost nonce ends without a second one, and only if the final block has used the nonce: then the ID is zero.
func (s *Sender) Abandon(ctx context.Context, id bursar.ID, a Abandonment) (by bursar.ID, err error) {
	switch capabilities := s.Chain.Capabilities(); {
	case capabilities.Model == chain.AccountModel && capabilities.Lifetime.IsZero():
		by, err = s.voidNonce(ctx, id)
	case capabilities.Model == chain.AccountModel:
		err = fmt.Errorf("%w: transactions of chain %s expire", ErrCannotBeVoid, capabilities.ID)
	default:
		by, err = s.takeUTXOs(ctx, id)
	}
	if err == nil {
		s.Log.Warn("outgoing transaction is being made void by an operator", "outgoing", id, "by", by, "reason", a.Reason,
			"actor", a.Actor)
	}
	return by, err
}

// voidNonce is Abandon on a chain with nonces.
func (s *Sender) voidNonce(ctx context.Context, id bursar.ID) (by bursar.ID, err error) {
	var p bursar.OutgoingTx
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		p, err = tx.Outgoing().Get(ctx, id)
		return err
	})
	if err != nil {
		return by, err
	}
	if isFilling(p) {
		return by, s.abandonUsed(ctx, p)
	}
	return s.fillNonce(ctx, id)
}

// fillNonce requests a transaction with the nonce of another one whose bytes are not known, or which pays from the hot
// wallet of an earlier epoch: its fee may not be raised any more, and the sweeps of that wallet wait behind it. Nor may
// that of one of which the journal says something else than the database, as an alarm says.
func (s *Sender) fillNonce(ctx context.Context, id bursar.ID) (by bursar.ID, err error) {
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		if _, err := tx.Chains().Lock(ctx, s.Chain.Capabilities().ID); err != nil {
			return err
		}
		p, err := tx.Outgoing().Get(ctx, id)
		if err != nil {
			return err
		}
		versions, err := s.voidable(ctx, tx, p)
		if err != nil {
			return err
		}
		nonce, numbered := nonceOfTx(p)
		held, err := tx.Alarms().IsOpen(ctx, recovery.AlarmDiffers, p.ID.String())
		if err != nil {
			return err
		}
		if !numbered || len(versions) == 0 || len(withBytes(versions)) > 0 && !s.isOld(p.Base) && !held {
			return fmt.Errorf("%w: the transaction has no UTXOs; the service sends it and bumps its fee until it is included",
				ErrCannotBeVoid)
		}
		request, why, err := s.filler(ctx, tx, p)
		if err != nil || why != "" {
			return errors.Join(err, fmt.Errorf("%w: %s", ErrCannotBeVoid, why))
		}
		by = request.ID
		return s.requestVoid(ctx, tx, p, request, []string{fmt.Sprintf("%s/%d", p.Base, nonce)})
	})
	return by, err
}

func (s *Sender) takeUTXOs(ctx context.Context, id bursar.ID) (by bursar.ID, err error) {
	by = s.IDs.Next()
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		state, err := tx.Chains().Lock(ctx, s.Chain.Capabilities().ID)
		if err != nil {
			return err
		}
		p, err := tx.Outgoing().Get(ctx, id)
		if err != nil {
			return err
		}
		resources, err := s.toTake(ctx, tx, state, p)
		if err != nil {
			return err
		}
		home := chain.Payment{Address: bursar.Address{Base: s.Hot.Base},
			Amount: bursar.Units(1)} // placeholder: the adapter fills in the sum of the UTXOs
		request := chain.TxRequest{
			ID:       by,
			Kind:     chain.KindConsolidation,
			Payments: []chain.Payment{home},
			Change:   s.Hot,
			MaxFee:   s.MaxFee,
		}
		return s.requestVoid(ctx, tx, p, request, resources)
	})
	return by, err
}

// requestVoid records the request of the transaction that voids p, and moves p's UTXOs or nonce to it.
func (s *Sender) requestVoid(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, request chain.TxRequest, resources []string,
) error {
	native, err := s.Registry.Native(p.Chain)
	if err != nil {
		return err
	}
	void := bursar.OutgoingTx{
		Chain:    p.Chain,
		Currency: native.Code,
		Share:    bursar.ShareTopUp,
		Once:     onceAbandon + p.ID.String(),
	}
	if _, err := insert(ctx, tx, void, request); err != nil {
		return err
	}
	if err := tx.Reservations().Move(ctx, p.Chain, p.ID, request.ID, resources); err != nil {
		return err
	}
	return tx.UTXOs().ForgetChange(ctx, p.ID) // nothing may build on this change any more; the block of p restores it
}

// voidable returns the versions of a transaction that has been sent, is in no block, and is not being made void. Of one
// that is stored as unsigned and may be out, it is what may have been signed.
func (s *Sender) voidable(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) ([]store.Version, error) {
	unsigned := false
	if p.Status == bursar.OutgoingReserved {
		var err error
		if unsigned, err = tx.Alarms().IsOpen(ctx, recovery.AlarmMayBeOut, p.ID.String()); err != nil {
			return nil, err
		}
	}
	if p.Height > 0 || p.Status != bursar.OutgoingSigned && p.Status != bursar.OutgoingSent && !unsigned {
		return nil, fmt.Errorf("%w: %s", ErrNotOpen, p.Status)
	}
	if moved, err := tx.Reservations().MovedFrom(ctx, p.ID); err != nil || len(moved) > 0 || isVoiding(p) {
		return nil, errors.Join(err, fmt.Errorf("%w: voiding is already in progress", ErrCannotBeVoid))
	}
	if unsigned {
		return []store.Version{{Unsigned: p.Unsigned}}, nil
	}
	return tx.Outgoing().Versions(ctx, p.ID)
}

// toTake returns the UTXOs to take from a transaction: those that still exist and that every version of it needs.
func (s *Sender) toTake(
	ctx context.Context, tx *store.Tx, state store.ChainState, p bursar.OutgoingTx,
) ([]string, error) {
	versions, err := s.voidable(ctx, tx, p)
	if err != nil {
		return nil, err
	}
	left, err := tx.Reservations().Surviving(ctx, p.ID, state.Final)
	if err != nil {
		return nil, err
	}
	for _, v := range versions {
		unsigned, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: v.Unsigned})
		if err != nil {
			return nil, err
		}
		left = slices.DeleteFunc(left, func(resource string) bool {
			return !slices.Contains(unsigned.Reservations, resource)
		})
	}
	if len(left) == 0 || len(versions) == 0 {
		return nil, fmt.Errorf("%w: no UTXO is left that all of its versions need", ErrCannotBeVoid)
	}
	return left, nil
}

// isVoiding reports whether an outgoing transaction's purpose is to void another one.
func isVoiding(p bursar.OutgoingTx) bool { return strings.HasPrefix(p.Once, onceAbandon) }

// completeVoiding restricts a voiding transaction to the UTXOs or the nonce that were moved to it, and asks for a
// higher fee than that of the transaction that it voids.
func (s *Sender) completeVoiding(ctx context.Context, request *chain.TxRequest) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		moved, err := tx.Reservations().MovedTo(ctx, request.ID)
		if err != nil || len(moved) == 0 {
			return errors.Join(err, errors.New("no UTXO or nonce was moved to the voiding transaction"))
		}
		first, err := tx.Outgoing().Get(ctx, moved[0].From)
		if err != nil {
			return err
		}
		unsigned, err := readUnsigned(first)
		if err != nil {
			return err
		}
		if request.Replaces = &unsigned; s.Chain.Capabilities().Model == chain.AccountModel {
			return completeFiller(request, first)
		}
		request.UTXOs = slices.DeleteFunc(request.UTXOs, func(c chain.UTXO) bool {
			return !slices.ContainsFunc(moved, func(m store.Moved) bool { return m.Resource == c.Outpoint })
		})
		request.Payments[0].Amount = sumOf(request.UTXOs)
		return nil
	})
}

// isBeingVoided returns a *WaitError for a transaction that is being made void: it is neither sent again nor bumped.
func (s *Sender) isBeingVoided(ctx context.Context, p bursar.OutgoingTx) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		moved, err := tx.Reservations().MovedFrom(ctx, p.ID)
		if err == nil && len(moved) > 0 {
			err = &WaitError{Reason: fmt.Sprintf("it is being made void by outgoing transaction %s", moved[0].To)}
		}
		return err
	})
}

// endVoiding ends the transaction that was to void p, because p is final.
func (s *Sender) endVoiding(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	moved, err := tx.Reservations().MovedFrom(ctx, p.ID)
	if err != nil || len(moved) == 0 {
		return err
	}
	void, err := tx.Outgoing().Get(ctx, moved[0].To)
	if err != nil {
		return err
	}
	if void.Height > 0 || void.Status == bursar.OutgoingFinal {
		return fmt.Errorf("outgoing transactions %s and %s share a UTXO and are both in a block", void.ID, p.ID)
	}
	return s.endVoid(ctx, tx, void, fmt.Sprintf("outgoing transaction %s was included after all", p.ID))
}

// endUnsignedVoiding ends the transaction that was to void p, because p has ended otherwise, if it cannot have been
// signed: what it would use may be used, and it would wait for ever. One that is signed ends by the final blocks.
func (s *Sender) endUnsignedVoiding(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	moved, err := tx.Reservations().MovedFrom(ctx, p.ID)
	if err != nil || len(moved) == 0 {
		return err
	}
	void, err := tx.Outgoing().Get(ctx, moved[0].To)
	if err != nil || void.Status != bursar.OutgoingNew && void.Status != bursar.OutgoingReserved || s.mayBeOut(void) {
		return err
	}
	return s.endVoid(ctx, tx, void, fmt.Sprintf("outgoing transaction %s has ended otherwise", p.ID))
}

// endVoid ends a transaction that was to void another one, and gives back what was moved to it.
func (s *Sender) endVoid(ctx context.Context, tx *store.Tx, void bursar.OutgoingTx, why string) error {
	if err := tx.Reservations().UndoMove(ctx, void.Chain, void.ID); err != nil {
		return err
	}
	if err := tx.UTXOs().ForgetChange(ctx, void.ID); err != nil {
		return err
	}
	if err := tx.Reservations().Free(ctx, void.ID); err != nil {
		return err
	}
	void.Error = why
	return s.end(ctx, tx, void)
}
