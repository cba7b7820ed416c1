package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/deposit"
	"github.com/bursar/bursar/store"
)

// settleInternal pays a withdrawal to another wallet of this service in the ledger: a deposit for the receiver, no
// transaction on any chain.
func (s *Service) settleInternal(
	ctx context.Context, tx *store.Tx, w bursar.Withdrawal, currency bursar.Currency, to bursar.Wallet,
) (bursar.Withdrawal, error) {
	w.TxID = bursar.TransferHash(w.ID)
	if err := tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalConfirmed); err != nil {
		return w, err
	}
	w.Status, w.CompletedAt = bursar.WithdrawalConfirmed, tx.Now()
	d, err := s.credits.CreditInternal(ctx, tx, deposit.InternalTransfer{Withdrawal: w, Currency: currency, To: to})
	if err != nil {
		return w, err
	}
	s.logSettled(ctx, tx, w, d)
	return w, s.announce(ctx, tx, w)
}

func (s *Service) logSettled(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, d bursar.Deposit) {
	tx.After(func() {
		s.log.InfoContext(ctx, "withdrawal settled", "withdrawal", w.ID, "account", w.AccountID, "deposit", d.ID)
	})
}

// announce records an event of a withdrawal's new status for accounts that asked for such events.
func (s *Service) announce(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	return recordEvent(ctx, tx, w, s.registry, s.ids, func(e bursar.Event, due bool) { s.logEvent(ctx, e, due) })
}

// logEvent is called after the commit that recorded an event; due says that it is to be sent.
func (s *Service) logEvent(ctx context.Context, e bursar.Event, due bool) {
	if due && s.eventRecorded != nil {
		s.eventRecorded(e)
	}
	deposit.LogEvent(ctx, s.log, e, due)
}
