package deposit

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// The alarms about unattributed deposits. Ref is the deposit's ID.
const (
	alarmUnattributed = "unattributed"     // an operator must resolve it
	alarmUncovered    = "refund_uncovered" // it was reorged out after it was refunded to its sender
)

// askOperator raises the alarm about an unattributed deposit.
func (h *Handler) askOperator(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: alarmUnattributed, Ref: d.ID.String(),
		Message: fmt.Sprintf("%s at %s belong to no wallet; resolve once final: `bursar unattributed assign|return|keep %s`",
			h.Registry.Text(d.Currency, d.Amount), d.Address, d.ID)})
}

// Assign credits a final unattributed deposit to a customer. d is the deposit as it was read in this transaction, which
// has locked the chain, but with Purpose, AccountID, WalletID and Webhook of the wallet, charge or account that
// receives it; wallet is the wallet's number. From then on it is an ordinary deposit: its event is recorded, it may pay
// a charge, and it is reversed when it is reorged out. The currency's minimum is not checked, because the operator
// decided to credit it.
func (h *Handler) Assign(ctx context.Context, tx *store.Tx, d bursar.Deposit, wallet int64) error {
	currency, err := h.Registry.Get(d.Currency)
	if err != nil {
		return err
	}
	rules, err := tx.FeeRules().Of(ctx, d.AccountID)
	if err != nil {
		return err
	}
	d.Fee = fee(rules, d.AccountID, currency, d.Amount)
	d.ConfirmedAt = tx.Now()
	if err := tx.Deposits().SetOwner(ctx, d, wallet, bursar.ForUnattributed); err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.UnattributedAssigned(d, tx.Now())); err != nil {
		return err
	}
	state, err := tx.Chains().State(ctx, d.Chain)
	if err != nil {
		return err
	}
	return h.announce(ctx, tx, d, h.depth(state.Latest))
}

// assigned reports whether an operator assigned the deposit to its customer: then it was credited once whatever its
// amount, and is credited again when it is confirmed again.
func (h *Handler) assigned(ctx context.Context, tx *store.Tx, d bursar.Deposit) (bool, error) {
	_, err := tx.Resolutions().Standing(ctx, d.ID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}

// makeGood closes the alarm about a deposit that was refunded, was reorged out, and is confirmed again.
func (h *Handler) makeGood(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	if d.Purpose != bursar.ForRefunded {
		return nil
	}
	return tx.Alarms().Resolve(ctx, alarmUncovered, d.ID.String())
}

// warnOfLoss alarms the operator about a deposit that was reorged out and is, or may be, refunded already.
func (h *Handler) warnOfLoss(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	h.Log.Error("refunded deposit reorged out", "deposit", d.ID, "hash", d.TxID, "currency", d.Currency,
		"amount", h.Registry.Text(d.Currency, d.Amount))
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: alarmUncovered, Ref: d.ID.String(),
		Message: fmt.Sprintf("deposit %s of %s was reorged out after it was paid back; it is booked as a loss",
			d.ID, h.Registry.Text(d.Currency, d.Amount))})
}
