package outgoing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// A transaction that was adopted from a block has no bytes here. Where its block is reorged out it cannot be sent
// again, and may come back as long as a node has it. Where transactions expire, it ends once the final blocks are past
// every lifetime. Elsewhere another version of it is made, with the same nonce or all of the same UTXOs, which pays the
// same: of the two at most one can ever be included, and whichever is counts.

// withoutBytes takes a transaction on whose bytes are not known and that is in no block.
func (s *Sender) withoutBytes(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) error {
	over, err := s.isOver(ctx, state, p, versions)
	switch {
	case over || err != nil:
		return s.expire(ctx, lease, p, err)
	case !s.Chain.Capabilities().Lifetime.IsZero():
		return &HeldError{Reason: "its block has left the chain and its bytes are not known; it ends once the final " +
			"blocks are past its lifetime, " +
			"unless others may have signed it: then it stays open"}
	}
	if beaten, err := s.isBeaten(ctx, lease, p); beaten || err != nil {
		return err
	}
	if state.Latest < p.SentAt+max(1, s.Chain.Capabilities().BumpAfter) {
		return &HeldError{Reason: "its block has left the chain and its bytes are not known; another version is made " +
			"unless it comes back soon"}
	}
	order, why, err := s.orderAgain(ctx, p)
	if err != nil {
		return err
	}
	if why != "" {
		return &HeldError{Reason: fmt.Sprintf("its block has left the chain, its bytes are not known, and no other "+
			"version can be made: %s; "+
			"`bursar outgoing abandon %s` makes it void", why, p.ID)}
	}
	p.Unsigned = versions[len(versions)-1].Unsigned // what it used up, whatever was drafted since and not signed
	err = s.makeAgain(ctx, lease, state, p, order)
	var held *HeldError
	if errors.As(err, &held) {
		err = errors.Join(err, s.makeWay(ctx, lease, p))
	}
	return err
}

// isOver reports whether no version of a transaction can ever be included, as the final chain proves: of one whose
// bytes are not known because the chain is past every lifetime since it was in a block.
func (s *Sender) isOver(
	ctx context.Context, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) (bool, error) {
	known := withBytes(versions)
	if len(known) < len(versions) {
		if over, err := s.outlived(ctx, state, p, versions); err != nil || !over {
			return false, err
		}
	}
	return s.expired(ctx, known)
}

// outlived reports whether the final chain, as far as it is recorded, is past the longest lifetime of a transaction
// that was signed before the last block it was in, and a quarter more. What is not known to be ours, or paid what no
// order asked for, may have been signed by others to live longer, or for ever: it stays open.
func (s *Sender) outlived(
	ctx context.Context, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) (bool, error) {
	life, recorded := s.Chain.Capabilities().Lifetime, min(state.Final, uint64(max(state.Height, 0)))
	if life.IsZero() || p.SentAt == 0 || recorded <= p.SentAt+life.Blocks+life.Blocks/4 {
		return false, nil
	}
	var newest time.Time // when the last of them was in a block for the first time
	ours := true
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		for _, v := range versions {
			if len(v.Raw) > 0 {
				continue
			}
			x, err := tx.ExternalSpends().ByTx(ctx, p.Chain, v.TxID)
			if err != nil {
				return err
			}
			ours = ours && x.Status == store.ExternalAdopted && x.Booked == ""
			if newest.Before(x.MadeAt) {
				newest = x.MadeAt
			}
		}
		return nil
	})
	if err != nil || !ours || life.Time == 0 {
		return err == nil && ours, err
	}
	now, err := s.timeOf(ctx, recorded)
	return err == nil && now.After(newest.Add(life.Time+life.Time/4)), err
}

// timeOf returns when the recorded block at a height was made; the zero time where the chain does not show it as the
// next one.
func (s *Sender) timeOf(ctx context.Context, height uint64) (at time.Time, err error) {
	var b store.Block
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		b, err = tx.Blocks().At(ctx, s.Chain.Capabilities().ID, height)
		return err
	})
	if errors.Is(err, store.ErrNotFound) || height == 0 {
		return at, nil
	}
	if err != nil {
		return at, err
	}
	blocks, err := s.Chain.After(ctx, chain.BlockRef{Height: height - 1, Hash: b.Parent}, 1, only(""))
	if err != nil || len(blocks) == 0 || blocks[0].Ref.Hash != b.Hash {
		return at, err
	}
	return blocks[0].Time, nil
}

// isBeaten ends a transaction whose bytes are not known where another one of ours, which had reserved what it used up
// before it was adopted, is final: the two cannot both be included. While that one is open, it goes on, and this one
// waits.
func (s *Sender) isBeaten(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bool, error) {
	other := bursar.ID{}
	after, err := s.changeAt(ctx, lease, p, func(tx *store.Tx, state store.ChainState, now bursar.OutgoingTx) error {
		unsigned, err := readUnsigned(now)
		if err != nil || now.Height > 0 {
			return err
		}
		owners, err := tx.Reservations().Owners(ctx, now.Chain, unsigned.Reservations)
		if err != nil {
			return err
		}
		for _, resource := range unsigned.Reservations {
			id, owned := owners[resource]
			if !owned || id == now.ID {
				continue
			}
			by, err := tx.Outgoing().Get(ctx, id)
			if err != nil {
				return err
			}
			if other = id; by.Status == bursar.OutgoingFinal && by.Height <= state.Final {
				return s.giveUpSigned(ctx, tx, now)
			}
		}
		return nil
	})
	switch {
	case err != nil || other.IsZero():
		return false, err
	case after.Status == bursar.OutgoingAbandoned:
		s.Log.Warn("adopted transaction can never be included, for another one has used up the same", "spend", p.ID, "chain",
			p.Chain, "by", other)
		return true, nil
	}
	return false,
		&HeldError{Reason: fmt.Sprintf("its block has left the chain and its bytes are not known; outgoing transaction %s "+
			"uses up the same, and goes on", other)}
}

// ownResources leaves out the claims that belong to another outgoing transaction.
func ownResources(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, resources []string) ([]string, error) {
	owners, err := tx.Reservations().Owners(ctx, p.Chain, resources)
	return slices.DeleteFunc(slices.Clone(resources), func(resource string) bool {
		id, owned := owners[resource]
		return owned && id != p.ID
	}), err
}

// orderAgain returns the order of another version of a transaction that was adopted, or why there can be none: all that
// it pays others is then what the books know of.
func (s *Sender) orderAgain(ctx context.Context, p bursar.OutgoingTx) (order chain.TxRequest, why string, err error) {
	if order, err = Order(p); err != nil {
		return order, "", err
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		x, err := tx.ExternalSpends().Behind(ctx, p.ID)
		switch {
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		case x.Status == store.ExternalUnclear:
			why = "nobody has said what it paid: see `bursar recovery status`"
		case x.Status == store.ExternalSettled || x.Booked != "":
			why = "it pays something that no order asked for"
		case len(order.Payments) == 0:
			why = "it pays nobody"
		}
		if why != "" || order.Kind != chain.KindWithdrawal {
			return nil
		}
		orders, err := tx.Outgoing().OrdersPaid(ctx, p.ID)
		if err != nil {
			return err
		}
		owed := make([]chain.Payment, 0, len(orders))
		for _, o := range orders {
			currency, err := s.Registry.Get(o.Currency)
			if err != nil {
				return err
			}
			owed = append(owed, chain.Payment{Address: o.To, Contract: currency.Contract, Amount: o.Amount})
		}
		if !samePayments(owed, order.Payments) {
			why = "it does not pay just what was ordered"
		}
		return nil
	})
	return order, why, err
}

// samePayments reports whether two lists hold the same payments, in whatever order.
func samePayments(a, b []chain.Payment) bool {
	count := map[chain.Payment]int{}
	for _, p := range a {
		count[p]++
	}
	for _, p := range b {
		count[p]--
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return true
}

// makeAgain drafts, signs, stores and sends the first version of a transaction whose bytes are known, with the claims
// of the one that was adopted. What was built on that one's change cannot be included beside it, and ends when this
// version is final.
func (s *Sender) makeAgain(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, order chain.TxRequest,
) error {
	order, unsigned, err := s.bumpFor(ctx, lease, state, p, order)
	if gas := (*chain.NeedsGasError)(nil); errors.As(err, &gas) {
		return s.topUp(ctx, lease, p, gas)
	}
	if err != nil {
		return err
	}
	if len(unsigned.Reservations) == 0 {
		return &HeldError{Reason: "its block has left the chain and its bytes are not known; another version is made once " +
			"what has a lower nonce is included"}
	}
	p, err = s.keepAgain(ctx, passage{p, order, stepBump, lease}, unsigned)
	if err != nil || p.Height > 0 {
		return err
	}
	if s.Marks != nil {
		if err := s.Marks.Sign(ctx, lease, p.ID); err != nil {
			return fmt.Errorf("count the signature: %w", err)
		}
	}
	signed, err := s.Signer.Sign(ctx, p.Chain, withoutChoices(order), unsigned)
	if err == nil {
		p, err = s.store(ctx, passage{p, order, stepBump, lease}, signedVersion{unsigned, signed, state.Latest}, p.Status)
	}
	if err != nil {
		if s.Marks != nil && !errors.Is(err, store.ErrLeaseLost) {
			s.Marks.Unsigned(p.Chain, p.ID) // the bytes were dropped
		}
		return fmt.Errorf("another version: %w", err)
	}
	if p.TxID != signed.TxID {
		return nil // it has come back meanwhile
	}
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		return tx.Alarms().Resolve(ctx, recovery.AlarmBytesUnknown, p.ID.String())
	})
	if err != nil {
		return err
	}
	s.Log.Warn("adopted transaction that left the chain is made again", "spend", p.ID, "chain", p.Chain, "hash",
		signed.TxID, "fee", unsigned.Fee)
	return s.Chain.Broadcast(ctx, signed)
}

// keepAgain records what another version of an adopted transaction is going to be, and reserves what it uses up, before
// it is signed.
func (s *Sender) keepAgain(ctx context.Context, a passage, unsigned chain.UnsignedTx) (bursar.OutgoingTx, error) {
	text, err := encodeUnsigned(unsigned)
	if err != nil {
		return a.outgoingTx, err
	}
	completed, err := json.Marshal(withoutChoices(a.order))
	if err != nil {
		return a.outgoingTx, fmt.Errorf("write order: %w", err)
	}
	return s.change(ctx, a.lease, a.outgoingTx, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if now.Height > 0 {
			return nil
		}
		if err := s.gate(ctx, tx, passage{now, a.order, a.step, a.lease}); err != nil {
			return err
		}
		if err := s.budget(ctx, tx, now, a.order, unsigned.Fee); err != nil {
			return err
		}
		if err := tx.Reservations().Reserve(ctx, now, unsigned.Reservations); err != nil {
			return err
		}
		if err := tx.Outgoing().SetRequest(ctx, now.ID, completed); err != nil {
			return err
		}
		now.Unsigned = text // its error stays until the version is stored: only a step that ends otherwise notes another
		return tx.Outgoing().SetStatus(ctx, now, now.Status)
	})
}
