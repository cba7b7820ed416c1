package outgoing

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// A deposit that is reorged out after it was swept takes the ground from under its sweep. An unsigned sweep ends at
// once. A signed one hangs, for its bytes are out of our hands and its nonce with them: it is neither sent nor bumped
// and counts as nothing under way, until money arrives at its address, enough to pay for a sweep. Then it goes on with
// what there is, by the same nonce.

// withPoint ends an unsigned sweep of an address at which nothing final is left, and an unsigned gas top-up for which
// no sweep waits. It returns every other outgoing transaction as it is.
func (s *Sender) withPoint(ctx context.Context, lease store.Lease, p bursar.OutgoingTx) (bursar.OutgoingTx, error) {
	none, err := s.isPointless(ctx, p)
	if err != nil || !none {
		return p, err
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		none, err := pointless(ctx, tx, now)
		if err != nil || !none {
			return err
		}
		if err := s.giveBackUnsigned(ctx, tx, now); err != nil {
			return err
		}
		if err := s.quiet(ctx, tx, now); err != nil {
			return err
		}
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingAbandoned)
	})
	if err == nil && after.Status == bursar.OutgoingAbandoned {
		s.Log.Info("sweep ended, for nothing final is left to collect", "spend", p.ID, "chain", p.Chain, "kind", p.Kind,
			"address", p.Base)
	}
	return after, err
}

func (s *Sender) isPointless(ctx context.Context, p bursar.OutgoingTx) (none bool, err error) {
	if p.Kind != string(chain.KindSweep) && p.Kind != string(chain.KindGasTopUp) || isVoiding(p) {
		return false, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		none, err = pointless(ctx, tx, p)
		return err
	})
	return none, err
}

// pointless reports whether a sweep has nothing to collect that is final by the books, or a top-up no sweep to pay for.
func pointless(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (bool, error) {
	order, err := Order(p)
	if err != nil {
		return false, err
	}
	if p.Kind == string(chain.KindGasTopUp) {
		waits, err := tx.Outgoing().AnySweepFrom(ctx, p.Chain, order.Change.Base)
		return err == nil && !waits, err
	}
	h, err := tx.Holdings().Current(ctx, p.Chain, order.From.Base, order.Payments[0].Contract)
	return err == nil && h.Amount.IsZero(), err
}

// hangs reports whether a signed sweep has nothing to collect, or not enough to pay for it, and notes where that has
// changed.
func (s *Sender) hangs(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) (hangs bool, err error) {
	if p.Kind != string(chain.KindSweep) {
		return false, nil
	}
	dust := false
	if hangs, err = s.isPointless(ctx, p); err == nil && !hangs {
		dust, err = s.isDust(ctx, lease, state, p, named(withBytes(versions), p.TxID))
		hangs = dust
	}
	if err != nil || hangs == (p.WaitsFor == bursar.WaitsForDeposit) {
		return hangs, err
	}
	_, err = s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if hangs, err = pointless(ctx, tx, now); err != nil || now.Height > 0 {
			return err
		}
		hangs = hangs || dust
		return tx.Outgoing().SetHanging(ctx, now.ID, hangs)
	})
	return hangs, err
}

// isDust reports whether an address holds less of the native asset than its signed sweep takes, and by the node's word
// too little to pay for any sweep.
func (s *Sender) isDust(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, newest store.Version,
) (bool, error) {
	order, err := Order(p)
	if err != nil || order.Payments[0].Contract != "" {
		return false, err
	}
	unsigned, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: newest.Unsigned})
	if err != nil {
		return false, err
	}
	contract, total, err := s.collects(unsigned)
	if err != nil || contract != "" {
		return false, err
	}
	var h store.Holding
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		h, err = tx.Holdings().Current(ctx, p.Chain, order.From.Base, "")
		return err
	})
	if err != nil || !h.Amount.Less(total) {
		return false, err
	}
	_, _, err = s.higherFee(ctx, lease, state, p)
	var short *chain.NeedsFundsError
	return errors.As(err, &short), nil // what else is wrong is found by who sends it
}

// hang leaves a sweep alone that has nothing to collect; where its bytes expire it ends.
func (s *Sender) hang(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) error {
	if expired, err := s.isOver(ctx, state, p, versions); expired || err != nil {
		return s.expire(ctx, lease, p, err)
	}
	return &HeldError{Reason: "what it collects has left the chain; it goes on once money arrives at its address"}
}

// byHangingNonce has a sweep that hangs collect what a new one shall, so that the new one does not wait behind its
// nonce. The new one ends with that.
func (s *Sender) byHangingNonce(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	if p.Kind != string(chain.KindSweep) || s.Chain.Capabilities().Model != chain.AccountModel {
		return p, nil
	}
	var hanging []bursar.OutgoingTx
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		hanging, err = tx.Outgoing().HangingSweeps(ctx, p.Chain, p.Base)
		return err
	})
	if err != nil || len(hanging) == 0 {
		return p, err
	}
	return s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		hanging, err := tx.Outgoing().HangingSweeps(ctx, p.Chain, p.Base)
		if err != nil || len(hanging) == 0 {
			return err
		}
		order, err := Order(now)
		if err != nil {
			return err
		}
		order.ID = hanging[0].ID
		text, err := json.Marshal(order)
		if err != nil {
			return fmt.Errorf("write order: %w", err)
		}
		if err := tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingAbandoned); err != nil {
			return err
		}
		return tx.Outgoing().GiveSweep(ctx, hanging[0].ID, now, text)
	})
}

// isOutdated reports whether a signed sweep asks for another asset than it shall collect by now, or for more of a token
// than is there: nodes would take it, and it would fail in its block.
func (s *Sender) isOutdated(
	ctx context.Context, p bursar.OutgoingTx, newest store.Version,
) (other, more bool, err error) {
	if p.Kind != string(chain.KindSweep) {
		return false, false, nil
	}
	order, err := Order(p)
	if err != nil {
		return false, false, err
	}
	unsigned, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: newest.Unsigned})
	if err != nil {
		return false, false, err
	}
	contract, total, err := s.collects(unsigned)
	if err != nil || contract != order.Payments[0].Contract || contract == "" {
		return err == nil && contract != order.Payments[0].Contract, false, err
	}
	var h store.Holding
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		h, err = tx.Holdings().Current(ctx, p.Chain, order.From.Base, contract)
		return err
	})
	return false, err == nil && h.Amount.Less(total), err
}

// collects reads from a sweep's bytes what it takes from its address: of the native asset with its highest fee.
func (s *Sender) collects(unsigned chain.UnsignedTx) (contract string, total bursar.Amount, err error) {
	contents, err := s.Chain.Inspect(unsigned.Bytes)
	if err != nil || len(contents.Payments) != 1 {
		return "", total, errors.Join(err, fmt.Errorf("a sweep of %d payments", len(contents.Payments)))
	}
	payment := contents.Payments[0]
	if payment.Contract != "" {
		return payment.Contract, payment.Amount, nil
	}
	total, err = payment.Amount.Add(unsigned.Fee)
	return "", total, err
}

// replaceByLess replaces a signed sweep by one of what is there, where that is less or another asset; it has gas sent
// where that is lacking. It reports whether it replaced it.
func (s *Sender) replaceByLess(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, newest store.Version,
) (bool, error) {
	order, unsigned, err := s.higherFee(ctx, lease, state, p)
	var gas *chain.NeedsGasError
	if errors.As(err, &gas) {
		return false, s.topUp(ctx, lease, p, gas)
	}
	if err != nil || len(unsigned.Reservations) == 0 {
		return false, err
	}
	before, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: newest.Unsigned})
	if err != nil {
		return false, err
	}
	was, most, err := s.collects(before)
	if err != nil {
		return false, err
	}
	is, total, err := s.collects(unsigned)
	if err != nil || is == was && !total.Less(most) {
		return false, err
	}
	return s.replace(ctx, lease, state, p, order, unsigned)
}

// isEarly reports whether a sweep is final before what it collected is booked: it is settled after that.
func (s *Sender) isEarly(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (bool, error) {
	if p.Kind != string(chain.KindSweep) || p.Failed {
		return false, nil
	}
	order, err := Order(p)
	if err != nil {
		return false, err
	}
	return tx.Deposits().AnyPendingAt(ctx, p.Chain, order.From.Base, order.Payments[0].Contract, p.Height)
}
