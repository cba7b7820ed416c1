package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Refuse rejects a queued withdrawal that no outgoing transaction pays, because it was rejected after screening, and
// refunds it. reason is shown to the customer. w is locked, and as it was read in this transaction.
func (p Payouts) Refuse(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, reason string) error {
	return p.refund(ctx, tx, w, bursar.WithdrawalRejected, reason)
}
