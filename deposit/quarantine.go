package deposit

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
)

// Quarantine takes a pending deposit away from its account, because it was rejected after screening: it is unattributed
// from then on, is booked as that once it is final, and waits for an operator, who assigns, refunds or keeps it.
// Charges do not count it. A reorg undoes it as it undoes any unattributed deposit; if it comes back in another block,
// it is unattributed still. d is as it was read in this transaction, which has locked the chain.
func (h *Handler) Quarantine(ctx context.Context, tx *store.Tx, d bursar.Deposit, why string) error {
	was := d
	message := fmt.Sprintf("%s at %s are in quarantine: %s; resolve once final: `bursar unattributed assign|refund|keep "+
		"%s`",
		h.Registry.Text(d.Currency, d.Amount), d.Address, why, d.ID)
	if d.IsCustomers() {
		message = fmt.Sprintf("%s; it was a deposit of account %s", message, d.AccountID)
		d.Purpose, d.AccountID, d.WalletID, d.Webhook, d.Metadata = bursar.ForUnattributed, bursar.ID{}, bursar.ID{}, "", ""
		if err := tx.Deposits().SetOwner(ctx, d, 0, was.Purpose); err != nil {
			return err
		}
		if err := h.invoicesChanged(ctx, tx, always(bursar.MomentOrphaned), was); err != nil {
			return err
		}
	}
	h.logDeposit(tx, slog.LevelWarn, "deposit put in quarantine", was)
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain:   d.Chain,
		Kind:    alarmUnattributed,
		Ref:     d.ID.String(),
		Message: message,
	})
}

// ToCredit returns which deposits only wait to be credited now, as far as the chain says: at most limit.
func (h *Handler) ToCredit(ctx context.Context, tx *store.Tx, limit int) (store.FinalDeposits, error) {
	state, err := tx.Chains().State(ctx, h.Capabilities.ID)
	if err != nil {
		return store.FinalDeposits{}, err
	}
	return h.query(ctx, tx, follow.Finality{Final: state.Final, Latest: state.Latest}, limit)
}

// holdForScreening records that deposits wait for the screening service, in the transaction that records them: nothing
// that it may reject is spent before.
func (h *Handler) holdForScreening(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	if !h.Screened {
		return nil
	}
	var list []store.Screening
	for _, d := range deposits {
		if d.Purpose.IsScreened() {
			list = append(list, store.Screening{Subject: d.ID, Kind: store.ScreenDeposit, Chain: d.Chain, Block: d.BlockHash,
				AccountID: d.AccountID, WalletID: d.WalletID, CreatedAt: tx.Now()})
		}
	}
	return tx.Screenings().Ask(ctx, list...)
}
