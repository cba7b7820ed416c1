package deposit

import (
	"context"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// Credits records what follows a change of a deposit: the log line, the charge that the deposit pays, and the event for
// its customer. Every credit ends here, whether a block, an operator or another customer brought the money.
type Credits struct {
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Rates    Rates // nil: events carry no values in USDT
}

// announce marks the charge that a credited deposit pays and records the deposit's event, in the transaction that
// credits it.
func (c Credits) announce(ctx context.Context, tx *store.Tx, d bursar.Deposit, depth wire.ConfirmationContext) error {
	kind, err := c.settleCharge(ctx, tx, d)
	if err != nil {
		return err
	}
	return c.notify(ctx, tx, kind, d, depth)
}

// fee returns the operator's fee on a deposit of an account.
func fee(rules bursar.FeeRules, account bursar.ID, currency bursar.Currency, amount bursar.Amount) bursar.Amount {
	return rules.For(account, currency).DepositFee.Within(amount)
}

// Inside credits a wallet of this service with what a withdrawal pays to it: in the ledger, without a transaction on
// any chain. w is held and confirmed in the same database transaction.
func (c Credits) Inside(
	ctx context.Context, tx *store.Tx, w bursar.Withdrawal, currency bursar.Currency, to bursar.Wallet,
) (bursar.Deposit, error) {
	rules, err := tx.FeeRules().Of(ctx, to.AccountID)
	if err != nil {
		return bursar.Deposit{}, err
	}
	d := bursar.Deposit{
		ID:          c.IDs.Next(),
		Purpose:     bursar.ForWallet,
		AccountID:   to.AccountID,
		WalletID:    to.ID,
		Currency:    w.Currency,
		Chain:       currency.Chain,
		TxID:        w.TxID,
		Address:     to.Address,
		Contract:    currency.Contract,
		Amount:      w.Amount,
		Status:      bursar.DepositConfirmed,
		SeenAt:      tx.Now(),
		ConfirmedAt: tx.Now(),
		Webhook:     to.Webhook,
		Metadata:    to.Metadata,
	}
	d.Fee = fee(rules, to.AccountID, currency, w.Amount)
	if to.ForCharge {
		d.Purpose = bursar.ForCharge
	}
	if err := tx.Ledger().Post(ctx, ledger.InternalTransfer(w, to.AccountID, d.Fee, tx.Now())); err != nil {
		return d, err
	}
	if err := tx.Deposits().InsertInternal(ctx, store.NewDeposit{Deposit: d, Wallet: to.Number}); err != nil {
		return d, err
	}
	c.logDeposit(tx, slog.LevelInfo, "deposit credited", d)
	return d, c.announce(ctx, tx, d, wire.ConfirmationContext{})
}

// notify records an event about a deposit in the transaction that caused it.
func (c Credits) notify(
	ctx context.Context, tx *store.Tx, kind bursar.EventKind, d bursar.Deposit, depth wire.ConfirmationContext,
) error {
	currency, err := c.Registry.Get(d.Currency)
	if err != nil {
		c.Log.Error("no event recorded: the deposit's currency is not configured", "deposit", d.ID, "kind", kind,
			"currency", d.Currency)
		return nil
	}
	if d.Purpose == bursar.ForAccount {
		if d.Webhook, err = tx.Accounts().Webhook(ctx, d.AccountID, d.Currency); err != nil {
			return err
		}
	}
	var rate bursar.Rate
	if c.Rates != nil {
		rate = c.Rates.Rate(d.Currency)
	}
	event, err := wire.RatedDepositEvent(rate, c.IDs.Next(), kind, d, currency, depth, tx.Now())
	if err != nil {
		return err
	}
	due, err := tx.Events().Record(ctx, event)
	c.logEvent(tx, event, due)
	return err
}
