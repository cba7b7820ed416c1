package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// A deposit that is reorged out after it was swept leaves its sweep without funds. An unsigned sweep ends at once. A
// signed sweep hangs, because its bytes may be anywhere and use a nonce: it is neither sent nor bumped and does not
// count as in progress until its address receives enough to pay for a sweep. Then it goes on with what is there, with
// the same nonce.

// endIfPointless ends an unsigned sweep of an address that holds nothing final any more, and an unsigned gas top-up
// that no sweep waits for. It returns every other outgoing transaction unchanged.
func (s *Sender) endIfPointless(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	none, err := s.isPointless(ctx, p)
	if err != nil || !none {
		return p, err
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		none, err := isPointlessByBooks(ctx, tx, now)
		if err != nil || !none {
			return err
		}
		if err := s.freeUnsigned(ctx, tx, now); err != nil {
			return err
		}
		return s.end(ctx, tx, now)
	})
	if err == nil && after.Status == bursar.OutgoingAbandoned {
		s.Log.Info("sweep ended: nothing final is left to collect", "outgoing", p.ID, "chain", p.Chain, "kind", p.Kind,
			"address", p.Base)
	}
	return after, err
}

func (s *Sender) isPointless(ctx context.Context, p bursar.OutgoingTx) (none bool, err error) {
	if p.Kind != string(chain.KindSweep) && p.Kind != string(chain.KindGasTopUp) || isVoiding(p) {
		return false, nil
	}
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		none, err = isPointlessByBooks(ctx, tx, p)
		return err
	})
	return none, err
}

// isPointlessByBooks reports whether, by the books, a sweep has nothing final to collect, or a top-up has no sweep to
// pay for, and no transaction of an old hot wallet that is to void another one.
func isPointlessByBooks(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (bool, error) {
	request, err := DecodeRequest(p)
	if err != nil {
		return false, err
	}
	if p.Kind == string(chain.KindGasTopUp) {
		waits, err := tx.Outgoing().AnySweepFrom(ctx, p.Chain, request.Change.Base)
		if err != nil || waits {
			return false, err
		}
		waits, err = tx.Outgoing().AnyWaitsForGas(ctx, p.Chain, request.Change.Base)
		return err == nil && !waits, err
	}
	h, err := tx.Holdings().Current(ctx, p.Chain, request.From.Base, request.Payments[0].Contract)
	return err == nil && h.Amount.IsZero(), err
}

// hangs reports whether a signed sweep has nothing to collect, or not enough to pay for it, and records a change of
// that.
func (s *Sender) hangs(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) (hangs bool, err error) {
	if p.Kind != string(chain.KindSweep) {
		return false, nil
	}
	dust := false
	if hangs, err = s.isPointless(ctx, p); err == nil && !hangs {
		dust, err = s.isDust(ctx, lease, state, p, newestOf(versions, p.TxID))
		hangs = dust
	}
	if err != nil || hangs == (p.WaitsFor == bursar.WaitsForDeposit) {
		return hangs, err
	}
	_, err = s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if hangs, err = isPointlessByBooks(ctx, tx, now); err != nil || now.Height > 0 {
			return err
		}
		hangs = hangs || dust
		return tx.Outgoing().SetHanging(ctx, now.ID, hangs)
	})
	return hangs, err
}

// newestOf is versionOf among the versions whose bytes are known, or among all if there are none.
func newestOf(versions []store.Version, txID string) store.Version {
	if known := withBytes(versions); len(known) > 0 {
		versions = known
	}
	return versionOf(versions, txID)
}

// isDust reports whether an address holds less of the native asset than its signed sweep takes, as far as that is
// known, and, according to the node, too little to pay for any sweep.
func (s *Sender) isDust(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, newest store.Version,
) (bool, error) {
	request, err := DecodeRequest(p)
	if err != nil || request.Payments[0].Contract != "" {
		return false, err
	}
	unsigned, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: newest.Unsigned})
	if err != nil {
		return false, err
	}
	if len(unsigned.Bytes) > 0 {
		if covered, err := s.isCovered(ctx, p, unsigned); err != nil || covered {
			return false, err
		}
	}
	if behind, err := s.behindHanging(ctx, p); err != nil || behind {
		return behind, err
	}
	_, _, err = s.higherFee(ctx, lease, state, p)
	var short *chain.NeedsFundsError
	return errors.As(err, &short), nil // any other error is found when the sweep is sent
}

// isCovered reports whether an address holds, by the books, what its signed sweep takes of the native asset, or that
// sweep takes a token.
func (s *Sender) isCovered(ctx context.Context, p bursar.OutgoingTx, unsigned chain.UnsignedTx) (bool, error) {
	contract, total, err := s.collects(unsigned)
	if err != nil || contract != "" {
		return contract != "", err
	}
	var h store.Holding
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		h, err = tx.Holdings().Current(ctx, p.Chain, p.Base, "")
		return err
	})
	return err == nil && !h.Amount.Less(total), err
}

// leaveHanging leaves a sweep alone that has nothing to collect, and ends it if its bytes have expired.
func (s *Sender) leaveHanging(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) error {
	if expired, err := s.isOver(ctx, state, p, versions); expired || err != nil {
		return s.endExpired(ctx, lease, p, err)
	}
	return &WaitError{Reason: "the deposit that it collects was reorged out; it goes on once its address receives a " +
		"deposit"}
}

// endIntoHanging gives a hanging sweep the request of a new one, so that the new one does not wait behind the hanging
// sweep's nonce. The new one then ends.
func (s *Sender) endIntoHanging(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx,
) (bursar.OutgoingTx, error) {
	if p.Kind != string(chain.KindSweep) || s.Chain.Capabilities().Model != chain.AccountModel || isFilling(p) {
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
		text, err := requestAs(now, hanging[0].ID)
		if err != nil {
			return err
		}
		if err := s.end(ctx, tx, now); err != nil {
			return err
		}
		return tx.Outgoing().GiveSweep(ctx, hanging[0].ID, now, text)
	})
}

// isOutdated reports whether a signed sweep moves another asset than it should collect now (other), or more of a token
// than is there (more): nodes would accept it, and it would fail in its block.
func (s *Sender) isOutdated(
	ctx context.Context, p bursar.OutgoingTx, newest store.Version,
) (other, more bool, err error) {
	if p.Kind != string(chain.KindSweep) {
		return false, false, nil
	}
	request, err := DecodeRequest(p)
	if err != nil {
		return false, false, err
	}
	unsigned, err := readUnsigned(bursar.OutgoingTx{ID: p.ID, Unsigned: newest.Unsigned})
	if err != nil {
		return false, false, err
	}
	contract, total, err := s.collects(unsigned)
	if err != nil || contract != request.Payments[0].Contract || contract == "" {
		return err == nil && contract != request.Payments[0].Contract, false, err
	}
	var h store.Holding
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		h, err = tx.Holdings().Current(ctx, p.Chain, request.From.Base, contract)
		return err
	})
	return false, err == nil && h.Amount.Less(total), err
}

// collects reads from a sweep's bytes what it takes from its address; for the native asset that includes its highest
// fee.
func (s *Sender) collects(unsigned chain.UnsignedTx) (contract string, total bursar.Amount, err error) {
	contents, err := s.Chain.Inspect(unsigned.Bytes)
	if err != nil || len(contents.Payments) != 1 {
		return "", total, errors.Join(err, fmt.Errorf("a sweep has %d payments, want 1", len(contents.Payments)))
	}
	payment := contents.Payments[0]
	if payment.Contract != "" {
		return payment.Contract, payment.Amount, nil
	}
	total, err = payment.Amount.Add(unsigned.Fee)
	return "", total, err
}

// replaceByLess replaces a signed sweep by a sweep of what is there, if that is less or another asset, and requests gas
// if that is missing. It reports whether it replaced the sweep.
func (s *Sender) replaceByLess(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, newest store.Version,
) (bool, error) {
	p, err := s.sweepHome(ctx, lease, p)
	if err != nil {
		return false, err
	}
	request, unsigned, err := s.higherFee(ctx, lease, state, p)
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
	return s.replace(ctx, lease, state, p, request, unsigned)
}

// isBeforeItsDeposit reports whether a sweep is final before the deposit that it collected is booked: it is settled
// after that.
func (s *Sender) isBeforeItsDeposit(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) (bool, error) {
	if p.Kind != string(chain.KindSweep) || p.Failed {
		return false, nil
	}
	request, err := DecodeRequest(p)
	if err != nil {
		return false, err
	}
	return tx.Deposits().AnyPendingAt(ctx, p.Chain, request.From.Base, request.Payments[0].Contract, p.Height)
}
