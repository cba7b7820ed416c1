package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
)

type triggerCommand struct {
	Event string `arg:"" help:"The event, such as deposit or paid; list shows all of them."`
	remote
	Control  string              `placeholder:"URL" help:"The sandbox's remote control. Default: BURSAR_CONTROL, or http://127.0.0.1:8082."`
	Currency bursar.CurrencyCode `default:"BTC" help:"Currency that is paid."`
	Amount   string              `default:"0.01" help:"Amount in whole units of the currency."`
	Webhook  string              `placeholder:"URL" help:"Where the event is sent. Default: the sandbox's own receiver."`
	Within   time.Duration       `default:"3m" help:"How long to wait for the event."`
	Override []string            `sep:"none" placeholder:"NAME=VALUE" help:"Set a parameter of the request for the wallet, charge or withdrawal; repeatable; NAME= leaves it out."`
	Edit     bool                `help:"Edit that request as JSON before it is sent, with the editor of VISUAL or EDITOR."`
	acting
}

// Help says how events are made, and an example.
func (triggerCommand) Help() string {
	return "Triggers an event in a sandbox by performing its cause: a payment on the chain, a reorg, a withdrawal. " +
		"Nothing is faked, so everything else that follows in a real service follows too. It waits for the event and " +
		"prints its ID; `bursar listen --forward-to` brings it to a receiver of yours. late and expired take a minute, " +
		"which is the shortest life of a charge. A withdrawal needs BURSAR_API_SECRET.\n\n" +
		"--override and --edit change what the service is asked for, by the parameters of its API. They make up nothing " +
		"either: a request that the service refuses makes no event.\n\nExample:\n\n    " +
		"bursar trigger partial --currency ETH --override reference=1001 --override expires=600"
}

// cause makes what an event is about, and returns its ID.
type cause func(ctx context.Context) (id string, err error)

// causes are the events that can be triggered, with what causes them.
func (t *trigger) causes() map[string]cause {
	return map[string]cause{
		"deposit":          t.payWallet,
		"deposit_reversed": t.reverseDeposit,
		"withdrawal":       t.withdraw,
		"pending":          t.paysCharge("exact"),
		"paid":             t.paysCharge("exact"),
		"partial":          t.paysCharge("partial"),
		"overpaid":         t.paysCharge("over"),
		"late":             t.paysCharge("late"),
		"attention":        t.paysCharge("over"),
		"reversed":         t.reverseCharge,
		"expired":          t.paysCharge(""),
		"cancelled":        t.cancelCharge,
		"refunded":         t.refundCharge,
	}
}

// happens says what each event is about, for people.
var happens = map[string]string{
	"deposit":          "a wallet is paid, and the deposit is credited",
	"deposit_reversed": "the block of a credited deposit is reorged out",
	"withdrawal":       "a withdrawal is requested",
	"pending":          "a payment of a charge is in a block",
	"paid":             "a charge is paid exactly",
	"partial":          "half of a charge is paid",
	"overpaid":         "a charge is paid with half as much again",
	"late":             "a charge is paid after its end, which is in a minute",
	"attention":        "a charge that is paid too much waits for a person",
	"reversed":         "the block of a charge's payment is reorged out",
	"expired":          "a charge ends unpaid, in a minute",
	"cancelled":        "a charge is cancelled",
	"refunded":         "a payment of a charge is refunded",
}

// described lists events with what they are about.
func described(names []string) string {
	var lines []string
	for _, name := range names {
		lines = append(lines, fmt.Sprintf("%-18s%s", name, happens[name]))
	}
	return strings.Join(lines, "\n")
}

// trigger is one event being made.
type trigger struct {
	cmd     *triggerCommand
	service *client.Client
	control control
	at      target
	call    *call
	after   string // position of the feed behind which the event is
}

// Run makes the event happen and waits for it.
func (cmd *triggerCommand) Run(ctx context.Context, c *call) error {
	t := &trigger{cmd: cmd, control: c.controlAt(cmd.Control), call: c}
	all := t.causes()
	names := slices.Sorted(maps.Keys(all))
	if cmd.Event == "list" {
		return c.Done(actFacts{"events": names}, "%s", described(names))
	}
	cmd.Event = ofCharge(cmd.Event)
	cause, known := all[cmd.Event]
	if !known {
		return wrong("event %.40q cannot be triggered; these can: %s", cmd.Event, strings.Join(names, ", "))
	}
	var err error
	if t.at, err = cmd.target(c); err != nil {
		return usage(err)
	}
	if err := cmd.overridable(); err != nil {
		return err
	}
	if t.service, err = cmd.dial(c); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, cmd.Within)
	defer cancel()
	if err := t.control.serves(ctx, t.at.API); err != nil { // before anything is made there, or a key is sent
		return err
	}
	t.control.key = t.at.Key
	if err := t.begin(ctx); err != nil {
		return err
	}
	id, err := cause(ctx)
	if err != nil {
		return err
	}
	e, err := t.wait(ctx, cmd.Event, id)
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("%s of %s did not come within %s", cmd.Event, id, cmd.Within)
	}
	if err != nil {
		return err
	}
	return c.Done(actFacts{"event": e.Event, "eventID": e.EventID, "subject": id},
		"%s: event %s about %s", e.Event, e.EventID, id)
}

// ofCharge returns an event's own name: one of a charge may be asked for as charge.paid, and over is overpaid.
func ofCharge(name string) string {
	short, is := strings.CutPrefix(name, "charge.")
	switch {
	case short == "over":
		return "overpaid"
	case is && (short == "withdrawal" || strings.HasPrefix(short, "deposit")): // no charge has these
		return name
	}
	return short
}

// begin notes where the feed ends, and takes the sandbox's receiver where no other is named.
func (t *trigger) begin(ctx context.Context) error {
	if t.cmd.Webhook == "" {
		var receiver struct{ URL string }
		if err := t.control.get(ctx, "webhooks/url", &receiver); err != nil {
			return err
		}
		t.cmd.Webhook = receiver.URL
	}
	page, err := t.service.Events(ctx, client.FeedQuery{After: client.NewestEvents})
	t.after = page.Next
	return err
}

// wait reads the feed up to an event about an object.
func (t *trigger) wait(ctx context.Context, event, id string) (client.Event, error) {
	after := t.after
	for {
		page, err := t.service.Events(ctx, client.FeedQuery{After: after, Event: event, Wait: 20 * time.Second})
		if err != nil {
			return client.Event{}, errors.Join(err, ctx.Err())
		}
		for _, e := range page.Events {
			if subject(e) == id {
				return e, nil
			}
		}
		after = page.Next
	}
}

// subject returns the ID of what an event is about: the wallet of a deposit, a charge or a withdrawal.
func subject(e client.Event) string {
	switch {
	case e.Sum != nil:
		return e.Sum.ChargeID
	case e.Withdrawal != nil:
		return e.Withdrawal.WithdrawalID
	case e.Deposit != nil:
		return e.Deposit.WalletID
	}
	return ""
}

// payWallet makes a wallet and pays it.
func (t *trigger) payWallet(ctx context.Context) (string, error) {
	w, err := t.wallet(ctx)
	if err != nil {
		return "", err
	}
	_, err = t.control.pay(ctx, bursar.CurrencyCode(w.Currency), w.Address, t.cmd.Amount)
	return w.WalletID, err
}

// reverseDeposit pays a wallet, and has the credit reversed.
func (t *trigger) reverseDeposit(ctx context.Context) (string, error) {
	w, err := t.wallet(ctx)
	if err != nil {
		return "", err
	}
	code := bursar.CurrencyCode(w.Currency)
	return w.WalletID, t.reverse(ctx, code, "deposit", w.WalletID, func() (string, error) {
		return t.control.pay(ctx, code, w.Address, t.cmd.Amount)
	})
}

// reverse makes a payment, waits for the event of its credit, and replaces the blocks since by others without it.
func (t *trigger) reverse(ctx context.Context, code bursar.CurrencyCode, credited, id string,
	pay func() (hash string, err error)) error {
	chain, before, err := t.control.chainOf(ctx, code)
	if err != nil {
		return err
	}
	hash, err := pay()
	if err != nil {
		return err
	}
	if _, err := t.wait(ctx, credited, id); err != nil {
		return err
	}
	_, now, err := t.control.chainOf(ctx, code)
	if err != nil {
		return err
	}
	return t.control.post(ctx, "reorg", map[string]any{"chain": chain, "depth": now - before,
		"drop": []string{hash}}, nil)
}

// withdraw pays out to an address outside, of money that was deposited for it.
func (t *trigger) withdraw(ctx context.Context) (string, error) {
	half, err := halfOf(t.cmd.Amount)
	if err != nil {
		return "", err
	}
	funds, err := t.service.CreateWallet(ctx,
		client.NewWallet{Currency: string(t.cmd.Currency), Webhook: t.cmd.Webhook})
	if err != nil {
		return "", err
	}
	if _, err := t.control.pay(ctx, t.cmd.Currency, funds.Address, t.cmd.Amount); err != nil {
		return "", err
	}
	var outside struct{ Address string }
	if err := t.control.post(ctx, "address", map[string]any{"currency": t.cmd.Currency}, &outside); err != nil {
		return "", err
	}
	if _, err := t.wait(ctx, "deposit", funds.WalletID); err != nil {
		return "", err
	}
	if err := t.notified(ctx); err != nil {
		return "", err
	}
	return t.withdrawal(ctx, outside.Address, half)
}

// notified has the sandbox's account send events of withdrawals, which accounts do only on request.
func (t *trigger) notified(ctx context.Context) error {
	own, err := t.service.Account(ctx)
	if err != nil {
		return err
	}
	var answer struct{ Changed bool }
	err = t.control.post(ctx, "account/notify", map[string]any{"accountID": own.AccountID, "webhook": t.cmd.Webhook},
		&answer)
	if err == nil && answer.Changed {
		t.call.Note("From now on the account sends events of its withdrawals: `bursar account set --no-notify-withdrawals` " +
			"ends that.")
	}
	return err
}

// halfOf returns half of an amount, so that fees find room in the rest.
func halfOf(amount string) (string, error) {
	const places = 8 // more has no currency in the API
	a, err := bursar.ParseDecimal(amount, places)
	if err != nil {
		return "", wrong("--amount %.40q is not a plain decimal number such as 0.01", amount)
	}
	half, err := a.PPM(500_000)
	return strings.TrimSuffix(strings.TrimRight(half.Decimal(places, 0), "0"), "."), err
}
