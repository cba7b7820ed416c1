package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// Refuse rejects a queued withdrawal that no outgoing transaction pays, because it was rejected after screening, and
// refunds it. reason is shown to the customer. w is locked, and as it was read in this transaction.
func (p Payouts) Refuse(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, reason string) error {
	w.Error = reason
	if err := tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalRejected); err != nil {
		return err
	}
	round, err := tx.Ledger().ReversalNumber(ctx, ledger.KindUnsettled, w.ID.String())
	if err != nil {
		return err
	}
	if err := tx.Ledger().Post(ctx, ledger.WithdrawalRefunded(w, round, tx.Now())); err != nil {
		return err
	}
	w.Status, w.CompletedAt = bursar.WithdrawalRejected, tx.Now()
	p.log(tx, "withdrawal refused after screening", w, w.OutgoingID)
	if err := p.credits().RefundEnded(ctx, tx, w.ID); err != nil {
		return err
	}
	return p.notify(ctx, tx, w)
}
