package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
	"github.com/bursar/bursar/withdrawal"
)

// unsettleBlock undoes the settlement of outgoing transactions that became final in a block that is being reorged out.
// In the block that includes such a transaction next, its fee may differ, it may fail after it succeeded, or succeed
// after it failed and was refunded: it is settled there as if for the first time.
func (h *Inclusions) unsettleBlock(ctx context.Context, tx *store.Tx, height uint64) error {
	settled, err := tx.Outgoing().SettledAt(ctx, h.Capabilities.ID, height)
	if err != nil {
		return err
	}
	for _, p := range settled {
		if err := h.unsettle(ctx, tx, p); err != nil {
			return fmt.Errorf("unsettle outgoing transaction %s: %w", p.ID, err)
		}
	}
	return nil
}

func (h *Inclusions) unsettle(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx) error {
	if err := reverseFee(ctx, tx, h.Registry, p); err != nil {
		return err
	}
	if err := recovery.Unsettle(ctx, tx, h.Registry, p); err != nil {
		return err
	}
	unsigned, err := readUnsigned(p)
	if err != nil {
		return err
	}
	if err := tx.UTXOs().SetSpent(ctx, p.Chain, unsigned.Reservations, false); err != nil {
		return err
	}
	switch p.Kind {
	case string(chain.KindSweep):
		return h.unsettleSweep(ctx, tx, p)
	case string(chain.KindToCold):
		return h.unsettleToCold(ctx, tx, p)
	}
	withdrawals, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, w := range withdrawals {
		if err := h.unsettleWithdrawal(ctx, tx, p, w); err != nil {
			return fmt.Errorf("withdrawal %s: %w", w.ID, err)
		}
	}
	return unattributed.Refunds{Registry: h.Registry, Log: h.Log}.Unsettle(ctx, tx, p)
}

// unsettleWithdrawal undoes the settlement or the refund of a withdrawal.
func (h *Inclusions) unsettleWithdrawal(
	ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, w bursar.Withdrawal,
) error {
	short, is, err := shortfall(p, w.Address, w.Amount)
	if err != nil {
		return err
	}
	payouts := withdrawal.Payouts{Chain: h.Capabilities.ID, Registry: h.Registry, IDs: h.IDs, Log: h.Log}
	if !is {
		return payouts.Unsettle(ctx, tx, w, nil)
	}
	return payouts.Unsettle(ctx, tx, w, &short)
}
