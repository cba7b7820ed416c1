package deposit

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Undo reverses the deposits of a block that is rolled back.
func (h *Handler) Undo(ctx context.Context, tx *store.Tx, b follow.RolledBackBlock) error {
	deposits, err := tx.Deposits().InBlock(ctx, h.Capabilities.ID, b.Height)
	if err != nil {
		return err
	}
	return h.reverseAll(ctx, tx, deposits...)
}

// reverseAll reverses deposits, and then updates the invoices of all of them.
func (h *Handler) reverseAll(ctx context.Context, tx *store.Tx, deposits ...bursar.Deposit) (err error) {
	moments := map[bursar.ID]bursar.Moment{}
	for _, d := range deposits {
		if moments[d.ID], err = h.reverse(ctx, tx, d); err != nil {
			return fmt.Errorf("deposit %s: %w", d.ID, err)
		}
	}
	// Once for all: each time reads all payments of a charge, and anybody may have paid it many times in one block.
	return h.invoicesChanged(ctx, tx, func(d bursar.Deposit) bursar.Moment { return moments[d.ID] }, deposits...)
}

// reverse orphans a deposit that was not booked, and reverses one that was. It returns the moment for the invoice's
// history. It closes the alarm of an unattributed deposit, because there is nothing left to resolve.
func (h *Handler) reverse(ctx context.Context, tx *store.Tx, d bursar.Deposit) (bursar.Moment, error) {
	if d.Purpose == bursar.ForUnattributed {
		if err := tx.Alarms().Resolve(ctx, alarmUnattributed, d.ID.String()); err != nil {
			return "", err
		}
	}
	if d.Status == bursar.DepositPending {
		h.logDeposit(tx, slog.LevelWarn, "deposit orphaned", d)
		return bursar.MomentOrphaned, tx.Deposits().SetStatus(ctx, d, bursar.DepositOrphaned)
	}
	if err := h.removeHoldings(ctx, tx, d); err != nil {
		return "", err
	}
	if d.Status == bursar.DepositBelowMinimum || !d.IsCustomers() {
		return bursar.MomentOrphaned, h.reverseUncredited(ctx, tx, d)
	}
	return bursar.MomentReversed, h.reverseCredit(ctx, tx, d)
}

func (h *Handler) reverseUncredited(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if err := tx.Ledger().Post(ctx, ledger.TransferReversed(d, ledger.Owner(d), tx.Now())); err != nil {
		return err
	}
	if d.Purpose == bursar.ForRefunded {
		if err := h.warnOfLoss(ctx, tx, d); err != nil {
			return err
		}
	}
	next := bursar.DepositReversed
	if d.Status == bursar.DepositBelowMinimum {
		next = bursar.DepositOrphaned // it was never credited to a customer
	}
	d.Reversals++
	h.logDeposit(tx, slog.LevelWarn, "deposit booking reversed", d)
	return tx.Deposits().SetStatus(ctx, d, next)
}

// reverseCredit reverses a customer's credit, even below zero, freezes the account, raises an alarm and records the
// event, unless the deposit is to an invoice.
func (h *Handler) reverseCredit(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if err := tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAccount(d.AccountID), Kind: store.HaltByReversal,
		Reason: bursar.FrozenByReversal}); err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.DepositReversed(d, tx.Now())); err != nil {
		return err
	}
	h.logDeposit(tx, slog.LevelError, "deposit reversed", d)
	err := tx.Alarms().Raise(ctx, store.Alarm{
		Chain: d.Chain,
		Kind:  "deposit_reversed",
		Ref:   fmt.Sprintf("%s/%d", d.ID, d.Reversals),
		Message: fmt.Sprintf("deposit %s of %s was credited and then reorged out; account %s is frozen", d.ID,
			h.Registry.Text(d.Currency, d.Amount), d.AccountID),
	})
	if err != nil {
		return err
	}
	reversed := d
	reversed.Reversals++
	if err := tx.Deposits().SetStatus(ctx, reversed, bursar.DepositReversed); err != nil {
		return err
	}
	reversed.Status = bursar.DepositReversed
	if d.Purpose == bursar.ForInvoice {
		return nil // reverseAll updates its invoice
	}
	next, paid, err := h.unsettleCharge(ctx, tx, reversed)
	if err != nil {
		return err
	}
	notices := []notice{{bursar.EventDepositReversed, reversed, h.depth(d.Height)}}
	if paid {
		notices = append(notices, notice{bursar.EventPaid, next, h.depth(d.Height - 1)})
	}
	return h.notify(ctx, tx, notices...)
}
