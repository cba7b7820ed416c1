package main

import (
	"context"

	"github.com/bursar/bursar"
)

type depositCommands struct {
	List depositListCommand `cmd:"" help:"List deposits, newest first."`
	Show depositShowCommand `cmd:"" help:"Show a deposit and where its money is."`
}

type walletCommands struct {
	List walletListCommand `cmd:"" help:"List wallets, newest first."`
	Show walletShowCommand `cmd:"" help:"Show a wallet and its deposits."`
}

type depositListCommand struct {
	Account  bursar.ID           `type:"account" placeholder:"ACCOUNT" help:"Only those of this account: its ID or name."`
	Status   string              `placeholder:"STATUS" help:"Only those that are pending, confirmed, orphaned or reversed."`
	Currency bursar.CurrencyCode `placeholder:"CODE" help:"Only those of this currency."`
	rows
}

// Help returns an example.
func (depositListCommand) Help() string {
	return "Example:\n\n    bursar deposit list --account shop --status pending"
}

// Run lists deposits.
func (cmd *depositListCommand) Run(ctx context.Context, c *call) error {
	values := cmd.values(cmd.Account, "status", cmd.Status, "currency", string(cmd.Currency))
	return c.many(ctx, "/deposits", values, cmd.JSON)
}

type depositShowCommand struct {
	ID   bursar.ID `arg:"" placeholder:"DEPOSIT" help:"ID of the deposit."`
	JSON bool      `name:"json" help:"Print one JSON object."`
}

// Help returns an example.
func (depositShowCommand) Help() string {
	return "Use `bursar find` to search by the hash of its transaction.\n\nExample:\n\n    " +
		"bursar deposit show 0193a6a0-0000-7000-8000-000000000000"
}

// Run shows a deposit.
func (cmd *depositShowCommand) Run(ctx context.Context, c *call) error {
	return c.one(ctx, "/deposits/{id}", "deposit", cmd.ID, cmd.JSON)
}

type walletListCommand struct {
	Account  bursar.ID           `type:"account" placeholder:"ACCOUNT" help:"Only those of this account: its ID or name."`
	Currency bursar.CurrencyCode `placeholder:"CODE" help:"Only those of this currency."`
	Limit    int                 `default:"50" help:"Maximum number of rows, 1 to 500."`
	Before   int64               `placeholder:"CURSOR" help:"Continue a list, with the cursor that its end names."`
	JSON     bool                `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (walletListCommand) Help() string {
	return "Example:\n\n    bursar wallet list --account shop --currency BTC"
}

// Run lists wallets.
func (cmd *walletListCommand) Run(ctx context.Context, c *call) error {
	values := rows{Limit: cmd.Limit, Before: cmd.Before}.values(cmd.Account, "currency", string(cmd.Currency))
	return c.many(ctx, "/wallets", values, cmd.JSON)
}

type walletShowCommand struct {
	ID   bursar.ID `arg:"" placeholder:"WALLET" help:"ID of the wallet."`
	JSON bool      `name:"json" help:"Print one JSON object."`
}

// Help returns an example.
func (walletShowCommand) Help() string {
	return "Use `bursar find` to search by address.\n\nExample:\n\n    " +
		"bursar wallet show 0193a6a0-0000-7000-8000-000000000000"
}

// Run shows a wallet.
func (cmd *walletShowCommand) Run(ctx context.Context, c *call) error {
	return c.one(ctx, "/wallets/{id}", "wallet", cmd.ID, cmd.JSON)
}

type withdrawalShowCommand struct {
	ID   bursar.ID `arg:"" placeholder:"WITHDRAWAL" help:"ID of the withdrawal."`
	JSON bool      `name:"json" help:"Print one JSON object."`
}

// Help returns an example.
func (withdrawalShowCommand) Help() string {
	return "Use `bursar find` to search by the hash of its transaction.\n\nExample:\n\n    " +
		"bursar withdrawal show 0193a6a0-0000-7000-8000-000000000000"
}

// Run shows a withdrawal.
func (cmd *withdrawalShowCommand) Run(ctx context.Context, c *call) error {
	return c.one(ctx, "/withdrawals/{id}", "withdrawal", cmd.ID, cmd.JSON)
}

type accountShowCommand struct {
	ID   bursar.ID `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	JSON bool      `name:"json" help:"Print one JSON object."`
}

// Help returns an example.
func (accountShowCommand) Help() string { return "Example:\n\n    bursar account show shop" }

// Run shows an account.
func (cmd *accountShowCommand) Run(ctx context.Context, c *call) error {
	return c.one(ctx, "/accounts/{id}", "account", cmd.ID, cmd.JSON)
}
