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
	return k.assignWithdrawal(ctx, tx, w.withdrawal.ID, p)
}

// broadcastWay holds the status steps from a waiting withdrawal to a broadcast one.
var broadcastWay = map[bursar.WithdrawalStatus]bursar.WithdrawalStatus{
	bursar.WithdrawalPendingApproval: bursar.WithdrawalQueued,
	bursar.WithdrawalQueued:          bursar.WithdrawalSigned,
	bursar.WithdrawalSigned:          bursar.WithdrawalBroadcast,
}

func (k Book) assignWithdrawal(ctx context.Context, tx *store.Tx, id bursar.ID, p bursar.OutgoingTx) error {
	w, err := tx.Withdrawals().Lock(ctx, id)
	if err != nil {
		return err
	}
	if err := tx.Withdrawals().AssignOutgoing(ctx, w, p.ID); err != nil {
		return err
	}
	notified := w.Status == bursar.WithdrawalBroadcast
	for next, more := broadcastWay[w.Status]; more; next, more = broadcastWay[w.Status] {
		if next == bursar.WithdrawalSigned {
			w.TxID = p.TxID
		}
		if err := tx.Withdrawals().SetStatus(ctx, w, next); err != nil {
			return err
		}
		w.Status = next
	}
	w.TxID = p.TxID
	if err := tx.Withdrawals().SetStatus(ctx, w, w.Status); err != nil || notified {
		return err
	}
	_, _, err = tx.Events().RecordWithdrawal(ctx, w, k.Registry, k.IDs)
	return err
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
