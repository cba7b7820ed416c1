package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"golang.org/x/term"

	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/pay/qr"
)

type chargeQRCommand struct {
	whichCharge
	Currency string `placeholder:"CODE" help:"The currency to pay in; it gets an address if it has none yet. Default: the only one, or the one that was chosen."`
	Address  bool   `help:"Show the address alone, for wallets that do not read links of payment."`
	JSON     bool   `name:"json" help:"Print one JSON object with the text of the code, and no code."`
}

// Help returns how the code is drawn, and an example.
func (chargeQRCommand) Help() string {
	return "The code has a link of payment with the amount that is still due, or the address where the currency has no " +
		"such link. At a terminal it is drawn light on black; elsewhere, and with NO_COLOR, without colours, to be read " +
		"where letters are lighter than what is behind them.\n\nExample:\n\n    bursar charge qr 'order 7' --currency BTC"
}

// Run prints a code.
func (cmd *chargeQRCommand) Run(ctx context.Context, c *call) error {
	service, found, err := cmd.find(ctx, c)
	if err != nil {
		return err
	}
	o, err := cmd.option(ctx, service, found)
	if err != nil {
		return err
	}
	text := cmp.Or(o.URI, o.Address)
	if cmd.Address {
		text = o.Address
	}
	if cmd.JSON {
		return c.PrintJSON(actFacts{"chargeID": found.ChargeID, "currency": o.Currency, "due": o.Due, "address": o.Address,
			"tag": o.Tag, "text": text})
	}
	lines, err := qr.Lines(text)
	if err != nil {
		return err
	}
	before, after := "", ""
	if c.coloured() {
		before, after = "\x1b[97;40m", "\x1b[0m" // bright white on black, whatever the theme is
	}
	for _, line := range lines {
		if err := c.Say("%s%s%s", before, line, after); err != nil {
			return err
		}
	}
	asks := text
	if o.Due != "" {
		asks = fmt.Sprintf("%s %s: %s", o.Due, o.Currency, text)
	}
	if err := c.Say("%s", asks); err != nil {
		return err
	}
	if o.Tag != "" && !strings.Contains(text, o.Tag) {
		return c.Say("The tag %s is needed too: without it the payment waits for a person.", o.Tag)
	}
	return nil
}

// option returns in which currency the charge is to be paid, with an address.
func (cmd *chargeQRCommand) option(ctx context.Context, service *client.Client, ch client.Charge) (
	o client.ChargeOption, err error) {
	if ch.Rule == "" { // its one deposit pays it
		address, tag, _ := strings.Cut(ch.Address, ":")
		return client.ChargeOption{Currency: ch.Currency, Address: address, Tag: tag, Due: ch.Minimum}, nil
	}
	wanted := cmd.Currency
	if wanted == "" {
		var codes []string
		for _, o := range ch.Options {
			if codes = append(codes, o.Currency); o.Address != "" {
				wanted = cmp.Or(wanted, o.Currency)
			}
		}
		if wanted == "" && len(codes) == 1 {
			wanted = codes[0]
		}
		if wanted == "" {
			return o, wrong("no currency was chosen yet: name one with --currency: %s", strings.Join(codes, ", "))
		}
	}
	if o = optionIn(ch, wanted); o.Address == "" {
		if ch, err = service.QuoteCharge(ctx, ch.ChargeID, wanted); err != nil {
			return o, err
		}
		o = optionIn(ch, wanted)
	}
	if o.Address == "" {
		return o, errors.New("the service gave no address for " + wanted)
	}
	return o, nil
}

func optionIn(ch client.Charge, currency string) client.ChargeOption {
	for _, o := range ch.Options {
		if o.Currency == currency {
			return o
		}
	}
	return client.ChargeOption{}
}

// coloured reports whether colours are shown: at a terminal, unless NO_COLOR is set (no-color.org).
func (c *call) coloured() bool {
	f, is := c.Stdout.(*os.File)
	return is && term.IsTerminal(int(f.Fd())) && c.Getenv("NO_COLOR") == ""
}
