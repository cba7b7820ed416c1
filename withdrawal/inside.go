package withdrawal

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// settleInside pays an order to another wallet of this service in the ledger: a deposit for the receiver, no transaction on
// any chain.
func (s *Service) settleInside(ctx context.Context, tx *store.Tx, w bursar.Withdrawal, currency bursar.Currency, to bursar.Wallet) (bursar.Withdrawal, error) {
	rules, err := tx.FeeRules().Of(ctx, to.AccountID)
	if err != nil {
		return w, err
	}
	fee := rules.For(to.AccountID, currency).DepositFee.Within(w.Amount)
	w.TxID = bursar.TransferHash(w.ID)
	if err := tx.Withdrawals().SetStatus(ctx, w, bursar.WithdrawalConfirmed); err != nil {
		return w, err
	}
	if err := tx.Ledger().Post(ctx, ledger.InternalTransfer(w, to.AccountID, fee, tx.Now())); err != nil {
		return w, err
	}
	w.Status, w.CompletedAt = bursar.WithdrawalConfirmed, tx.Now()
	d := bursar.Deposit{ID: s.ids.Next(), Purpose: bursar.ForWallet, AccountID: to.AccountID, WalletID: to.ID, Currency: w.Currency, Chain: currency.Chain,
		TxID: w.TxID, Address: to.Address, Contract: currency.Contract, Amount: w.Amount, Fee: fee, Status: bursar.DepositConfirmed,
		SeenAt: tx.Now(), ConfirmedAt: tx.Now(), Webhook: to.Webhook, Metadata: to.Metadata}
	if to.ForCharge {
		d.Purpose = bursar.ForCharge
	}
	if err := tx.Deposits().InsertInternal(ctx, store.Arrival{Deposit: d, Wallet: to.Number}); err != nil {
		return w, err
	}
	tx.After(func() {
		s.log.Info("withdrawal settled", "withdrawal", w.ID, "account", w.AccountID, "deposit", d.ID)
		s.log.Info("deposit credited", "deposit", d.ID, "chain", d.Chain, "hash", d.TxID, "currency", d.Currency, "amount", d.Amount, "account", d.AccountID, "wallet", d.WalletID)
	})
	if err := s.tell(ctx, tx, w); err != nil {
		return w, err
	}
	return w, s.tellReceiver(ctx, tx, d, currency)
}

// tellReceiver records the event of an internal deposit, and marks the charge that it pays.
func (s *Service) tellReceiver(ctx context.Context, tx *store.Tx, d bursar.Deposit, currency bursar.Currency) error {
	kind := bursar.EventDeposit
	if d.Purpose == bursar.ForCharge {
		charge, err := tx.Charges().Lock(ctx, d.WalletID)
		if err != nil {
			return err
		}
		if charge.PaidWith(d.Amount, d.SeenAt) {
			kind = bursar.EventPaid
			if err := tx.Charges().SetPaidBy(ctx, charge.ID, d.ID); err != nil {
				return err
			}
		}
	}
	var rate bursar.Rate
	if s.rates != nil {
		rate = s.rates.Rate(d.Currency)
	}
	event, err := wire.RatedDepositEvent(rate, s.ids.Next(), kind, d, currency, wire.ConfirmationContext{}, tx.Now())
	if err != nil {
		return err
	}
	due, err := tx.Events().Record(ctx, event)
	s.tellEvent(tx, event, due)
	return err
}

// tell records an event of a withdrawal's new status for accounts that asked for them.
func (s *Service) tell(ctx context.Context, tx *store.Tx, w bursar.Withdrawal) error {
	event, due, err := tx.Events().RecordWithdrawal(ctx, w, s.registry, s.ids)
	if !event.ID.IsZero() {
		s.tellEvent(tx, event, due)
	}
	return err
}

func (s *Service) tellEvent(tx *store.Tx, e bursar.Event, due bool) {
	tx.After(func() {
		s.log.Info("event recorded", e.Noun(), e.Subject, "event", e.ID, "kind", e.Kind, "account", e.AccountID, "sent", due)
	})
}
