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

// ErrCannotBeVoid is returned for an outgoing transaction that no other one can take the UTXOs from.
var ErrCannotBeVoid = errors.New("it cannot be made void")

// Abandonment is an operator's wish to have a sent outgoing transaction made void.
type Abandonment struct {
	Reason string
	Actor  string
}

const onceAbandon = recovery.OnceVoid

// Abandon has a sent transaction made void: of the UTXO model by another one that takes what is left of its UTXOs home
// at a higher fee; of the account model, where it was adopted and its bytes are not known, by one that has its nonce.
// At most one of the two can ever be included. What the first pays is paid again only once the other is final, and if
// the first is included after all, it counts and the other ends. It returns the ID of the other one.
func (s *Sender) Abandon(ctx context.Context, id bursar.ID, a Abandonment) (by bursar.ID, err error) {
	switch capabilities := s.Chain.Capabilities(); {
	case capabilities.Model == chain.AccountModel && capabilities.Lifetime.IsZero():
		by, err = s.fillNonce(ctx, id)
	case capabilities.Model == chain.AccountModel:
		err = fmt.Errorf("%w: transactions of chain %s expire", ErrCannotBeVoid, capabilities.ID)
	default:
		by, err = s.takeUTXOs(ctx, id)
	}
	if err == nil {
		s.Log.Warn("outgoing transaction is being made void by an operator", "spend", id, "by", by, "reason", a.Reason,
			"actor", a.Actor)
	}
	return by, err
}

// fillNonce orders a transaction with the nonce of an adopted one whose bytes are not known.
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
		if !numbered || len(versions) == 0 || len(withBytes(versions)) > 0 {
			return fmt.Errorf("%w: it has no UTXOs, and is sent and bumped until it is included", ErrCannotBeVoid)
		}
		order, why, err := s.filler(ctx, tx, p)
		if err != nil || why != "" {
			return errors.Join(err, fmt.Errorf("%w: %s", ErrCannotBeVoid, why))
		}
		by = order.ID
		return s.orderVoid(ctx, tx, p, order, []string{fmt.Sprintf("%s/%d", p.Base, nonce)})
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
			Amount: bursar.Units(1)} // the unsigned transaction fills in what there is
		order := chain.TxRequest{
			ID:       by,
			Kind:     chain.KindConsolidation,
			Payments: []chain.Payment{home},
			Change:   s.Hot,
			MaxFee:   s.MaxFee,
		}
		return s.orderVoid(ctx, tx, p, order, resources)
	})
	return by, err
}

// orderVoid records the order of what is to make a transaction void, and gives it what it is to use up in its place.
func (s *Sender) orderVoid(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, order chain.TxRequest, resources []string,
) error {
	native, ok := s.Registry.Asset(p.Chain, "")
	if !ok {
		return fmt.Errorf("chain %s has no currency of its own configured", p.Chain)
	}
	void := bursar.OutgoingTx{
		Chain:    p.Chain,
		Currency: native.Code,
		Share:    bursar.ShareTopUp,
		Once:     onceAbandon + p.ID.String(),
	}
	if _, err := insert(ctx, tx, void, order); err != nil {
		return err
	}
	if err := tx.Reservations().Move(ctx, p.Chain, p.ID, order.ID, resources); err != nil {
		return err
	}
	return tx.UTXOs().ForgetChange(ctx, p.ID) // nothing is built on it any more; its block brings it back
}

// voidable returns the versions of a transaction that is sent, in no block, and not being made void.
func (s *Sender) voidable(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) ([]store.Version, error) {
	if p.Height > 0 || p.Status != bursar.OutgoingSigned && p.Status != bursar.OutgoingSent {
		return nil, fmt.Errorf("%w: %s", ErrNotOpen, p.Status)
	}
	if moved, err := tx.Reservations().MovedFrom(ctx, p.ID); err != nil || len(moved) > 0 || isVoiding(p) {
		return nil, errors.Join(err, fmt.Errorf("%w: that is under way", ErrCannotBeVoid))
	}
	return tx.Outgoing().Versions(ctx, p.ID)
}

// toTake returns the UTXOs that are to be taken from a transaction: all that are left, of which every version needs
// one.
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

// isVoiding reports whether an outgoing transaction is to make another one void.
func isVoiding(p bursar.OutgoingTx) bool { return strings.HasPrefix(p.Once, onceAbandon) }

// completeVoiding has an outgoing transaction take just the UTXOs or the nonce that were moved to it, at a higher fee
// than the transaction that it makes void.
func (s *Sender) completeVoiding(ctx context.Context, order *chain.TxRequest) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		moved, err := tx.Reservations().MovedTo(ctx, order.ID)
		if err != nil || len(moved) == 0 {
			return errors.Join(err, errors.New("nothing was moved to it"))
		}
		first, err := tx.Outgoing().Get(ctx, moved[0].From)
		if err != nil {
			return err
		}
		unsigned, err := readUnsigned(first)
		if err != nil {
			return err
		}
		if order.Replaces = &unsigned; s.Chain.Capabilities().Model == chain.AccountModel {
			return s.completeFiller(ctx, tx, order, first)
		}
		order.UTXOs = slices.DeleteFunc(order.UTXOs, func(c chain.UTXO) bool {
			return !slices.ContainsFunc(moved, func(m store.Moved) bool { return m.Claim == c.Outpoint })
		})
		order.Payments[0].Amount = sumOf(order.UTXOs)
		return nil
	})
}

// isBeingVoided holds a transaction back that is being made void: it is neither sent again nor bumped.
func (s *Sender) isBeingVoided(ctx context.Context, p bursar.OutgoingTx) error {
	return s.DB.View(ctx, func(tx *store.Tx) error {
		moved, err := tx.Reservations().MovedFrom(ctx, p.ID)
		if err == nil && len(moved) > 0 {
			err = &HeldError{Reason: fmt.Sprintf("it is being made void by outgoing transaction %s", moved[0].To)}
		}
		return err
	})
}

// keptAfterAll ends what was to make an outgoing transaction void that is final now.
func (s *Sender) keptAfterAll(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	moved, err := tx.Reservations().MovedFrom(ctx, p.ID)
	if err != nil || len(moved) == 0 {
		return err
	}
	void, err := tx.Outgoing().Get(ctx, moved[0].To)
	if err != nil {
		return err
	}
	if void.Height > 0 || void.Status == bursar.OutgoingFinal {
		return fmt.Errorf("spend %s is in a block, and so is spend %s that shares a UTXO with it", void.ID, p.ID)
	}
	if err := tx.Reservations().UndoMove(ctx, p.Chain, void.ID); err != nil {
		return err
	}
	if err := tx.UTXOs().ForgetChange(ctx, void.ID); err != nil {
		return err
	}
	if err := tx.Reservations().Free(ctx, void.ID); err != nil {
		return err
	}
	if err := s.quiet(ctx, tx, void); err != nil {
		return err
	}
	void.Error = fmt.Sprintf("outgoing transaction %s was included after all", p.ID)
	return tx.Outgoing().SetStatus(ctx, void, bursar.OutgoingAbandoned)
}
