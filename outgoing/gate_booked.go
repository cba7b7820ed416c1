package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// notBookedAlready holds back a withdrawal that an external spend may have paid since it was ordered, whatever an
// operator has said of that: when they booked it, the database may not have shown the withdrawal as it was ordered. What
// may be out already goes on; refunds to senders are held by notRefunded.
func (s *Sender) notBookedAlready(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.outgoingTx.Share == bursar.ShareRefund || p.out || p.step != stepBuild && p.step != stepSign {
		return nil
	}
	state, err := tx.Chains().State(ctx, p.outgoingTx.Chain)
	if err != nil {
		return err
	}
	k := s.assessor()
	x, withdrawal, err := k.MayHavePaidOrdered(ctx, tx, p.outgoingTx.ID, state.Final)
	if err != nil {
		return store.IgnoreNotFound(err)
	}
	answers, err := k.Answers(ctx, tx, x, withdrawal)
	if err != nil {
		return err
	}
	return &WaitError{mayBePaidBy: x.TxID, Reason: fmt.Sprintf("transaction %s, which no withdrawal explains, makes the "+
		"same payment as for withdrawal %s, so that is not paid: %s", x.TxID, withdrawal, answers)}
}

// alarmIfMayBePaid raises the alarm about an outgoing transaction that waits because an external spend may have paid
// what it pays. It is closed once the transaction is signed, or has ended.
func alarmIfMayBePaid(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, trouble error) error {
	var waiting *WaitError
	if !errors.As(trouble, &waiting) || waiting.mayBePaidBy == "" {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: recovery.AlarmUnclear, Ref: p.ID.String(),
		Message: fmt.Sprintf("outgoing transaction %s waits: %s", p.ID, waiting.Reason)})
}
