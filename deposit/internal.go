package deposit

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// InternalTransfer is a withdrawal to a wallet of this service: it is paid in the ledger, without a transaction on any
// chain.
type InternalTransfer struct {
	Withdrawal bursar.Withdrawal
	Currency   bursar.Currency
	To         bursar.Wallet
	Direct     bool // its money was not held before
}

// CreditInternal credits a wallet of this service with what a withdrawal pays to it. The withdrawal is held and
// confirmed in the same database transaction.
func (c Announcer) CreditInternal(ctx context.Context, tx *store.Tx, t InternalTransfer) (bursar.Deposit, error) {
	rules, err := tx.FeeRules().Of(ctx, t.To.AccountID)
	if err != nil {
		return bursar.Deposit{}, err
	}
	deposits, entries := c.PrepareInternal(tx, []InternalTransfer{t}, rules)
	if err := tx.Ledger().Post(ctx, entries...); err != nil {
		return deposits[0], err
	}
	events, err := c.RecordInternal(ctx, tx, []InternalTransfer{t}, deposits)
	if err != nil {
		return deposits[0], err
	}
	return deposits[0], c.record(ctx, tx, events)
}

// PrepareInternal returns the deposits that transfers become and the entry that books each. rules are the fees of their
// receivers. It writes nothing.
func (c Announcer) PrepareInternal(
	tx *store.Tx, transfers []InternalTransfer, rules bursar.FeeRules,
) (deposits []bursar.Deposit, entries []ledger.Entry) {
	deposits, entries = make([]bursar.Deposit, 0, len(transfers)), make([]ledger.Entry, 0, len(transfers))
	for _, t := range transfers {
		d := c.internalDeposit(tx, t)
		d.Fee = fee(rules, d.AccountID, t.Currency, d.Amount)
		deposits = append(deposits, d)
		book := ledger.InternalTransfer
		if t.Direct {
			book = ledger.DirectTransfer
		}
		entries = append(entries, book(t.Withdrawal, d.AccountID, d.Fee, tx.Now()))
	}
	return deposits, entries
}

func (c Announcer) internalDeposit(tx *store.Tx, t InternalTransfer) bursar.Deposit {
	d := bursar.Deposit{
		ID:          c.IDs.Next(),
		Purpose:     bursar.ForWallet,
		AccountID:   t.To.AccountID,
		WalletID:    t.To.ID,
		Currency:    t.Withdrawal.Currency,
		Chain:       t.Currency.Chain,
		TxID:        t.Withdrawal.TxID,
		Address:     t.To.Address,
		Contract:    t.Currency.Contract,
		Amount:      t.Withdrawal.Amount,
		Status:      bursar.DepositConfirmed,
		SeenAt:      tx.Now(),
		ConfirmedAt: tx.Now(),
		Webhook:     t.To.Webhook,
		Metadata:    t.To.Metadata,
	}
	switch {
	case t.To.ForInvoice:
		d.Purpose = bursar.ForInvoice
	case t.To.ForCharge:
		d.Purpose = bursar.ForCharge
	}
	return d
}

// RecordInternal records the deposits of transfers that are booked, and marks the charges that they pay. It returns the
// event of each, for the caller to record. It takes the same number of statements whatever the number of transfers.
func (c Announcer) RecordInternal(
	ctx context.Context, tx *store.Tx, transfers []InternalTransfer, deposits []bursar.Deposit,
) (events []bursar.Event, err error) {
	list := make([]store.NewDeposit, len(deposits))
	for i, d := range deposits {
		list[i] = store.NewDeposit{Deposit: d, Wallet: transfers[i].To.Number}
	}
	if err := tx.Deposits().InsertInternal(ctx, list...); err != nil {
		return nil, err
	}
	for _, d := range deposits {
		c.logDeposit(tx, slog.LevelInfo, "deposit credited", d)
	}
	return c.afterCredit(ctx, tx, wire.ConfirmationContext{}, deposits)
}
