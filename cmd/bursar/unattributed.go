package main

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/unattributed"
)

type unattributedCommands struct {
	List   unattributedListCommand   `cmd:"" help:"List unattributed deposits, newest first."`
	Assign unattributedAssignCommand `cmd:"" help:"Assign an unattributed deposit to a customer."`
	Refund unattributedRefundCommand `cmd:"" help:"Refund an unattributed deposit to its sender."`
	Keep   unattributedKeepCommand   `cmd:"" help:"Keep an unattributed deposit as operator funds."`
	Cancel unattributedCancelCommand `cmd:"" help:"Cancel a refund that is not signed yet."`
}

type unattributedAssignCommand struct {
	ID      bursar.ID `arg:"" placeholder:"DEPOSIT" help:"ID of the deposit."`
	Wallet  bursar.ID `xor:"who" placeholder:"WALLET" help:"Credit it as a deposit of this wallet or charge, which must have its currency."`
	Account bursar.ID `xor:"who" type:"account" placeholder:"ACCOUNT" help:"Credit it to this account without a wallet."`
	Note    string    `help:"Reason, for the record. A hash of a payment that may have refunded it says that it did not."`
	final
}

// Help returns an example.
func (unattributedAssignCommand) Help() string {
	return "The customer sees an ordinary confirmed deposit with the address that really received the money, and the " +
		"wallet's webhook receives the event. " +
		"The deposit fee is taken as configured; the minimum is ignored. This cannot be undone.\n\nExample:\n\n" +
		"    bursar unattributed assign 0193a6a0-0000-7000-8000-000000000000 --wallet " +
		"0193a6a0-0000-7000-8000-000000000001 --note \"ticket 42: forgot the tag\""
}

// Run assigns an unattributed deposit.
func (cmd *unattributedAssignCommand) Run(ctx context.Context, c *call) error {
	if cmd.Wallet.IsZero() && cmd.Account.IsZero() {
		return wrong("no recipient is named: use --wallet WALLET, or --account ACCOUNT")
	}
	return c.resolveUnattributed(ctx, cmd.ID, func(s *unattributed.Service) (bursar.Resolution, error) {
		if cmd.Wallet.IsZero() {
			return s.AssignToAccount(ctx, cmd.ID, cmd.Account, cmd.Note)
		}
		return s.AssignToWallet(ctx, cmd.ID, cmd.Wallet, cmd.Note)
	})
}

type unattributedRefundCommand struct {
	ID      bursar.ID `arg:"" placeholder:"DEPOSIT" help:"ID of the deposit."`
	To      string    `required:"" placeholder:"ADDRESS" help:"Recipient: an address, or ADDRESS:MEMO."`
	ToMemo  string    `placeholder:"MEMO" help:"Memo (destination tag) of the address, if it needs one."`
	FeeFrom string    `enum:"amount,operator-funds" default:"amount" help:"Where network fees of a native asset are taken from: amount or operator-funds. A token is always refunded in full."`
	Note    string    `help:"Reason, for the record. A hash of a payment that may have refunded it says that it did not."`
	actor
	final
}

// Help returns an example.
func (unattributedRefundCommand) Help() string {
	return "Ask the sender for the address: an exchange rarely receives at its sending address. The refund is paid " +
		"like a withdrawal; if the chain proves that it paid nobody, the deposit is unresolved again.\n\nExample:\n\n    " +
		"bursar unattributed refund 0193a6a0-0000-7000-8000-000000000000 --to rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe:7 --note " +
		"\"ticket 42\""
}

// Run requests a refund to the sender.
func (cmd *unattributedRefundCommand) Run(ctx context.Context, c *call) error {
	to := cmd.To
	if cmd.ToMemo != "" {
		if strings.Contains(to, ":") {
			return wrong("--to contains a memo already: leave out --to-memo")
		}
		to += ":" + cmd.ToMemo
	}
	return c.resolveUnattributed(ctx, cmd.ID, func(s *unattributed.Service) (bursar.Resolution, error) {
		return s.Refund(ctx, unattributed.RefundRequest{
			Deposit:           cmd.ID,
			To:                to,
			FromOperatorFunds: cmd.FeeFrom == "operator-funds",
			Note:              cmd.Note,
			By:                cmd.Name(),
		})
	})
}

type unattributedKeepCommand struct {
	ID   bursar.ID `arg:"" placeholder:"DEPOSIT" help:"ID of the deposit."`
	Note string    `help:"Reason, for the record."`
	final
}

// Help returns an example.
func (unattributedKeepCommand) Help() string {
	return "Use it for your own money at an address that customers share (XRP without a tag), and for what has no " +
		"owner. This cannot be undone.\n\nExample:\n\n    bursar unattributed keep 0193a6a0-0000-7000-8000-000000000000 " +
		"--note \"reserve of the XRPL account\""
}

// Run keeps an unattributed deposit as operator funds.
func (cmd *unattributedKeepCommand) Run(ctx context.Context, c *call) error {
	return c.resolveUnattributed(ctx, cmd.ID, func(s *unattributed.Service) (bursar.Resolution, error) {
		return s.Keep(ctx, cmd.ID, cmd.Note)
	})
}

type unattributedCancelCommand struct {
	ID   bursar.ID `arg:"" placeholder:"DEPOSIT" help:"ID of the deposit."`
	Note string    `help:"Reason, for the record."`
	acting
}

// Help returns an example.
func (unattributedCancelCommand) Help() string {
	return "The deposit is unresolved again. A refund that is signed cannot be cancelled.\n\nExample:\n\n    bursar " +
		"unattributed cancel 0193a6a0-0000-7000-8000-000000000000"
}

// Run cancels a refund.
func (cmd *unattributedCancelCommand) Run(ctx context.Context, c *call) error {
	return c.resolveUnattributed(ctx, cmd.ID, func(s *unattributed.Service) (bursar.Resolution, error) {
		return s.Cancel(ctx, cmd.ID, cmd.Note)
	})
}

// resolveUnattributed applies a resolution and prints it.
func (c *call) resolveUnattributed(
	ctx context.Context, id bursar.ID, decide func(*unattributed.Service) (bursar.Resolution, error),
) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	n, err := decide(s.Unattributed)
	if err != nil {
		return named(err, "there is no deposit %s: see `bursar unattributed list --all`", id)
	}
	currency, err := s.Registry.Get(n.Currency)
	if err != nil {
		return err
	}
	decision, _ := listResolution(currency, n).describe()
	return c.Done(actFacts{"depositID": id, "resolution": n.Kind}, "deposit %s: %s", id, decision)
}
