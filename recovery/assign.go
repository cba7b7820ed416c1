package recovery

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// assign lets an adopted transaction pay a withdrawal or a refund. From then on both are settled and unsettled
// together.
func (k Book) assign(ctx context.Context, tx *store.Tx, w want, p bursar.OutgoingTx) error {
	if w.refund != nil {
		return assignRefund(ctx, tx, w.refund.DepositID, p)
	}
	return k.Payouts.Adopted(ctx, tx, w.withdrawal.ID, p)
}

func assignRefund(ctx context.Context, tx *store.Tx, deposit bursar.ID, p bursar.OutgoingTx) error {
	n, err := tx.Resolutions().Standing(ctx, deposit)
	if err != nil {
		return err
	}
	n.OutgoingID, n.TxID = p.ID, p.TxID
	return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionSigned)
}

// releaseRefund releases the refund that an outgoing transaction was to pay, so that another one may pay it.
func releaseRefund(ctx context.Context, tx *store.Tx, outgoingID bursar.ID) error {
	n, err := tx.Resolutions().RefundPaidBy(ctx, outgoingID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	n.OutgoingID, n.TxID = bursar.ID{}, ""
	return tx.Resolutions().SetStatus(ctx, n, bursar.ResolutionQueued)
}
