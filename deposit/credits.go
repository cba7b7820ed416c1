package deposit

import (
	"context"
	"fmt"
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
	Rates    Rates  // nil: events carry no values in USDT
	Prices   Prices // nil: no charge is priced in fiat
}

// announce records what follows deposits that were credited, in the transaction that credits them.
func (c Credits) announce(
	ctx context.Context, tx *store.Tx, depth wire.ConfirmationContext, credited ...bursar.Deposit,
) error {
	events, err := c.afterCredit(ctx, tx, depth, credited)
	if err != nil {
		return err
	}
	return c.record(ctx, tx, events)
}

// afterCredit marks the charges that credited deposits pay, and returns the event of each deposit. Invoices are judged
// first: every credit takes both kinds of charges in this order, so that two never wait for each other.
func (c Credits) afterCredit(
	ctx context.Context, tx *store.Tx, depth wire.ConfirmationContext, credited []bursar.Deposit,
) ([]bursar.Event, error) {
	if err := c.invoicesChanged(ctx, tx, always(bursar.MomentCredited), credited...); err != nil {
		return nil, err
	}
	credited = withoutInvoices(credited)
	kinds, err := c.settleCharges(ctx, tx, credited)
	if err != nil {
		return nil, err
	}
	notices := make([]notice, len(credited))
	for i, d := range credited {
		notices[i] = notice{kinds[i], d, depth}
	}
	return c.events(ctx, tx, notices)
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
	rules, err := tx.FeeRules().Of(ctx, t.To.AccountID)
	if err != nil {
		return bursar.Deposit{}, err
	}
	deposits, entries := c.PrepareInside(tx, []Transfer{t}, rules)
	if err := tx.Ledger().Post(ctx, entries...); err != nil {
		return deposits[0], err
	}
	events, err := c.RecordInside(ctx, tx, []Transfer{t}, deposits)
	if err != nil {
		return deposits[0], err
	}
	return deposits[0], c.record(ctx, tx, events)
}

// PrepareInside returns the deposits that transfers become and the entry that books each. rules are the fees of their
// receivers. It writes nothing.
func (c Credits) PrepareInside(
	tx *store.Tx, transfers []Transfer, rules bursar.FeeRules,
) (deposits []bursar.Deposit, entries []ledger.Entry) {
	deposits, entries = make([]bursar.Deposit, 0, len(transfers)), make([]ledger.Entry, 0, len(transfers))
	for _, t := range transfers {
		d := c.inside(tx, t)
		d.Fee = fee(rules, d.AccountID, t.Currency, d.Amount)
		deposits = append(deposits, d)
		entries = append(entries, ledger.InternalTransfer(t.Withdrawal, d.AccountID, d.Fee, tx.Now()))
	}
	return deposits, entries
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
	switch {
	case t.To.ForInvoice:
		d.Purpose = bursar.ForInvoice
	case t.To.ForCharge:
		d.Purpose = bursar.ForCharge
	}
	return d
}

// RecordInside records the deposits of transfers that are booked, and marks the charges that they pay. It returns the
// event of each, for the caller to record. It takes the same number of statements whatever the number of transfers.
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
	}
	return c.afterCredit(ctx, tx, wire.ConfirmationContext{}, deposits)
}

// notice is an event to be recorded about a deposit.
type notice struct {
	kind    bursar.EventKind
	deposit bursar.Deposit
	depth   wire.ConfirmationContext
}

// notify records events about deposits in the transaction that caused them.
func (c Credits) notify(ctx context.Context, tx *store.Tx, notices ...notice) error {
	events, err := c.events(ctx, tx, notices)
	if err != nil {
		return err
	}
	return c.record(ctx, tx, events)
}

func (c Credits) record(ctx context.Context, tx *store.Tx, events []bursar.Event) error {
	due, err := tx.Events().RecordAll(ctx, events)
	if err == nil {
		AfterEvents(ctx, tx, events, due, c.logEvent)
	}
	return err
}

// events returns events about deposits, without those whose deposit's currency is not configured any more: its amounts
// cannot be written then.
func (c Credits) events(ctx context.Context, tx *store.Tx, notices []notice) (events []bursar.Event, err error) {
	webhooks, err := c.accountWebhooks(ctx, tx, notices)
	if err != nil {
		return nil, err
	}
	for _, n := range notices {
		d := n.deposit
		currency, err := c.Registry.Get(d.Currency)
		if err != nil {
			c.Log.Error("no event recorded: the deposit's currency is not configured", "deposit", d.ID, "kind", n.kind,
				"currency", d.Currency)
			continue
		}
		if d.Purpose == bursar.ForAccount {
			d.Webhook = webhooks[accountCurrency{d.AccountID, d.Currency}]
		}
		var rate bursar.Rate
		if c.Rates != nil {
			rate = c.Rates.Rate(d.Currency)
		}
		event, err := wire.DepositEvent(rate, c.IDs.Next(), n.kind, d, currency, n.depth, tx.Now())
		if err != nil {
			return nil, fmt.Errorf("event about deposit %s: %w", d.ID, err)
		}
		events = append(events, event)
	}
	return events, nil
}

// accountCurrency says about what an account is notified at one webhook.
type accountCurrency struct {
	account  bursar.ID
	currency bursar.CurrencyCode
}

// accountWebhooks returns where events go about deposits that belong to no wallet.
func (c Credits) accountWebhooks(
	ctx context.Context, tx *store.Tx, notices []notice,
) (map[accountCurrency]string, error) {
	webhooks := map[accountCurrency]string{}
	for _, n := range notices {
		of := accountCurrency{n.deposit.AccountID, n.deposit.Currency}
		if _, known := webhooks[of]; known || n.deposit.Purpose != bursar.ForAccount {
			continue
		}
		url, err := tx.Accounts().Webhook(ctx, of.account, of.currency)
		if err != nil {
			return nil, err
		}
		webhooks[of] = url
	}
	return webhooks, nil
}
