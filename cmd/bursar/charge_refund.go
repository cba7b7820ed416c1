package main

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/client"
)

type chargeRefundCommand struct {
	whichCharge
	Address string `arg:"" placeholder:"ADDRESS" help:"Address that the payer names, with its memo after a colon; the sender of the payment may be an exchange."`
	Deposit string `placeholder:"DEPOSIT" help:"The payment. Default: the only one that waits."`
	Amount  string `xor:"much" placeholder:"AMOUNT" help:"How much, in whole units of the currency that was paid."`
	Part    string `xor:"much" enum:",all,over" default:"" help:"In place of --amount: all of the payment, or over, what was too much."`
	Rate    string `enum:",then,now" default:"" help:"With --part: what is refunded counts at the rate of then or of now."`
	Fee     string `enum:"merchant,payer" default:"merchant" help:"Who bears the fee of the withdrawal: merchant or payer."`
	Key     string `name:"idempotency-key" placeholder:"TEXT" help:"The same request with it refunds once."`
	DryRun  bool   `help:"Show what would be paid and its fee, and refund nothing."`
	confirmed
}

// Help returns what a refund is, and an example.
func (chargeRefundCommand) Help() string {
	return "A refund is a withdrawal of the account: it needs the API secret, has the same limits, and may wait for an " +
		"approval. With --dry-run the address and the amount are checked by the service as for a withdrawal. Name an " +
		"--idempotency-key where a script may run twice.\n\nExample:\n\n    bursar charge refund 'order 7' " +
		"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq --part over --rate then --dry-run"
}

// Run refunds a payment, or says what would be refunded.
func (cmd *chargeRefundCommand) Run(ctx context.Context, c *call) error {
	if cmd.Amount == "" && cmd.Part == "" {
		return wrong("how much is refunded is missing: use --amount, or --part")
	}
	if cmd.Rate != "" && cmd.Part == "" {
		return wrong("--rate belongs to --part")
	}
	service, found, err := cmd.find(ctx, c)
	if err != nil {
		return err
	}
	paid, err := paymentOf(found, cmd.Deposit)
	if err != nil {
		return err
	}
	if cmd.DryRun {
		return cmd.rehearse(ctx, c, service, paid)
	}
	_, w, err := service.RefundCharge(ctx, client.Refund{
		ChargeID:       found.ChargeID,
		DepositID:      paid.DepositID,
		Address:        cmd.Address,
		Amount:         cmd.Amount,
		Part:           cmd.Part,
		Rate:           cmd.Rate,
		Fee:            cmd.Fee,
		IdempotencyKey: cmd.Key,
	})
	if err != nil {
		return err
	}
	return c.Done(actFacts{"chargeID": found.ChargeID, "depositID": paid.DepositID, "withdrawalID": w.WithdrawalID,
		"amount": w.Amount, "fee": w.Fee, "currency": w.Currency, "status": w.Status},
		"withdrawal %s of %s %s to %s is %s, fee %s", w.WithdrawalID, w.Amount, w.Currency, w.Address, w.Status, w.Fee)
}

// onlyRehearses reports whether nothing is changed: then nobody is asked.
func (cmd *chargeRefundCommand) onlyRehearses() bool { return cmd.DryRun }

// rehearse has the service evaluate the withdrawal that a refund would be.
func (cmd *chargeRefundCommand) rehearse(ctx context.Context, c *call, service *client.Client,
	paid client.ChargePayment) error {
	amount := cmd.Amount
	if amount == "" {
		amount = paid.Refundable
	}
	quote, err := service.QuoteWithdrawal(ctx, client.NewWithdrawal{Currency: paid.Currency, Amount: amount,
		Address: cmd.Address})
	if err != nil {
		return err
	}
	most := ""
	if cmd.Part != "" {
		most = "at most "
	}
	facts := actFacts{"dryRun": true, "depositID": paid.DepositID, "currency": paid.Currency, "amount": amount,
		"refundable": paid.Refundable, "fee": quote.Fee, "address": cmd.Address}
	text := fmt.Sprintf("%s%s %s of payment %s would be paid to %s, fee %s, borne by the %s; nothing was changed", most,
		amount, paid.Currency, paid.DepositID, cmd.Address, quote.Fee, cmd.Fee)
	if cmd.JSON { // what changes nothing is not prepared
		facts["message"] = text
		return c.PrintJSON(facts)
	}
	return c.Say("%s", text)
}
