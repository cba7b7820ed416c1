package deposit

import (
	"context"
	"log/slog"
	"maps"
	"slices"

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

// Transfer is a withdrawal to a wallet of this service: it is paid in the ledger, without a transaction on any chain.
type Transfer struct {
	Withdrawal bursar.Withdrawal
	Currency   bursar.Currency
	To         bursar.Wallet
}

// Inside credits a wallet of this service with what a withdrawal pays to it. The withdrawal is held and confirmed in
// the same database transaction.
func (c Credits) Inside(ctx context.Context, tx *store.Tx, t Transfer) (bursar.Deposit, error) {
	deposits, entries, err := c.PrepareInside(ctx, tx, []Transfer{t})
	if err != nil {
		return bursar.Deposit{}, err
	}
	if err := tx.Ledger().Post(ctx, entries...); err != nil {
		return deposits[0], err
	}
	events, err := c.RecordInside(ctx, tx, []Transfer{t}, deposits)
	if err != nil {
		return deposits[0], err
	}
	due, err := tx.Events().RecordAll(ctx, events)
	for i, e := range events {
		if err == nil {
			c.logEvent(tx, e, due[i])
		}
	}
	return deposits[0], err
}

// PrepareInside returns the deposits that transfers become and the entry that books each. It writes nothing.
func (c Credits) PrepareInside(
	ctx context.Context, tx *store.Tx, transfers []Transfer,
) (deposits []bursar.Deposit, entries []ledger.Entry, err error) {
	if len(transfers) == 0 {
		return nil, nil, nil
	}
	accounts := map[bursar.ID]bool{}
	for _, t := range transfers {
		accounts[t.To.AccountID] = true
	}
	rules, err := tx.FeeRules().Of(ctx, slices.Collect(maps.Keys(accounts))...)
	if err != nil {
		return nil, nil, err
	}
	for _, t := range transfers {
		d := c.inside(tx, t)
		d.Fee = fee(rules, d.AccountID, t.Currency, d.Amount)
		deposits = append(deposits, d)
		entries = append(entries, ledger.InternalTransfer(t.Withdrawal, d.AccountID, d.Fee, tx.Now()))
	}
	return deposits, entries, nil
}

func (c Credits) inside(tx *store.Tx, t Transfer) bursar.Deposit {
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
	if t.To.ForCharge {
		d.Purpose = bursar.ForCharge
	}
	return d
}

// RecordInside records the deposits of transfers that are booked, and marks the charges that they pay. It returns the
// event of each, for the caller to record. Without charges it takes one statement, whatever the number of transfers.
func (c Credits) RecordInside(
	ctx context.Context, tx *store.Tx, transfers []Transfer, deposits []bursar.Deposit,
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
		kind, err := c.settleCharge(ctx, tx, d)
		if err != nil {
			return nil, err
		}
		event, made, err := c.event(ctx, tx, kind, d, wire.ConfirmationContext{})
		if err != nil {
			return nil, err
		}
		if made {
			events = append(events, event)
		}
	}
	return events, nil
}

// notify records an event about a deposit in the transaction that caused it.
func (c Credits) notify(
	ctx context.Context, tx *store.Tx, kind bursar.EventKind, d bursar.Deposit, depth wire.ConfirmationContext,
) error {
	event, made, err := c.event(ctx, tx, kind, d, depth)
	if err != nil || !made {
		return err
	}
	due, err := tx.Events().Record(ctx, event)
	c.logEvent(tx, event, due)
	return err
}

// event returns an event about a deposit, and false where its currency is not configured any more: its amounts cannot
// be written then.
func (c Credits) event(
	ctx context.Context, tx *store.Tx, kind bursar.EventKind, d bursar.Deposit, depth wire.ConfirmationContext,
) (event bursar.Event, made bool, err error) {
	currency, err := c.Registry.Get(d.Currency)
	if err != nil {
		c.Log.Error("no event recorded: the deposit's currency is not configured", "deposit", d.ID, "kind", kind,
			"currency", d.Currency)
		return event, false, nil
	}
	if d.Purpose == bursar.ForAccount {
		if d.Webhook, err = tx.Accounts().Webhook(ctx, d.AccountID, d.Currency); err != nil {
			return event, false, err
		}
	}
	var rate bursar.Rate
	if c.Rates != nil {
		rate = c.Rates.Rate(d.Currency)
	}
	event, err = wire.RatedDepositEvent(rate, c.IDs.Next(), kind, d, currency, depth, tx.Now())
	return event, err == nil, err
}
