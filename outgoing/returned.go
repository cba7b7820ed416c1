package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// errEarlierReturn says that an earlier return of the same value may still be paid: it failed in a block that was
// reorged out.
var errEarlierReturn = errors.New("an earlier return of the same deposit is in no final block any more and may be " +
	"paid after all")

// waitsForEarlier refuses to sign a return while an earlier one of the same deposit may be paid.
func waitsForEarlier(ctx context.Context, tx *store.Tx, n bursar.Resolution) error {
	open, err := tx.Resolutions().OpenRefund(ctx, n.DepositID, n.Number)
	if err == nil && open {
		err = errEarlierReturn
	}
	return err
}

// settleReturn books a return that is final, or reopens what the chain proved it has not paid. One that failed on a
// branch which the chain left, and was given up then, may have paid on this one.
func (s *Sender) settleReturn(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	return withReturn(ctx, tx, p.ID, func(n bursar.Resolution) error {
		if n.Status == bursar.ResolutionDone {
			return nil
		}
		n.TxID = p.TxID
		if p.Failed {
			return Unsettle(ctx, tx, n, "the transaction failed on the chain")
		}
		if nothing, err := s.returnShort(ctx, tx, n, p); err != nil || nothing {
			return err
		}
		if n.Status == bursar.ResolutionFailed {
			return s.paidAfterAll(ctx, tx, n, p)
		}
		if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionDone); err != nil {
			return err
		}
		round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindReturnUnsettled, n.ID.String())
		if err != nil {
			return err
		}
		return tx.Ledger().Post(ctx, ledger.ReturnSettled(n, round, tx.Now()))
	})
}

// returnShort tells of a return whose token did not deliver it whole. It reopens one that delivered nothing, and
// reports that.
func (s *Sender) returnShort(
	ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx,
) (nothing bool, err error) {
	short, is, err := shortfall(p, n.Address, n.Amount)
	if err != nil || !is {
		return false, err
	}
	what := fmt.Sprintf("transaction %s succeeded and delivered %s of %s to %s for the return of deposit %s",
		p.TxID, s.amount(n.Currency, short.Delivered), s.amount(n.Currency, n.Amount), n.Address, n.DepositID)
	if err := s.raiseShort(ctx, tx, p, n.Currency, what); err != nil || !short.Delivered.IsZero() {
		return false, err
	}
	return true, Unsettle(ctx, tx, n, "the token's contract delivered nothing, though the transaction succeeded")
}

// paidAfterAll books a return that had failed and has paid. While nothing else was made of the value, the return is
// done as if it had never failed; otherwise the value was given twice, and that is the operator's loss.
func (s *Sender) paidAfterAll(ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx) error {
	s.Log.Error("a return that had failed was paid on another branch", "decision", n.ID, "deposit", n.DepositID, "hash",
		p.TxID)
	if err := withdrawReturn(ctx, tx, n.DepositID); err != nil {
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
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindReturnUnsettled, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.ReturnPaidAfterAll(n, round, tx.Now())); err != nil {
		return err
	}
	d.Purpose = bursar.ForReturned
	if err := tx.Deposits().SetOwner(ctx, d, 0, bursar.ForUnattributed); err != nil {
		return err
	}
	n.TxID, n.Error = p.TxID, ""
	if err := tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionDone); err != nil {
		return err
	}
	return tx.Alarms().Resolve(ctx, "unattributed", d.ID.String())
}

// withdrawReturn ends another return of a deposit that is not signed yet, because an earlier one was paid.
func withdrawReturn(ctx context.Context, tx *store.Tx, deposit bursar.ID) error {
	n, err := tx.Resolutions().Standing(ctx, deposit)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil || n.Status != bursar.ResolutionQueued {
		return err
	}
	return Unsettle(ctx, tx, n, "an earlier return of the deposit was paid after all")
}

func (s *Sender) paidTwice(ctx context.Context, tx *store.Tx, n bursar.Resolution, p bursar.OutgoingTx) error {
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindReturnNotPaidTwice, n.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.ReturnPaidTwice(n, round, tx.Now())); err != nil {
		return err
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "return_paid_twice", Ref: n.ID.String(),
		Message: fmt.Sprintf("the return of deposit %s to %s had failed, its block left the chain, and transaction %s has "+
			"paid it on the other branch, after the deposit was "+
			"decided about again; %s are booked as a loss", n.DepositID, n.Address, p.TxID, s.amount(n.Currency, n.Amount))})
}
