package unattributed

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// The reasons why a refund to a sender must not be signed now. Nothing has changed then.
var (
	ErrRecalled = errors.New("the refund was called back")
	// ErrEarlierRefund is returned if an earlier refund of the same deposit failed in a block that was reorged out.
	ErrEarlierRefund = errors.New("an earlier refund of the same deposit is no longer in a final block and may be " +
		"paid after all")
)

// OfOutgoing calls f with the refund that an outgoing transaction pays, if it pays one.
func OfOutgoing(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, f func(bursar.Resolution) error) error {
	n, err := tx.Resolutions().RefundPaidBy(ctx, outgoingID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := f(n); err != nil {
		return fmt.Errorf("refund %s: %w", n.ID, err)
	}
	return nil
}

// Assign records which outgoing transaction is to pay a queued refund.
func Assign(ctx context.Context, tx *store.Tx, n bursar.Resolution, outgoingID bursar.ID) error {
	n.OutgoingID = outgoingID
	return tx.Resolutions().SetStatus(ctx, n, n.Status)
}

// MayBeSigned returns ErrRecalled for an unsigned outgoing transaction whose refund must not go on: it was called back,
// its deposit is not on the chain, or came back with another amount after a reorganisation. It returns ErrEarlierRefund
// while an earlier refund of the same deposit may still be paid.
func MayBeSigned(ctx context.Context, tx *store.Tx, outgoingID bursar.ID) error {
	return OfOutgoing(ctx, tx, outgoingID, func(n bursar.Resolution) error {
		d, err := tx.Deposits().ByID(ctx, n.DepositID)
		if err != nil {
			return err
		}
		if n.Status != bursar.ResolutionQueued || d.Status != bursar.DepositConfirmed {
			return ErrRecalled
		}
		if fee, err := d.Amount.Sub(n.Amount); err != nil || fee != n.Fee {
			return ErrRecalled // of a token that delivers less than it did: the refund would cost more than there is
		}
		open, err := tx.Resolutions().OpenRefund(ctx, n.DepositID, n.Number)
		if err == nil && open {
			err = ErrEarlierRefund
		}
		return err
	})
}

// Sign records the transaction that pays a refund: its bytes exist from now on. Requeue is its reversal.
func Sign(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, txID string) error {
	return OfOutgoing(ctx, tx, outgoingID, func(n bursar.Resolution) error {
		if n.Status != bursar.ResolutionQueued && n.Status != bursar.ResolutionSigned {
			return nil // it was settled before a reorg deeper than finality
		}
		n.TxID = txID
		return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionSigned)
	})
}

// Requeue queues a refund again whose transaction can never be included. One that is still queued is released from a
// transaction that may have been signed, whose bytes were never stored.
func Requeue(ctx context.Context, tx *store.Tx, outgoingID bursar.ID) error {
	return OfOutgoing(ctx, tx, outgoingID, func(n bursar.Resolution) error {
		if n.Status != bursar.ResolutionSigned && n.Status != bursar.ResolutionQueued {
			return nil // it failed in a block that was reorged out, and its deposit was resolved again
		}
		return queue(ctx, tx, n)
	})
}

// Adopted lets a transaction that a restored database had forgotten pay the refund of a deposit. Release is its
// reversal.
func Adopted(ctx context.Context, tx *store.Tx, deposit bursar.ID, p bursar.OutgoingTx) error {
	n, err := tx.Resolutions().Standing(ctx, deposit)
	if err != nil {
		return err
	}
	n.OutgoingID, n.TxID = p.ID, p.TxID
	return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionSigned)
}

// Release takes the refund from an outgoing transaction that does not pay it, so that another one may.
func Release(ctx context.Context, tx *store.Tx, outgoingID bursar.ID) error {
	return OfOutgoing(ctx, tx, outgoingID, func(n bursar.Resolution) error { return queue(ctx, tx, n) })
}

func queue(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
	n.OutgoingID, n.TxID = bursar.ID{}, ""
	return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionQueued)
}

// ReorgedOut is the reason for which a refund ends before it is signed because its deposit is no longer on the chain,
// or not as it was.
const ReorgedOut = "the deposit was reorged out, or came back with another amount, before it was refunded"

// FailPaidBy ends the refund that an outgoing transaction was to pay, as Fail does, if it was to pay one.
func FailPaidBy(ctx context.Context, tx *store.Tx, outgoingID bursar.ID, reason string) error {
	return OfOutgoing(ctx, tx, outgoingID, func(n bursar.Resolution) error { return Fail(ctx, tx, n, reason) })
}

// Fail ends a refund to a sender that paid nobody and never will, in a database transaction that has locked the chain.
// Its deposit is unresolved again, unless the deposit itself has been reorged out. reason is shown to the operator. A
// refund that has already failed is left unchanged.
func Fail(ctx context.Context, tx *store.Tx, n bursar.Resolution, reason string) error {
	return fail(ctx, tx, n, reason, "resolve the deposit again")
}

// FailForEarlier is Fail for a refund that is not signed, because an earlier one of its deposit, which a restored
// database had forgotten, is sent again.
func FailForEarlier(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
	return fail(ctx, tx, n, "a refund of it was signed before the database was restored, and is sent again",
		"keep the deposit if that one is paid, and otherwise resolve it again once that one has ended")
}

func fail(ctx context.Context, tx *store.Tx, n bursar.Resolution, reason, then string) error {
	if n.Status == bursar.ResolutionFailed {
		return nil
	}
	d, err := tx.Deposits().ByID(ctx, n.DepositID)
	if err != nil {
		return err
	}
	n.Error = reason
	if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionFailed); err != nil {
		return err
	}
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundUnsettled, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.RefundFailed(n, d, reversals, tx.Now())); err != nil {
		return err
	}
	if err := unmarkRefunded(ctx, tx, d); err != nil {
		return err
	}
	if err := tx.Alarms().Resolve(ctx, "refund_uncovered", d.ID.String()); err != nil {
		return err
	}
	if d.Status == bursar.DepositReversed || d.Status == bursar.DepositOrphaned {
		return nil // the alarm is raised if the deposit is included again
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: "unattributed", Ref: d.ID.String(),
		Message: fmt.Sprintf("the refund of deposit %s to %s was not paid: %s; %s", d.ID, n.Address, reason, then)})
}
