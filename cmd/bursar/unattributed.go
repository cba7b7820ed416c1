package main

import (
	"context"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/unattributed"
)

type unattributedCommands struct {
	List   unattributedListCommand   `cmd:"" help:"List value that fits no wallet, newest first."`
	Assign unattributedAssignCommand `cmd:"" help:"Credit it to a customer."`
	Return unattributedRefundCommand `cmd:"" help:"Pay it back on its chain."`
	Keep   unattributedKeepCommand   `cmd:"" help:"Take it as your own capital."`
	Cancel unattributedCancelCommand `cmd:"" help:"Call back a return that is not signed yet."`
}

type unattributedAssignCommand struct {
	ID      bursar.ID `arg:"" placeholder:"DEPOSIT" help:"ID of the deposit."`
	Wallet  bursar.ID `xor:"who" placeholder:"WALLET" help:"Credit it as a deposit of this wallet or charge, which must be of its currency."`
	Account bursar.ID `xor:"who" placeholder:"ACCOUNT" help:"Credit it to this account without a wallet."`
	Note    string    `help:"Why, for the record."`
}

// Help returns an example.
func (unattributedAssignCommand) Help() string {
	return "The customer sees an ordinary confirmed deposit, with the address where the money really arrived, and the " +
		"webhook of the wallet is told. " +
		"The deposit fee is taken as configured; the minimum is not looked at. This cannot be undone.\n\nExample:\n\n" +
		"    bursar unattributed assign 0193a6a0-0000-7000-8000-000000000000 --wallet " +
		"0193a6a0-0000-7000-8000-000000000001 --note \"ticket 42: forgot the tag\""
}

// Run assigns value.
func (cmd *unattributedAssignCommand) Run(ctx context.Context, c *call) error {
	if cmd.Wallet.IsZero() && cmd.Account.IsZero() {
		return wrong("say who gets it: --wallet WALLET, or --account ACCOUNT")
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
	To      string    `required:"" placeholder:"ADDRESS" help:"Who is paid: an address, or ADDRESS:MEMO."`
	ToMemo  string    `placeholder:"MEMO" help:"The memo (destination tag) of the address, where it needs one."`
	FeeFrom string    `enum:"amount,capital" default:"amount" help:"Who bears the chain's fees of its own coin: amount or capital. A token is paid back whole in any case."`
	Note    string    `help:"Why, for the record."`
}

// Help returns an example.
func (unattributedRefundCommand) Help() string {
	return "Ask the sender where to: an exchange's sending address is seldom one that it receives at. It is paid like " +
		"a withdrawal; if the chain proves that it " +
		"paid nobody, it is undecided again.\n\nExample:\n\n" +
		"    bursar unattributed return 0193a6a0-0000-7000-8000-000000000000 --to rPT1Sjq2YGrBMTttX4GZHjKu9dyfzbpAYe:7 " +
		"--note \"ticket 42\""
}

// Run orders a return.
func (cmd *unattributedRefundCommand) Run(ctx context.Context, c *call) error {
	to := cmd.To
	if cmd.ToMemo != "" {
		if strings.Contains(to, ":") {
			return wrong("--to names a memo already: leave --to-memo out")
		}
		to += ":" + cmd.ToMemo
	}
	return c.resolveUnattributed(ctx, cmd.ID, func(s *unattributed.Service) (bursar.Resolution, error) {
		return s.Return(ctx, unattributed.Return{
			Deposit:     cmd.ID,
			To:          to,
			FromCapital: cmd.FeeFrom == "capital",
			Note:        cmd.Note,
		})
	})
}

type unattributedKeepCommand struct {
	ID   bursar.ID `arg:"" placeholder:"DEPOSIT" help:"ID of the deposit."`
	Note string    `help:"Why, for the record."`
}

// Help returns an example.
func (unattributedKeepCommand) Help() string {
	return "For your own money at an address that customers share (XRP without a tag), and for what nobody can claim. " +
		"This cannot be undone.\n\n" +
		"Example:\n\n    bursar unattributed keep 0193a6a0-0000-7000-8000-000000000000 --note \"reserve of the XRPL account\""
}

// Run keeps value.
func (cmd *unattributedKeepCommand) Run(ctx context.Context, c *call) error {
	return c.resolveUnattributed(ctx, cmd.ID, func(s *unattributed.Service) (bursar.Resolution, error) {
		return s.Keep(ctx, cmd.ID, cmd.Note)
	})
}

type unattributedCancelCommand struct {
	ID   bursar.ID `arg:"" placeholder:"DEPOSIT" help:"ID of the deposit."`
	Note string    `help:"Why, for the record."`
}

// Help returns an example.
func (unattributedCancelCommand) Help() string {
	return "The value is undecided again. What is signed cannot be called back.\n\nExample:\n\n    bursar unattributed " +
		"cancel 0193a6a0-0000-7000-8000-000000000000"
}

// Run calls a return back.
func (cmd *unattributedCancelCommand) Run(ctx context.Context, c *call) error {
	return c.resolveUnattributed(ctx, cmd.ID, func(s *unattributed.Service) (bursar.Resolution, error) {
		return s.Cancel(ctx, cmd.ID, cmd.Note)
	})
}

// resolveUnattributed carries out a decision and says what it was.
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
	decision, _ := listResolution(currency, n).words()
	return c.say("deposit %s: %s", id, decision)
}
