package outgoing

import (
	"context"
	"errors"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// notBookedAlready holds back a withdrawal that an external spend may have paid since it was ordered, whatever an
// operator has said of that: when they booked it, the database may not have shown the withdrawal as it was ordered.
// What may be out already goes on; refunds to senders are held by notRefunded.
func (s *Sender) notBookedAlready(ctx context.Context, tx *store.Tx, p attempt) error {
	if p.outgoingTx.Share == bursar.ShareRefund || p.out || p.step != stepBuild && p.step != stepSign {
		return nil
	}
	state, err := tx.Chains().State(ctx, p.outgoingTx.Chain)
	if err != nil {
		return err
	}
	k := s.assessor()
	x, order, err := k.MayHavePaidOrdered(ctx, tx, p.outgoingTx.ID, state.Final)
	if err != nil {
		return store.IgnoreNotFound(err)
	}
	why, err := mayBePaidBy(ctx, tx, k, x, order)
	if err != nil {
		return err
	}
	return &WaitError{mayBePaid: true, Reason: why + ", so that is not paid again"}
}

// mayBePaidBy says that an external spend may have paid a withdrawal, and how an operator answers whether it did.
func mayBePaidBy(
	ctx context.Context, tx *store.Tx, k recovery.Assessor, x store.ExternalSpend, order bursar.ID,
) (string, error) {
	answers, err := k.Answers(ctx, tx, x, order)
	return fmt.Sprintf("transaction %s, which no withdrawal explains, makes the same payment as for withdrawal %s (%s)",
		x.TxID, order, answers), err
}

// MayBePaid returns the hash of an external spend that may have paid a withdrawal which is to be given back, on the
// chain of an assessor, and what to do about it; "" if there is none.
func MayBePaid(
	ctx context.Context, tx *store.Tx, k recovery.Assessor, w bursar.Withdrawal,
) (by, why string, err error) {
	if any, err := tx.ExternalSpends().Any(ctx, k.Capabilities.ID); err != nil || !any {
		return "", "", err
	}
	state, err := tx.Chains().State(ctx, k.Capabilities.ID)
	if err != nil {
		return "", "", err
	}
	x, err := k.MayHavePaidOrder(ctx, tx, w, state.Final)
	if err != nil {
		return "", "", store.IgnoreNotFound(err)
	}
	why, err = mayBePaidBy(ctx, tx, k, x, w.ID)
	return x.TxID, why, err
}

// Unpaid returns withdrawal.ErrTooLate where an external spend may have paid a withdrawal that is to be given back. It
// is withdrawal.Config.Unpaid on the chain of an assessor.
func Unpaid(ctx context.Context, tx *store.Tx, k recovery.Assessor, w bursar.Withdrawal) error {
	by, why, err := MayBePaid(ctx, tx, k, w)
	if err == nil && by != "" {
		err = fmt.Errorf("%w: %s", withdrawal.ErrTooLate, why)
	}
	return err
}

// unpaid returns those of some queued withdrawals that are before the first one which an external spend may have paid,
// or that one alone.
func (s *Sender) unpaid(
	ctx context.Context, tx *store.Tx, queued []bursar.Withdrawal,
) ([]bursar.Withdrawal, error) {
	id := s.Chain.Capabilities().ID
	if any, err := tx.ExternalSpends().Any(ctx, id); err != nil || !any || len(queued) < 2 {
		return queued, err
	}
	state, err := tx.Chains().State(ctx, id)
	if err != nil {
		return nil, err
	}
	k := s.assessor()
	for i, w := range queued {
		_, err := k.MayHavePaidOrder(ctx, tx, w, state.Final)
		if !errors.Is(err, store.ErrNotFound) {
			return queued[:max(i, 1)], err
		}
	}
	return queued, nil
}

// alarmIfMayBePaid raises the alarm about an outgoing transaction that waits because an external spend may have paid
// what it pays. It is closed once the transaction is signed, or has ended.
func alarmIfMayBePaid(ctx context.Context, tx *store.Tx, p bursar.OutgoingTx, trouble error) error {
	if !mayBePaid(trouble) {
		return nil
	}
	return tx.Alarms().Raise(ctx, store.Alarm{Chain: p.Chain, Kind: recovery.AlarmUnclear, Ref: p.ID.String(),
		Message: fmt.Sprintf("outgoing transaction %s waits: %v", p.ID, trouble)})
}

func mayBePaid(trouble error) bool {
	var waiting *WaitError
	return errors.As(trouble, &waiting) && waiting.mayBePaid
}
