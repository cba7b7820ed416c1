package recovery

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// assign lets an adopted transaction pay a withdrawal or a refund. From then on both are settled and unsettled
// together.
func (a Assessor) assign(ctx context.Context, tx *store.Tx, w want, p bursar.OutgoingTx) error {
	if w.refund != nil {
		return unattributed.Adopted(ctx, tx, w.refund.DepositID, p)
	}
	return a.Payouts.Adopted(ctx, tx, w.withdrawal.ID, p)
}
