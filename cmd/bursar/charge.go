package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
)

type chargeCommands struct {
	Create  chargeCreateCommand  `cmd:"" help:"Make a charge, with an API key."`
	List    chargeListCommand    `cmd:"" help:"List charges, newest first."`
	Show    chargeShowCommand    `cmd:"" help:"Show a charge, its payments, and what it needs."`
	QR      chargeQRCommand      `cmd:"" name:"qr" help:"Show what a charge asks for as a QR code, with an API key."`
	Open    chargeOpenCommand    `cmd:"" help:"Print where the payer pays a charge, with an API key."`
	Resolve chargeResolveCommand `cmd:"" help:"Accept a payment of a charge, or keep it in the balance, with an API key."`
	Refund  chargeRefundCommand  `cmd:"" help:"Refund a payment of a charge, with an API key."`
	Cancel  chargeCancelCommand  `cmd:"" help:"End a charge, with an API key."`
}

type chargeCreateCommand struct {
	Currency      []string `arg:"" placeholder:"CODE" help:"Currencies that it may be paid in: one with --amount, several with --price."`
	Amount        string   `xor:"asks" placeholder:"AMOUNT" help:"What is asked for, in whole units of the currency."`
	Price         string   `xor:"asks" placeholder:"AMOUNT" help:"What is asked for in fiat; rates of the service decide how much of each currency that is."`
	PriceCurrency string   `default:"EUR" placeholder:"CODE" help:"Currency of --price."`
	remote
	Webhook     string        `required:"" placeholder:"URL" help:"Where its events are sent."`
	Reference   string        `placeholder:"TEXT" help:"Your own name of it, such as an order's number. The same request with it returns the first charge."`
	Description string        `placeholder:"TEXT" help:"What the payer pays for."`
	Metadata    string        `placeholder:"TEXT" help:"Text that its events carry."`
	Expires     time.Duration `placeholder:"TIME" help:"How long it may be paid, 1m to 720h. Default: 1h."`
	Key         string        `name:"idempotency-key" placeholder:"TEXT" help:"The same request with it makes one charge."`
	acting
}

// Help returns what is made, and an example.
func (chargeCreateCommand) Help() string {
	return "Several payments add up. It prints the ID, the address or the page for the payer; `bursar charge qr` shows " +
		"a code. All other fields of a charge are set with `bursar api POST charge`.\n\nExample:\n\n    " +
		"bursar charge create BTC --amount 0.001 --webhook https://shop.example/hook --reference 'order 7'"
}

// Run makes a charge.
func (cmd *chargeCreateCommand) Run(ctx context.Context, c *call) error {
	if cmd.Amount == "" && cmd.Price == "" {
		return wrong("nothing is asked for: use --amount, or --price")
	}
	service, err := cmd.dial(c)
	if err != nil {
		return err
	}
	n := client.NewSum{
		Currencies:     cmd.Currency,
		Amount:         cmd.Amount,
		Price:          cmd.Price,
		Webhook:        cmd.Webhook,
		Reference:      cmd.Reference,
		Description:    cmd.Description,
		Metadata:       cmd.Metadata,
		Life:           cmd.Expires,
		IdempotencyKey: cmd.Key,
	}
	if cmd.Price != "" {
		n.PriceCurrency = cmd.PriceCurrency
	}
	made, err := service.CreateSum(ctx, n)
	if err != nil {
		return err
	}
	return doneCharge(c, made, "charge %s asks for %s %s%s", made.ChargeID, made.Required.Amount, made.Required.Currency,
		where(made))
}

// where says where a charge is paid.
func where(ch client.Charge) string {
	text := ""
	for _, o := range ch.Options {
		if o.Address != "" {
			text += fmt.Sprintf("; %s %s to %s", o.Due, o.Currency, o.Address)
			if o.Tag != "" {
				text += " with the tag " + o.Tag
			}
		}
	}
	if ch.CheckoutURL != "" {
		text += "; the payer's page is " + ch.CheckoutURL
	}
	return text
}

// doneCharge says what was done, with the whole charge as JSON.
func doneCharge(c *call, ch client.Charge, format string, args ...any) error {
	return c.Done(actFacts{"chargeID": ch.ChargeID, "status": ch.Status, "charge": ch}, format, args...)
}

// whichCharge is the charge of a command with an API key.
type whichCharge struct {
	Charge string `arg:"" placeholder:"CHARGE" help:"ID or reference of the charge."`
	remote
}

// find returns the charge, and the service that has it.
func (w whichCharge) find(ctx context.Context, c *call) (*client.Client, client.Charge, error) {
	service, err := w.dial(c)
	if err != nil {
		return nil, client.Charge{}, err
	}
	if _, err := bursar.ParseID(w.Charge); err == nil {
		found, err := service.Charge(ctx, w.Charge)
		return service, found, err
	}
	list, err := service.ChargesOf(client.ChargeFilter{Reference: w.Charge})(ctx, client.Page{Limit: 1})
	if err != nil {
		return nil, client.Charge{}, err
	}
	if len(list.Items) == 0 {
		return nil, client.Charge{}, fmt.Errorf("the account has no charge with the reference %q", w.Charge)
	}
	return service, list.Items[0], nil
}

type chargeOpenCommand struct {
	whichCharge
	acting
}

// Help returns an example.
func (chargeOpenCommand) Help() string {
	return "Prints the address of the payer's page, and opens nothing by itself.\n\nExample:\n\n    " +
		"xdg-open \"$(bursar charge open 'order 7')\""
}

// Run prints the page.
func (cmd *chargeOpenCommand) Run(ctx context.Context, c *call) error {
	_, found, err := cmd.find(ctx, c)
	if err != nil {
		return err
	}
	if found.CheckoutURL == "" {
		return errors.New("this charge has no page: the service has no pay.url, or its deposits do not add up")
	}
	return c.Done(actFacts{"chargeID": found.ChargeID, "checkoutURL": found.CheckoutURL}, "%s", found.CheckoutURL)
}

type chargeCancelCommand struct {
	whichCharge
	confirmed
}

// Help returns an example.
func (chargeCancelCommand) Help() string {
	return "What is paid to it later is credited all the same, and waits for `bursar charge resolve` or `refund`.\n\n" +
		"Example:\n\n    bursar charge cancel 'order 7'"
}

// Run cancels a charge.
func (cmd *chargeCancelCommand) Run(ctx context.Context, c *call) error {
	service, found, err := cmd.find(ctx, c)
	if err != nil {
		return err
	}
	ended, err := service.CancelCharge(ctx, found.ChargeID)
	if err != nil {
		return err
	}
	return doneCharge(c, ended, "charge %s is %s", ended.ChargeID, ended.Status)
}

type chargeResolveCommand struct {
	whichCharge
	Resolution string `arg:"" enum:"accept,credit" help:"accept: the payment counts, and the charge is paid; credit: it stays in the balance and does not count."`
	Deposit    string `placeholder:"DEPOSIT" help:"The payment. Default: the only one that waits."`
	confirmed
}

// Help returns an example.
func (chargeResolveCommand) Help() string {
	return "Decides about a payment that came late, in another currency or in another amount. Each payment is decided " +
		"once.\n\nExample:\n\n    bursar charge resolve 'order 7' accept"
}

// Run resolves a payment.
func (cmd *chargeResolveCommand) Run(ctx context.Context, c *call) error {
	service, found, err := cmd.find(ctx, c)
	if err != nil {
		return err
	}
	paid, err := paymentOf(found, cmd.Deposit)
	if err != nil {
		return err
	}
	decide := service.AcceptPayment
	if cmd.Resolution == "credit" {
		decide = service.KeepPayment
	}
	decided, err := decide(ctx, found.ChargeID, paid.DepositID)
	if err != nil {
		return err
	}
	return doneCharge(c, decided, "payment %s of %s %s: %s; charge %s is %s", paid.DepositID, paid.Amount, paid.Currency,
		cmd.Resolution, decided.ChargeID, decided.Status)
}

// paymentOf returns a payment of a charge by its deposit, or the only one that waits for a decision.
func paymentOf(ch client.Charge, deposit string) (client.ChargePayment, error) {
	var waiting []client.ChargePayment
	var ids []string
	for _, p := range ch.Payments {
		if p.DepositID == deposit {
			return p, nil
		}
		ids = append(ids, p.DepositID)
		if p.Attention {
			waiting = append(waiting, p)
		}
	}
	switch {
	case deposit != "":
		return client.ChargePayment{}, fmt.Errorf("charge %s has no payment %.60q; it has %s", ch.ChargeID, deposit,
			strings.Join(ids, ", "))
	case len(waiting) == 1:
		return waiting[0], nil
	case len(ids) == 1:
		return ch.Payments[0], nil
	case len(ids) == 0:
		return client.ChargePayment{}, fmt.Errorf("charge %s has no payments", ch.ChargeID)
	}
	return client.ChargePayment{}, wrong("charge %s has several payments: name one with --deposit: %s", ch.ChargeID,
		strings.Join(ids, ", "))
}
