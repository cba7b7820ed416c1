package outgoing

import (
	"context"
	"fmt"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// EndCancelled ends the outgoing transaction that pays a withdrawal, because the withdrawal is cancelled. Other
// withdrawals of the same transaction are queued again. The error is withdrawal.ErrTooLate if the transaction may have
// been signed: it is reserved before its bytes go to the signer. The chain and the withdrawal are locked by the caller.
// It is withdrawal.Config.Leave.
func EndCancelled(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	p, err := tx.Outgoing().Lock(ctx, w.OutgoingID)
	if err != nil {
		return err
	}
	if p.Status != bursar.OutgoingNew {
		return fmt.Errorf("%w: the withdrawal is being signed", withdrawal.ErrTooLate)
	}
	paid, err := tx.Withdrawals().PaidBy(ctx, p.ID)
	if err != nil {
		return err
	}
	for _, other := range paid {
		if err := tx.Withdrawals().AssignOutgoing(ctx, other, bursar.ID{}); err != nil {
			return err
		}
	}
	if err := recovery.CloseUnsigned(ctx, tx, p); err != nil {
		return err
	}
	return tx.Outgoing().SetStatus(ctx, p, bursar.OutgoingAbandoned)
}
