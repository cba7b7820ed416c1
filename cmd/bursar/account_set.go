package main

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/netpolicy"
)

// notifications are the flags that set which events an account receives, and where.
type notifications struct {
	NotifyPending     *bool   `negatable:"" help:"Send events of deposits once in a block (--notify-pending), or only once credited (--no-notify-pending)."`
	NotifyWithdrawals *bool   `negatable:"" help:"Send an event whenever a withdrawal's status changes (--notify-withdrawals), or never (--no-notify-withdrawals)."`
	Webhook           *string `placeholder:"URL" help:"URL for the account's own events, such as those of withdrawals. Empty: the newest webhook set for all wallets."`
}

func (n notifications) settings(cfg config.Config) account.Settings {
	return account.Settings{NotifyPending: n.NotifyPending, NotifyWithdrawals: n.NotifyWithdrawals, Webhook: n.Webhook,
		Receivers: receivers(cfg)}
}

// receivers is where new webhooks may be.
func receivers(cfg config.Config) netpolicy.Receivers {
	return netpolicy.Receivers{Networks: cfg.Webhooks.AllowNetworks, HTTPSOnly: !cfg.Webhooks.AllowHTTP}
}

type accountSetCommand struct {
	ID bursar.ID `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	notifications
	JSON bool `name:"json" help:"Print one line of JSON."`
}

// Help returns an example.
func (accountSetCommand) Help() string {
	return "Settings that are not named stay unchanged. Changes apply immediately to later events, even while " +
		"the service runs.\n\n" +
		"Example:\n\n    bursar account set 0193a6a0-0000-7000-8000-000000000000 --notify-withdrawals --webhook " +
		"https://shop.example/hooks/bursar"
}

// Run changes an account's settings.
func (cmd *accountSetCommand) Run(ctx context.Context, c *call) error {
	if cmd.NotifyPending == nil && cmd.NotifyWithdrawals == nil && cmd.Webhook == nil {
		return wrong("nothing to set is named: use --notify-pending, --notify-withdrawals or --webhook; see `bursar " +
			"account set --help`")
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
		return c.PrintJSON(listAccount(a))
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
