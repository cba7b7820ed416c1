package unattributed

import (
	"context"
	"errors"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Refunds settles refunds to senders once the block that pays them is final, and undoes that if it is reorged out.
// Each call belongs to a database transaction that has locked the chain.
type Refunds struct {
	Registry *bursar.Registry
	Log      *slog.Logger
}

// Settle books a refund that was paid. Unsettle is its reversal. A refund that failed on a branch that was reorged out,
// and was given up then, may have been paid on this branch.
func (r Refunds) Settle(ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx) error {
	n.TxID = p.TxID
	if n.Status == bursar.ResolutionFailed {
		return r.paidAfterAll(ctx, tx, n, p)
	}
	if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionDone); err != nil {
		return err
	}
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundUnsettled, n.ID.String())
	if err != nil {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.RefundSettled(n, reversals, tx.Now()))
}

// Unsettle undoes the booking of a refund that an outgoing transaction paid. A refund that failed stays failed, because
// its deposit was unresolved again from then on; if it was booked as paid twice, that is undone.
func (r Refunds) Unsettle(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if p.Failed {
		return nil
	}
	return OfOutgoing(ctx, tx, p.ID, func(n bursar.Resolution) error {
		r.Log.Error("final block of a refund to a sender was reorged out", "resolution", n.ID,
			"deposit", n.DepositID, "hash", p.TxID, "was", n.Status)
		if n.Status == bursar.ResolutionFailed {
			return notPaidTwice(ctx, tx, n)
		}
		reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundUnsettled, n.ID.String())
		if err != nil {
			return err
		}
		if err := tx.Ledger().Post(ctx, ledger.RefundUnsettled(n, reversals+1, tx.Now())); err != nil {
			return err
		}
		return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionSigned)
	})
}

// paidAfterAll books a refund that had failed and was paid after all. If the deposit's value has not been used
// otherwise, the refund counts as if it had never failed; otherwise the value was paid out twice, which is the
// operator's loss.
func (r Refunds) paidAfterAll(ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx) error {
	r.Log.Error("failed refund to sender was paid on another branch", "resolution", n.ID, "deposit", n.DepositID, "hash",
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
		return r.paidTwice(ctx, tx, n, p)
	}
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundUnsettled, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.RefundPaidAfterAll(n, reversals, tx.Now())); err != nil {
		return err
	}
	if err := markRefunded(ctx, tx, d); err != nil {
		return err
	}
	n.Error = ""
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
	return Fail(ctx, tx, n, "an earlier refund of the deposit was paid after all")
}

func (r Refunds) paidTwice(ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx) error {
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundNotPaidTwice, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.RefundPaidTwice(n, reversals, tx.Now())); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "refund_paid_twice", Ref: n.ID.String(),
		Message: fmt.Sprintf("the refund of deposit %s to %s had failed, its block was reorged out, and transaction %s "+
			"paid it on the other branch after the deposit was "+
			"resolved again; %s are booked as a loss", n.DepositID, n.Address, p.TxID, r.Registry.Text(n.Currency, n.Amount))})
}

// notPaidTwice undoes paidTwice, if it was booked. It was not if the refund failed because its token delivered nothing.
func notPaidTwice(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindRefundNotPaidTwice, n.ID.String())
	if err != nil {
		return err
	}
	booked, err := tx.Ledger().IsPosted(ctx, ledger.RefundPaidTwice(n, reversals, tx.Now()))
	if err != nil || !booked {
		return err
	}
	return tx.Ledger().Post(ctx, ledger.RefundNotPaidTwice(n, reversals+1, tx.Now()))
}
