package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// errEarlierRefund is returned if an earlier refund of the same deposit may still be paid: it failed in a block that
// was reorged out.
var errEarlierRefund = errors.New("an earlier refund of the same deposit is no longer in a final block and may be " +
	"paid after all")

// waitsForEarlier refuses to sign a refund to a sender while an earlier one of the same deposit may be paid.
func waitsForEarlier(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
	open, err := tx.Resolutions().OpenRefund(ctx, n.DepositID, n.Number)
	if err == nil && open {
		err = errEarlierRefund
	}
	return err
}

// settleRefund books a refund to a sender that is final, or makes its deposit unresolved again if the chain proved that
// it was not paid. A refund that failed on a branch that was reorged out, and was given up then, may have been paid on
// this branch.
func (s *Sender) settleRefund(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	return withRefund(ctx, tx, p.ID, func(n bursar.Resolution) error {
		if n.Status == bursar.ResolutionDone {
			return nil
		}
		n.TxID = p.TxID
		if p.Failed {
			return Unsettle(ctx, tx, n, "the transaction failed on the chain")
		}
		if nothing, err := s.refundShort(ctx, tx, n, p); err != nil || nothing {
			return err
		}
		if n.Status == bursar.ResolutionFailed {
			return s.paidAfterAll(ctx, tx, n, p)
		}
		if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionDone); err != nil {
			return err
		}
		round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundUnsettled, n.ID.String())
		if err != nil {
			return err
		}
		return tx.Ledger().Post(ctx, ledger.RefundSettled(n, round, tx.Now()))
	})
}

// refundShort raises the alarm for a refund whose token did not deliver it whole. If nothing was delivered, it makes
// the deposit unresolved again and reports true.
func (s *Sender) refundShort(
	ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx,
) (nothing bool, err error) {
	short, is, err := shortfall(p, n.Address, n.Amount)
	if err != nil || !is {
		return false, err
	}
	what := fmt.Sprintf("transaction %s succeeded and delivered %s of %s to %s for the refund of deposit %s",
		p.TxID, s.Registry.Text(n.Currency, short.Delivered), s.Registry.Text(n.Currency, n.Amount), n.Address, n.DepositID)
	if err := s.raiseShort(ctx, tx, p, n.Currency, what); err != nil || !short.Delivered.IsZero() {
		return false, err
	}
	return true, Unsettle(ctx, tx, n, "the token's contract delivered nothing, though the transaction succeeded")
}

// paidAfterAll books a refund that had failed and was paid after all. If the deposit's value has not been used
// otherwise, the refund counts as if it had never failed; otherwise the value was paid out twice, which is the
// operator's loss.
func (s *Sender) paidAfterAll(ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx) error {
	s.Log.Error("failed refund to sender was paid on another branch", "resolution", n.ID, "deposit", n.DepositID, "hash",
		p.TxID)
	if err := endOtherRefund(ctx, tx, n.DepositID); err != nil {
		return err
	}
	d, err := tx.Deposits().ByID(ctx, n.DepositID)
	if err != nil {
		return err
	}
	taken, _ := n.Amount.Add(n.Fee)
	if d.Purpose != bursar.ForUnattributed || d.Status != bursar.DepositConfirmed || taken != d.Amount {
		return s.paidTwice(ctx, tx, n, p)
	}
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundUnsettled, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.RefundPaidAfterAll(n, round, tx.Now())); err != nil {
		return err
	}
	d.Purpose = bursar.ForRefunded
	if err := tx.Deposits().SetOwner(ctx, d, 0, bursar.ForUnattributed); err != nil {
		return err
	}
	n.TxID, n.Error = p.TxID, ""
	if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionDone); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, "unattributed", d.ID.String())
}

// endOtherRefund ends another refund of a deposit that is not signed yet, because an earlier one was paid.
func endOtherRefund(ctx context.Context, tx *store.Tx, deposit bursar.ID) error {
	n, err := tx.Resolutions().Standing(ctx, deposit)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || n.Status != bursar.ResolutionQueued {
		return err
	}
	return Unsettle(ctx, tx, n, "an earlier refund of the deposit was paid after all")
}

func (s *Sender) paidTwice(ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx) error {
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundNotPaidTwice, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.RefundPaidTwice(n, round, tx.Now())); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "refund_paid_twice", Ref: n.ID.String(),
		Message: fmt.Sprintf("the refund of deposit %s to %s had failed, its block was reorged out, and transaction %s "+
			"paid it on the other branch after the deposit was "+
			"resolved again; %s are booked as a loss", n.DepositID, n.Address, p.TxID, s.Registry.Text(n.Currency, n.Amount))})
}
