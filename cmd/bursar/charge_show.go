package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/client"
)

type chargeListCommand struct {
	remote
	Account   bursar.ID           `type:"account" placeholder:"ACCOUNT" help:"Only those of this account: its ID or name. A key has those of its own account."`
	Status    string              `placeholder:"STATUS" help:"Only those that are open, confirming, paid, expired or cancelled."`
	Label     string              `placeholder:"LABEL" help:"Only those with this label, such as partial, over or late."`
	Attention bool                `help:"Only those that need a person."`
	Currency  bursar.CurrencyCode `placeholder:"CODE" help:"Only those of this currency."`
	Reference string              `placeholder:"TEXT" help:"Only those with this reference."`
	rows
}

// Help says whose charges are listed, and an example.
func (chargeListCommand) Help() string {
	return "Reads the database of the configuration, with the charges of all accounts. With --api or --profile it asks " +
		"the service for those of the key's account, and prints what the API says of them.\n\n" +
		"Example:\n\n    bursar charge list --attention\n    bursar charge list --profile test --status open"
}

// named reports whether a service is named that is to be asked, in place of the database.
func (r remote) named() bool { return r.API != "" || r.Profile != "" }

// orAsk adds to an error that there is no configuration how to ask a service instead, where there is a key of one.
func orAsk(c *call, err error) error {
	if errors.Is(err, fs.ErrNotExist) && c.Getenv("BURSAR_API_KEY") != "" {
		return fmt.Errorf("%w; or name the service of BURSAR_API_KEY with --api", err)
	}
	return err
}

// Run lists charges.
func (cmd *chargeListCommand) Run(ctx context.Context, c *call) error {
	if cmd.named() {
		return cmd.ask(ctx, c)
	}
	attention := ""
	if cmd.Attention {
		attention = "yes"
	}
	values := cmd.values(cmd.Account, "status", cmd.Status, "label", cmd.Label, "currency", string(cmd.Currency),
		"reference", cmd.Reference, "attention", attention)
	return orAsk(c, c.many(ctx, "/charges", values, cmd.JSON))
}

// ask lists the charges of a key's account, as its service says.
func (cmd *chargeListCommand) ask(ctx context.Context, c *call) error {
	if !cmd.Account.IsZero() || cmd.Before != 0 {
		return wrong("a service lists the charges of the key's own account, the newest first: leave out --account and " +
			"--before")
	}
	if cmd.Limit < 1 || cmd.Limit > 500 {
		return wrong("--limit must be between 1 and 500")
	}
	f := client.ChargeFilter{Status: cmd.Status, Label: cmd.Label, Reference: cmd.Reference,
		Currency: string(cmd.Currency)}
	if cmd.Attention {
		f.Attention = "true"
	}
	var err error
	if f.From, err = dayOrTime("--from", cmd.From, 0); err != nil {
		return err
	}
	if f.To, err = dayOrTime("--to", cmd.To, 24*time.Hour); err != nil {
		return err
	}
	service, err := cmd.dial(c)
	if err != nil {
		return err
	}
	page, err := service.ChargesOf(f)(ctx, client.Page{Limit: cmd.Limit})
	if err != nil {
		return err
	}
	if page.NextCursor != "" {
		defer c.Note("There are more: ask for a period with --from and --to.")
	}
	const head = "CHARGE MADE STATUS LABELS NEEDS-A-PERSON REQUIRED OF DUE ENDS REFERENCE"
	return list(c, cmd.JSON, page.Items, head, func(ch client.Charge) []any {
		return []any{ch.ChargeID, ch.CreatedAt, ch.Status, strings.Join(ch.Labels, ","), yesNo(ch.Attention),
			ch.Required.Amount, ch.Required.Currency, ch.Due, momentOf(ch.ExpiresAt), ch.Reference}
	})
}

// dayOrTime reads a day in UTC, to which something is added, or a time of RFC 3339; the zero time if there is none.
func dayOrTime(flag, text string, add time.Duration) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if day, err := time.Parse(time.DateOnly, text); err == nil {
		return day.Add(add), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, wrong("%s %.40q is neither a day such as 2026-01-31 nor a time of RFC 3339", flag, text)
	}
	return at, nil
}

type chargeShowCommand struct {
	whichCharge
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Help says who is asked, and examples.
func (chargeShowCommand) Help() string {
	return "Reads the database of the configuration, which knows a charge by its ID; use `bursar find` to search by " +
		"reference or address. With --api or --profile it asks the service, which knows those of the key's account by " +
		"their references too, and --json prints what the API says.\n\nExample:\n\n    " +
		"bursar charge show 0193a6a0-0000-7000-8000-000000000000\n    bursar charge show 'order 7' --profile test"
}

// Run shows a charge.
func (cmd *chargeShowCommand) Run(ctx context.Context, c *call) error {
	if cmd.named() {
		_, found, err := cmd.find(ctx, c)
		if err != nil {
			return err
		}
		return cmd.print(c, found)
	}
	id, err := bursar.ParseID(cmd.Charge)
	if err != nil {
		return wrong("%.60q is not the ID of a charge: `bursar find` looks for a reference, and so does --api", cmd.Charge)
	}
	return orAsk(c, c.one(ctx, "/charges/{id}", "charge", id, cmd.JSON))
}

// print shows what a service says of a charge.
func (cmd *chargeShowCommand) print(c *call, ch client.Charge) error {
	if cmd.JSON {
		return c.PrintJSON(ch)
	}
	facts := []string{"Charge", ch.ChargeID, "Status", ch.Status, "Labels", strings.Join(ch.Labels, ", "),
		"Needs a person", yesNo(ch.Attention), "Required", amountOf(ch.Required.Amount, ch.Required.Currency),
		"Received", ch.Received, "Pending", ch.Pending, "Due", ch.Due, "Over", ch.Over, "Made", moment(ch.CreatedAt),
		"Ends", momentOf(ch.ExpiresAt), "Reference", ch.Reference, "Description", ch.Description,
		"Payer's page", ch.CheckoutURL}
	if ch.Rule == "" { // it is paid by one deposit
		facts = []string{"Charge", ch.ChargeID, "Paid", yesNo(ch.Paid), "Expired", yesNo(ch.Expired), "Minimum",
			amountOf(ch.Minimum, ch.Currency), "Address", ch.Address, "Made", moment(ch.CreatedAt)}
	}
	for i := 1; i < len(facts); i += 2 {
		facts[i] = cell(facts[i])
	}
	if err := c.pairs(facts...); err != nil {
		return err
	}
	return paidBy(c, ch)
}

func amountOf(amount, code string) string { return strings.TrimSpace(amount + " " + code) }

// paidBy shows in which currencies a charge can be paid, and its payments.
func paidBy(c *call, ch client.Charge) error {
	if len(ch.Options) > 0 {
		if err := c.Say("\nCan be paid in"); err != nil {
			return err
		}
		err := list(c, false, ch.Options, "CURRENCY DUE ADDRESS TAG", func(o client.ChargeOption) []any {
			return []any{o.Currency, o.Due, o.Address, o.Tag}
		})
		if err != nil {
			return err
		}
	}
	if len(ch.Payments) == 0 {
		return nil
	}
	if err := c.Say("\nPayments"); err != nil {
		return err
	}
	const head = "DEPOSIT SEEN AMOUNT CURRENCY STATUS COUNTED NEEDS-A-PERSON TRANSACTION"
	return list(c, false, ch.Payments, head, func(p client.ChargePayment) []any {
		return []any{p.DepositID, p.SeenAt, p.Amount, p.Currency, p.Status, yesNo(p.Counted), yesNo(p.Attention), p.HashID}
	})
}
