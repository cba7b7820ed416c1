package outgoing

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// send sends a transaction, or a fee bump if it has waited too long: immediately, after a restart, and again with every
// new block until it is included.
func (s *Sender) send(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx) error {
	if at, sent := s.memory.lastSentHeight[p.ID]; sent && at == state.Latest && p.Status == bursar.OutgoingSent {
		return nil
	}
	versions, err := s.versions(ctx, p.ID)
	if err != nil || len(versions) == 0 {
		return errors.Join(err, missingVersion(p, len(versions)))
	}
	if lost, err := s.endIfLost(ctx, lease, state, p, versions); lost || err != nil {
		return err
	}
	if err := s.isBeingVoided(ctx, p); err != nil {
		return err
	}
	if len(withBytes(versions)) == 0 {
		return s.withoutBytes(ctx, lease, state, p, versions)
	}
	if hangs, err := s.hangs(ctx, lease, state, p, versions); err != nil || hangs {
		return errors.Join(err, s.leaveHanging(ctx, lease, state, p, versions))
	}
	if p.Status == bursar.OutgoingSent && s.overdue(state, p) {
		if exchanged, err := s.exchangeWithHanging(ctx, lease, p); exchanged || err != nil {
			return err
		}
		below := s.fillBelow(ctx, lease, state, p)
		if below != nil && stops(ctx, below) {
			return below
		}
		replaced, err := s.bumpFee(ctx, lease, state, p)
		if replaced || errors.Is(err, store.ErrLeaseLost) {
			return errors.Join(below, err)
		}
		if err != nil {
			err = errors.Join(err, s.voidIfBlocking(ctx, lease, p, err))
		}
		// A transaction that cannot be replaced now is sent again: a node may have forgotten it.
		return errors.Join(below, err, s.broadcast(ctx, lease, state, p, versions))
	}
	return s.broadcast(ctx, lease, state, p, versions)
}

// withBytes filters out versions that were adopted from a block: their bytes are not known, so they cannot be sent.
func withBytes(versions []store.Version) []store.Version {
	return slices.DeleteFunc(slices.Clone(versions), func(v store.Version) bool { return len(v.Raw) == 0 })
}

// broadcast sends the current version and records the result.
func (s *Sender) broadcast(
	ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx, versions []store.Version,
) error {
	newest := versionOf(withBytes(versions), p.TxID)
	other, more, err := s.isOutdated(ctx, p, newest)
	if err != nil {
		return err
	}
	if other || more {
		replaced, err := s.replaceByLess(ctx, lease, state, p, newest)
		if !replaced && (other || err != nil) {
			return errors.Join(err, s.endIfExpired(ctx, lease, p, versions)) // if nothing can replace it, it may have expired
		}
		if replaced {
			return err
		}
	}
	err = s.Chain.Broadcast(ctx, chain.SignedTx{TxID: newest.TxID, Raw: newest.Raw})
	switch {
	case err == nil:
		s.memory.lastSentHeight[p.ID] = state.Latest
		return s.recordSent(ctx, lease, state, p)
	case errors.Is(err, chain.ErrUnderpriced):
		_, bumpErr := s.bumpFee(ctx, lease, state, p)
		return errors.Join(err, bumpErr)
	}
	if expired, expErr := s.isOver(ctx, state, p, versions); expired || expErr != nil {
		return s.endExpired(ctx, lease, p, expErr)
	}
	if p.Kind == string(chain.KindSweep) && !more {
		replaced, bumpErr := s.replaceByLess(ctx, lease, state, p, newest)
		if replaced && bumpErr == nil {
			return nil
		}
		err = errors.Join(err, bumpErr)
	}
	// Whatever the node answers, the bytes may be anywhere: only the final chain can prove that they pay nobody.
	return fmt.Errorf("broadcast %s: %w", newest.TxID, err)
}

// versionOf returns the version with a transaction hash; if none has it, the newest version. The version that was in a
// block is not always the newest.
func versionOf(versions []store.Version, txID string) store.Version {
	for _, v := range versions {
		if v.TxID == txID {
			return v
		}
	}
	return versions[len(versions)-1]
}

func missingVersion(p bursar.OutgoingTx, versions int) error {
	if versions > 0 {
		return nil
	}
	return fmt.Errorf("outgoing transaction %s is %s and has no stored version", p.ID, p.Status)
}

func (s *Sender) versions(ctx context.Context, id bursar.ID) (versions []store.Version, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) error {
		versions, err = tx.Outgoing().Versions(ctx, id)
		return err
	})
	return versions, err
}

// recordSent records the first time that a node accepted the bytes.
func (s *Sender) recordSent(ctx context.Context, lease store.Lease, state store.ChainState, p bursar.OutgoingTx) error {
	if p.Status == bursar.OutgoingSent && p.SentAt > 0 {
		return nil
	}
	_, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		withdrawals, err := tx.Withdrawals().PaidBy(ctx, now.ID)
		if err != nil {
			return err
		}
		if err := s.payouts().Broadcast(ctx, tx, withdrawals); err != nil {
			return err
		}
		now.SentAt, now.Error = state.Latest, ""
		s.log(tx, "outgoing transaction sent", now)
		return tx.Outgoing().SetStatus(ctx, now, bursar.OutgoingSent)
	})
	if err == nil {
		s.notifyEventsRecorded()
	}
	return err
}

// overdue reports whether a transaction has waited long enough to be replaced.
func (s *Sender) overdue(state store.ChainState, p bursar.OutgoingTx) bool {
	patience := s.Chain.Capabilities().BumpAfter
	if p.Kind == string(chain.KindConsolidation) && !s.memory.consolidationUrgent && !isVoiding(p) {
		return false // it waits until fees are low again
	}
	return patience > 0 && p.SentAt > 0 && state.Latest >= p.SentAt+patience
}

// expired reports whether every version of an outgoing transaction is proven never to be included.
func (s *Sender) expired(ctx context.Context, versions []store.Version) (bool, error) {
	for _, v := range versions {
		if len(v.Raw) == 0 {
			return false, nil // adopted from a block: it is not known whether it can be included again
		}
		unsigned, err := readUnsigned(bursar.OutgoingTx{Unsigned: v.Unsigned})
		if err != nil {
			return false, err
		}
		if gone, err := s.Chain.Expired(ctx, unsigned, v.TxID); err != nil || !gone {
			return false, err
		}
	}
	return true, nil
}

// endIfExpired ends an outgoing transaction if it is proven that none of its versions can be included, and
// otherwise does nothing.
func (s *Sender) endIfExpired(
	ctx context.Context, lease store.Lease, p bursar.OutgoingTx, versions []store.Version,
) error {
	if expired, err := s.expired(ctx, versions); expired || err != nil {
		return s.endExpired(ctx, lease, p, err)
	}
	return nil
}

// endExpired ends an outgoing transaction none of whose versions can ever be included; its withdrawals are requeued and
// paid by another one.
func (s *Sender) endExpired(ctx context.Context, lease store.Lease, p bursar.OutgoingTx, cause error) error {
	if errors.Is(cause, chain.ErrPruned) {
		return errors.Join(cause, s.alarmPruned(ctx, lease, p))
	}
	if cause != nil {
		return fmt.Errorf("find out whether it expired: %w", cause)
	}
	after, err := s.change(ctx, lease, p, func(tx *store.Tx, now bursar.OutgoingTx) error {
		if now.Height > 0 || now.SentAt != p.SentAt {
			return nil // it was recorded in a block in the meantime
		}
		if err := s.endSigned(ctx, tx, now); err != nil {
			return err
		}
		return s.forgetNonce(ctx, tx, now.Base)
	})
	if err == nil && after.Status == bursar.OutgoingAbandoned {
		s.Log.Warn("outgoing transaction expired: its payments are requeued", "outgoing", p.ID, "chain", p.Chain)
	}
	return err
}

// forgetNonce has the next transaction from an address ask the chain for its nonce, on a chain where transactions
// expire and once nothing of the address is open: a lower nonce may be lost, for which what just expired waited, and
// for which whatever comes next would wait until it expires.
func (s *Sender) forgetNonce(ctx context.Context, tx *store.Tx, base string) error {
	capabilities := s.Chain.Capabilities()
	if capabilities.Model != chain.AccountModel || capabilities.Lifetime.IsZero() {
		return nil
	}
	_, err := tx.Nonces().Forget(ctx, capabilities.ID, base)
	return err
}

// endSigned ends an outgoing transaction none of whose versions can ever be included: its payments are requeued, its
// reservations are freed, and its change is forgotten.
func (s *Sender) endSigned(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if err := s.mayEnd(ctx, tx, p); err != nil {
		return err
	}
	if err := s.requeuePayments(ctx, tx, p); err != nil {
		return err
	}
	if err := tx.UTXOs().ForgetChange(ctx, p.ID); err != nil {
		return err
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return err
	}
	if err := tx.Reservations().UndoMove(ctx, p.Chain, p.ID); err != nil { // if it was to void another one
		return err
	}
	if err := s.endUnsignedVoiding(ctx, tx, p); err != nil {
		return err
	}
	resources, err := ownResources(ctx, tx, p, unsigned.Reservations)
	if err != nil {
		return err
	}
	if err := s.freeReservations(ctx, tx, p, resources); err != nil {
		return err
	}
	if err := recovery.ResolveUnpaid(ctx, tx, p); err != nil {
		return err
	}
	return s.end(ctx, tx, p)
}

// requeuePayments requeues the withdrawals and the refund that an outgoing transaction would have paid, and refunds
// what clients ordered.
func (s *Sender) requeuePayments(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	if withdrawals, err = s.refundSpentOrders(ctx, tx, withdrawals); err != nil {
		return err
	}
	for _, w := range withdrawals {
		if err := s.payouts().Requeue(ctx, tx, w, p.ID); err != nil {
			return err
		}
	}
	return unattributed.Requeue(ctx, tx, p.ID)
}
