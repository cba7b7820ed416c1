package main

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/config"
)

// notifications are the flags that say what an account is told, and where.
type notifications struct {
	NotifyPending     *bool   `negatable:"" help:"Tell of deposits as soon as they are seen in a block (--notify-pending), or only once they are credited (--no-notify-pending)."`
	NotifyWithdrawals *bool   `negatable:"" help:"Tell of withdrawals whenever their status changes (--notify-withdrawals), or never (--no-notify-withdrawals)."`
	Webhook           *string `placeholder:"URL" help:"Where events of the account itself go, such as those of withdrawals. Empty: to the newest webhook that was set for all wallets."`
}

func (n notifications) settings(cfg config.Config) account.Settings {
	return account.Settings{NotifyPending: n.NotifyPending, NotifyWithdrawals: n.NotifyWithdrawals, Webhook: n.Webhook,
		AllowNetworks: cfg.Webhooks.AllowNetworks}
}

type accountSetCommand struct {
	ID bursar.ID `arg:"" placeholder:"ACCOUNT" help:"ID of the account."`
	notifications
	JSON bool `name:"json" help:"Print one line of JSON."`
}

// Help returns an example.
func (accountSetCommand) Help() string {
	return "What is not named stays as it is. It counts at once for everything that happens from now on, also while " +
		"the service runs.\n\n" +
		"Example:\n\n    bursar account set 0193a6a0-0000-7000-8000-000000000000 --notify-withdrawals --webhook " +
		"https://shop.example/hooks/bursar"
}

// Run changes an account's settings.
func (cmd *accountSetCommand) Run(ctx context.Context, c *call) error {
	if cmd.NotifyPending == nil && cmd.NotifyWithdrawals == nil && cmd.Webhook == nil {
		return wrong("say what to set: --notify-pending, --notify-withdrawals or --webhook; see `bursar account set --help`")
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	a, err := account.NewService(db, bursar.NewIDs(db.Now, nil)).Set(ctx, cmd.ID, cmd.settings(cfg))
	if err != nil {
		return unknownAccount(err, cmd.ID)
	}
	if cmd.JSON {
		return c.printJSON(listAccount(a))
	}
	return c.pairs("accountID", a.ID.String(), "notifyPending", yesNo(a.NotifyPending), "notifyWithdrawals",
		yesNo(a.NotifyWithdrawals), "webhook", cell(a.Webhook))
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}
