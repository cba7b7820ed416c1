package deposit

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// Announcer records what follows a change of a deposit: the log line, the charge that the deposit pays, and the event
// for its customer. Every credit ends here, whether a block, an operator or another customer brought the money.
type Announcer struct {
	Registry *bursar.Registry
	IDs      *bursar.IDs
	Log      *slog.Logger
	Rates    Rates  // nil: events carry no values in USDT
	Prices   Prices // nil: no charge is priced in fiat
}

// announce records what follows deposits that were credited, in the transaction that credits them.
func (c Announcer) announce(
	ctx context.Context, tx *store.Tx, depth wire.ConfirmationContext, credited ...bursar.Deposit,
) error {
	events, err := c.afterCredit(ctx, tx, depth, credited)
	if err != nil {
		return err
	}
	return c.record(ctx, tx, events)
}

// afterCredit marks the charges that credited deposits pay, and returns the event of each deposit. Invoices are
// evaluated first: every credit takes both kinds of charges in this order, so that two never wait for each other.
func (c Announcer) afterCredit(
	ctx context.Context, tx *store.Tx, depth wire.ConfirmationContext, credited []bursar.Deposit,
) ([]bursar.Event, error) {
	if err := c.invoicesChanged(ctx, tx, sameMoment(bursar.MomentCredited), credited...); err != nil {
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

// notice is an event to be recorded about a deposit.
type notice struct {
	kind    bursar.EventKind
	deposit bursar.Deposit
	depth   wire.ConfirmationContext
}

// notify records events about deposits in the transaction that caused them.
func (c Announcer) notify(ctx context.Context, tx *store.Tx, notices ...notice) error {
	events, err := c.events(ctx, tx, notices)
	if err != nil {
		return err
	}
	return c.record(ctx, tx, events)
}

func (c Announcer) record(ctx context.Context, tx *store.Tx, events []bursar.Event) error {
	due, err := tx.Events().RecordAll(ctx, events)
	if err == nil {
		AfterEvents(ctx, tx, events, due, c.logEvent)
	}
	return err
}

// events returns events about deposits, without those whose deposit's currency is not configured any more: its amounts
// cannot be written then.
func (c Announcer) events(ctx context.Context, tx *store.Tx, notices []notice) (events []bursar.Event, err error) {
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
func (c Announcer) accountWebhooks(
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
