package withdrawal

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// endSecond cancels refunds of a charge's payment that were requested because another refund of it had failed, once
// that one may be paid after all: together they would pay the payment back twice. One that is being built, or that may
// have been sent, cannot be cancelled here; an alarm says so.
func (p Payouts) endSecond(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	others, excess, err := tx.Invoices().SecondRefunds(ctx, w.ID)
	if err != nil {
		return err
	}
	recovering, err := tx.Recoveries().IsOpen(ctx, p.Chain)
	if err != nil {
		return err
	}
	for _, id := range others { // newest first
		if excess.IsZero() {
			return nil
		}
		if recovering {
			break // a transaction that the database has forgotten may pay it: what looks unsigned may have left
		}
		second, err := tx.Withdrawals().Lock(ctx, id)
		if err != nil {
			return err
		}
		if may, err := mayCancel(ctx, tx, second); err != nil {
			return err
		} else if !may {
			continue
		}
		if err := p.cancelSecond(ctx, tx, second, w); err != nil {
			return err
		}
		excess = excess.SubOrZero(second.Amount)
	}
	if excess.IsZero() {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: "refunded_twice", Ref: w.ID.String(),
		Message: fmt.Sprintf("withdrawal %s failed, its payment of a charge was refunded again, and a reorg has it paid "+
			"after all; %s more than was paid may leave: cancel the other refund while it is not signed, or ask for it back",
			w.ID, p.Registry.Text(w.Currency, excess))})
}

// mayCancel reports whether a refund that is locked is not built, and neither the books nor the journal say otherwise,
// whatever its row says.
func mayCancel(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) (bool, error) {
	waits := w.Status == bursar.WithdrawalQueued || w.Status == bursar.WithdrawalPendingApproval
	if !waits || !w.OutgoingID.IsZero() {
		return false, nil
	}
	err := isHeld(ctx, tx, w)
	if err == nil {
		err = notPaidByJournal(ctx, tx, w)
	}
	if errors.Is(err, ErrTooLate) {
		return false, nil
	}
	return err == nil, err
}

// cancelSecond cancels a refund that was not built, and gives its money back.
func (p Payouts) cancelSecond(ctx context.Context, tx *store.Tx, second, first bursar.Withdrawal) error {
	second.Error = "the refund that it replaced is paid after all"
	if err := tx.Withdrawals().SetStatus(ctx, second, bursar.WithdrawalCancelled); err != nil {
		return err
	}
	reversals, err := tx.Ledger().ReversalNumber(ctx, ledger.KindUnsettled, second.ID.String())
	if err != nil {
		return err
	}
	second.Status, second.CompletedAt = bursar.WithdrawalCancelled, tx.Now()
	if err := tx.Ledger().Post(ctx, ledger.WithdrawalRefunded(second, reversals, tx.Now())); err != nil {
		return err
	}
	p.log(tx, "second refund cancelled", second, second.OutgoingID, "first", first.ID)
	return p.notify(ctx, tx, second)
}
