package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// The steps of a withdrawal that a restored database, or one that lost commits in a failover, has forgotten. They take
// the same way as Signed and Broadcast; what reverses those reverses these.

// nextPaid holds the status steps from a waiting withdrawal to a broadcast one.
var nextPaid = map[bursar.WithdrawalStatus]bursar.WithdrawalStatus{
	bursar.WithdrawalPendingApproval: bursar.WithdrawalQueued,
	bursar.WithdrawalQueued:          bursar.WithdrawalSigned,
	bursar.WithdrawalSigned:          bursar.WithdrawalBroadcast,
}

// Adopted records that the transaction by, which was found on the chain, pays a withdrawal: it is broadcast.
func (p Payouts) Adopted(ctx context.Context, tx *store.Tx, id bursar.ID, by bursar.OutgoingTx) error {
	w, err := tx.Withdrawals().Lock(ctx, id)
	if err != nil {
		return err
	}
	notified := w.Status == bursar.WithdrawalBroadcast
	if w, err = p.advance(ctx, tx, w, by, bursar.WithdrawalBroadcast); err != nil || notified {
		return err
	}
	return p.notify(ctx, tx, w)
}

// SignedAgain records that the transaction by, whose signature the database had forgotten, pays a withdrawal: it is
// signed, and nobody is notified before it is sent.
func (p Payouts) SignedAgain(ctx context.Context, tx *store.Tx, id bursar.ID, by bursar.OutgoingTx) error {
	w, err := tx.Withdrawals().Lock(ctx, id) // its own transaction may have been given up just before
	if err != nil {
		return err
	}
	_, err = p.advance(ctx, tx, w, by, bursar.WithdrawalSigned)
	return err
}

// advance assigns a withdrawal to an outgoing transaction and moves it up to a status, step by step. One that is
// beyond it keeps its status.
func (p Payouts) advance(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, by bursar.OutgoingTx,
	last bursar.WithdrawalStatus) (bursar.Withdrawal, error) {
	if err := tx.Withdrawals().AssignOutgoing(ctx, w, by.ID); err != nil {
		return w, err
	}
	for next, more := nextPaid[w.Status]; more && w.Status != last; next, more = nextPaid[w.Status] {
		if next == bursar.WithdrawalSigned {
			w.TxID = by.TxID
		}
		if err := tx.Withdrawals().SetStatus(ctx, w, next); err != nil {
			return w, err
		}
		w.Status = next
	}
	w.TxID = by.TxID
	return w, tx.Withdrawals().SetStatus(ctx, w, w.Status)
}
