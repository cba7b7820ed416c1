package outgoing

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// alarmHeldUp is about an outgoing transaction that a halt holds and whose nonce others of no halted currency wait
// behind, where it cannot be made void. Ref is the transaction. It ends with it.
const alarmHeldUp = "held_up"

// A transaction of a halted currency that is signed has a nonce that nothing else may use, and the halt keeps it from
// being sent or bumped. Nothing behind it could be included. Where something of another currency waits there, it is
// made void: another transaction with its nonce moves one unit of the native asset from the hot address to a deposit
// address of ours, at a higher fee. Of the two at most one can be included. What the first pays is paid again after the
// halt, once the other one is final; where the first was with a node before and is included all the same, it counts.

// jam is a held transaction that others wait behind.
type jam struct {
	nonce uint64
	halts []store.Halt      // what holds it
	first bursar.OutgoingTx // the first of those that wait
}

// makeWay has a transaction that a halt holds stand in the way of no other currency's. It does nothing where nothing
// waits behind its nonce, or where the bytes expire, which frees the nonce.
func (s *Sender) makeWay(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) error {
	var found *jam
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		found, err = s.jamBy(ctx, tx, p)
		return err
	})
	if err != nil || found == nil {
		return err
	}
	var by bursar.ID
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		by = bursar.ID{}
		found, err := s.jamBy(ctx, tx, now)
		if err != nil || found == nil {
			return err
		}
		order, why, err := s.filler(ctx, tx, now)
		if err != nil {
			return err
		}
		if why != "" {
			return tx.Alarms().Raise(ctx, store.Alarm{
				Chain:   now.Chain,
				Kind:    alarmHeldUp,
				Ref:     now.ID.String(),
				Message: found.message(now, why),
			})
		}
		by = order.ID
		return s.orderVoid(ctx, tx, now, order, []string{fmt.Sprintf("%s/%d", now.Base, found.nonce)})
	})
	if err == nil && !by.IsZero() {
		s.Log.Warn("outgoing transaction of a halted currency is being made void, for others wait behind its nonce",
			"spend", p.ID, "by", by, "chain", p.Chain, "currency", p.Currency, "nonce", found.nonce, "waits", found.first.ID,
			"status", after.Status)
	}
	return err
}

// jamBy says what waits behind a signed transaction that a halt holds; nil where nothing does that could go on without
// it.
func (s *Sender) jamBy(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (*jam, error) {
	own, numbered := nonceOfTx(p)
	if !numbered || p.Height > 0 || s.Chain.Capabilities().Model != chain.AccountModel {
		return nil, nil
	}
	if unsigned, err := readUnsigned(p); err != nil || unsigned.Expires > 0 {
		return nil, err
	}
	if moved, err := tx.Reservations().MovedFrom(ctx, p.ID); err != nil || len(moved) > 0 {
		return nil, err
	}
	order, err := Order(p)
	if err != nil {
		return nil, err
	}
	halts, err := tx.Halts().Of(ctx, s.scopes(passage{outgoingTx: p, order: order})...)
	if err != nil || len(halts) == 0 {
		return nil, err
	}
	first, waits, err := s.behind(ctx, tx, p, own, func(other bursar.OutgoingTx, order chain.TxRequest) (bool, error) {
		err := s.notHalted(ctx, tx, passage{outgoingTx: other, order: order})
		var held *HeldError
		if errors.As(err, &held) {
			return false, nil
		}
		return err == nil, err
	})
	if err != nil || !waits {
		return nil, err
	}
	return &jam{own, halts, first}, nil
}

// behind returns the first transaction with a higher nonce, of the same address and in no block, that counts.
func (s *Sender) behind(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, nonce uint64,
	counts func(bursar.OutgoingTx, chain.TxRequest) (bool, error)) (bursar.OutgoingTx, bool, error) {
	open, err := tx.Outgoing().OpenFrom(ctx, p.Chain, p.Base, p.ID)
	if err != nil {
		return bursar.OutgoingTx{}, false, err
	}
	for _, other := range open {
		if theirs, numbered := nonceOfTx(other); !numbered || theirs <= nonce {
			continue
		}
		order, err := Order(other)
		if err != nil {
			return bursar.OutgoingTx{}, false, err
		}
		if is, err := counts(other, order); err != nil || is {
			return other, is, err
		}
	}
	return bursar.OutgoingTx{}, false, nil
}

// filler is the order of what is to take a transaction's nonce, or why there can be none. A signer knows it as gas for
// a deposit address of ours, so that no new kind of transaction has to be allowed.
func (s *Sender) filler(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx,
) (order chain.TxRequest, why string, err error) {
	capabilities := s.Chain.Capabilities()
	native, known := s.Registry.Asset(capabilities.ID, "")
	switch {
	case !known || capabilities.SharedAddress:
		return order, "the chain has no address for that", nil
	case isVoiding(p):
		return order, "it is to make another one void itself", nil
	case p.Base != s.Hot.Base:
		return order, "it is not of the hot address", nil
	}
	to, found, err := tx.Wallets().Any(ctx, capabilities.Family)
	if err != nil || !found {
		return order, "there is no deposit address", err
	}
	payee := chain.Source{Base: to.Address.Base,
		Key: chain.KeyRef{Family: capabilities.Family, Branch: chain.DepositBranch, Index: to.Index}}
	order = chain.TxRequest{ID: s.IDs.Next(), Kind: chain.KindGasTopUp, From: s.Hot, Change: payee, MaxFee: s.MaxFee,
		Payments: []chain.Payment{{Address: bursar.Address{Base: payee.Base}, Amount: bursar.Units(1)}}}
	err = s.notHalted(ctx, tx, passage{outgoingTx: bursar.OutgoingTx{Chain: p.Chain, Currency: native.Code}, order: order})
	var held *HeldError
	if errors.As(err, &held) {
		return order, held.Reason, nil
	}
	return order, "", err
}

// completeFiller has a filler take the nonce of the transaction that it makes void, whose money is spoken for by it no
// more.
func (s *Sender) completeFiller(
	ctx context.Context, tx *store.Tx, order *chain.TxRequest, first bursar.OutgoingTx,
) error {
	nonce, numbered := nonceOfTx(first)
	if !numbered {
		return fmt.Errorf("spend %s has no nonce", first.ID)
	}
	order.Nonce = &nonce
	without := *order
	without.ID = first.ID
	reserved, err := s.reserved(ctx, tx, without)
	order.Reserved = reserved
	return err
}

// message says what waits behind what, and which command ends that.
func (j *jam) message(p bursar.OutgoingTx, why string) string {
	reasons, remedies := make([]string, len(j.halts)), make([]string, len(j.halts))
	for i, h := range j.halts {
		reasons[i], remedies[i] = h.String(), h.Remedy()
	}
	return fmt.Sprintf("outgoing transaction %s of %s has nonce %d of %s and is held: %s. %s of %s waits behind it, "+
		"and others may; it cannot be made void: %s. End the halt: %s",
		p.ID, p.Currency, j.nonce, p.Base, strings.Join(reasons, "; "), j.first.ID, j.first.Currency, why,
		strings.Join(remedies, ", "))
}
