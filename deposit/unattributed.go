package deposit

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// The alarms about unattributed deposits. Ref is the deposit's ID.
const (
	alarmUnattributed = "unattributed"     // an operator must resolve it
	alarmUncovered    = "refund_uncovered" // it was reorged out after it was refunded to its sender
)

// unattributed returns the alarm about an unattributed deposit.
func (h *Handler) unattributed(d bursar.Deposit) store.Alarm {
	return store.Alarm{Chain: d.Chain, Kind: alarmUnattributed, Ref: d.ID.String(),
		Message: fmt.Sprintf("%s at %s belong to no wallet; resolve once final: `bursar unattributed assign|refund|keep %s`",
			h.Registry.Text(d.Currency, d.Amount), d.Address, d.ID)}
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
	if err := unattributed.GiveToCustomer(ctx, tx, d, wallet); err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.UnattributedAssigned(d, tx.Now())); err != nil {
		return err
	}
	state, err := tx.Chains().State(ctx, d.Chain)
	if err != nil {
		return err
	}
	return h.announce(ctx, tx, h.depth(state.Latest), d)
}

// closeUncoveredAlarms closes the alarms about deposits that were refunded, were reorged out, and are confirmed again.
func (h *Handler) closeUncoveredAlarms(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	var refs []string
	for _, d := range deposits {
		if d.Purpose == bursar.ForRefunded {
			refs = append(refs, d.ID.String())
		}
	}
	return tx.Alarms().ResolveAll(ctx, alarmUncovered, refs)
}

// warnOfLoss alarms the operator about a deposit that was reorged out and is, or may be, refunded already.
func (h *Handler) warnOfLoss(ctx context.Context, tx *store.Tx, d bursar.Deposit) error {
	h.Log.Error("refunded deposit reorged out", "deposit", d.ID, "hash", d.TxID, "currency", d.Currency,
		"amount", h.Registry.Text(d.Currency, d.Amount))
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: d.Chain, Kind: alarmUncovered, Ref: d.ID.String(),
		Message: fmt.Sprintf("deposit %s of %s was reorged out after it was refunded; it is booked as a loss",
			d.ID, h.Registry.Text(d.Currency, d.Amount))})
}
