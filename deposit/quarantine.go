package deposit

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// Quarantine takes a pending deposit away from its account after it was rejected in screening: it becomes unattributed,
// is booked as such once it is final, and waits for an operator to assign, refund or keep it. Charges do not count it.
// A reorg undoes it like any unattributed deposit; if another block contains it, it is still unattributed. d is as it
// was read in this transaction, which has locked the chain.
func (h *Handler) Quarantine(ctx context.Context, tx *store.Tx, d bursar.Deposit, why string) error {
	message := fmt.Sprintf("%s at %s are in quarantine: %s; resolve once final: `bursar unattributed assign|refund|keep "+
		"%s`",
		h.Registry.Text(d.Currency, d.Amount), d.Address, why, d.ID)
	if d.IsCustomers() {
		message = fmt.Sprintf("%s; it was a deposit of account %s", message, d.AccountID)
		if err := unattributed.TakeFromCustomer(ctx, tx, d); err != nil {
			return err
		}
		if err := h.invoicesChanged(ctx, tx, sameMoment(bursar.MomentOrphaned), d); err != nil {
			return err
		}
	}
	h.logDeposit(tx, slog.LevelWarn, "deposit put in quarantine", d)
	return tx.Alarms().Raise(ctx, store.Alarm{
		Chain:   d.Chain,
		Kind:    alarmUnattributed,
		Ref:     d.ID.String(),
		Message: message,
	})
}

// CreditQuery returns which deposits only wait to be credited now, as far as the chain says: at most limit.
func (h *Handler) CreditQuery(ctx context.Context, tx *store.Tx, limit int) (store.CreditQuery, error) {
	state, err := tx.Chains().State(ctx, h.Capabilities.ID)
	if err != nil {
		return store.CreditQuery{}, err
	}
	return h.query(ctx, tx, follow.Finality{Final: state.Final, Latest: state.Latest}, limit)
}

// holdForScreening records that deposits wait for the screening service, in the transaction that records them: nothing
// that it may reject is spent before. What an operator resolved is not screened again.
func (h *Handler) holdForScreening(ctx context.Context, tx *store.Tx, deposits []bursar.Deposit) error {
	if !h.Screened {
		return nil
	}
	var back []bursar.Deposit
	for _, d := range deposits {
		if d.Reversals > 0 { // only what was booked once can have been resolved
			back = append(back, d)
		}
	}
	resolved, err := tx.Resolutions().StandingAmong(ctx, back)
	if err != nil {
		return err
	}
	var list []store.Screening
	for _, d := range deposits {
		if d.Purpose.IsScreened() && !resolved[d.ID] {
			list = append(list, store.Screening{Subject: d.ID, Kind: store.ScreenDeposit, Chain: d.Chain, Block: d.BlockHash,
				AccountID: d.AccountID, WalletID: d.WalletID, CreatedAt: tx.Now()})
		}
	}
	return tx.Screenings().Ask(ctx, list...)
}
