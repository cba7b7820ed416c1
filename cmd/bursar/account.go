package main

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
)

type accountCommands struct {
	Create   accountCreateCommand   `cmd:"" help:"Create an account with its first key."`
	Set      accountSetCommand      `cmd:"" help:"Set which events an account receives, and where."`
	List     accountListCommand     `cmd:"" help:"List accounts, oldest first."`
	Show     accountShowCommand     `cmd:"" help:"Show an account with its balances."`
	Freeze   accountFreezeCommand   `cmd:"" help:"Refuse an account's withdrawals and stop those that are not signed yet."`
	Unfreeze accountUnfreezeCommand `cmd:"" help:"Allow the withdrawals of a frozen account again."`
	Fees     accountFeesCommand     `cmd:"" help:"Show and change an account's fees."`

	OrderKey accountOrderKeyCommands `cmd:"" name:"order-key" help:"Show and change the keys with which an account signs its withdrawals."`
}

type accountCreateCommand struct {
	Name     string `required:"" help:"Name of the account, for lists."`
	NoSecret bool   `help:"Create a key without a secret: anyone who has the key may then withdraw."`
	notifications
	JSON bool `name:"json" help:"Print one line of JSON."`
}

// Help returns an example.
func (accountCreateCommand) Help() string {
	return "Prints the key, its secret and the secret that signs the account's webhooks. They are shown only " +
		"once.\n\nExample:\n\n    bursar account create --name shop --json"
}

type createdAccount struct {
	AccountID     bursar.ID `json:"accountID"`
	APIKey        string    `json:"apiKey"`
	APISecret     string    `json:"apiSecret"` // empty if the key has none
	WebhookSecret string    `json:"webhookSecret"`
}

// Run creates an account.
func (cmd *accountCreateCommand) Run(ctx context.Context, c *call) error {
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	issued, err := s.Accounts.CreateWith(ctx, cmd.Name, !cmd.NoSecret, cmd.settings(cfg))
	if err != nil {
		return err
	}
	const firstGeneration = 1
	created := createdAccount{issued.AccountID, issued.APIKey, issued.APISecret,
		signer.WebhookSecretText(s.Keys.WebhookSecret(issued.AccountID, firstGeneration))}
	if cmd.JSON {
		return c.PrintJSON(created)
	}
	c.Note("The key and the secrets are shown only once.")
	return c.pairs("accountID", created.AccountID.String(), "apiKey", created.APIKey, "apiSecret", created.APISecret,
		"webhookSecret", created.WebhookSecret)
}

type accountListCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (accountListCommand) Help() string { return "Example:\n\n    bursar account list --json" }

type listedAccount struct {
	AccountID         bursar.ID `json:"accountID"`
	Name              string    `json:"name"`
	CreatedAt         time.Time `json:"createdAt"`
	Frozen            *string   `json:"frozen"` // why withdrawals are refused
	NotifyPending     bool      `json:"notifyPending"`
	NotifyWithdrawals bool      `json:"notifyWithdrawals"`
	Webhook           *string   `json:"webhook"` // the account's own
}

func listAccount(a bursar.Account) listedAccount {
	return listedAccount{a.ID, a.Name, a.CreatedAt, optional(a.Frozen), a.NotifyPending, a.NotifyWithdrawals,
		optional(a.Webhook)}
}

// Run lists all accounts.
func (cmd *accountListCommand) Run(ctx context.Context, c *call) error {
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	all, err := accounts.Accounts(ctx)
	if err != nil {
		return err
	}
	listed := make([]listedAccount, len(all))
	for i, a := range all {
		listed[i] = listAccount(a)
	}
	return list(c, cmd.JSON, listed, "ACCOUNT NAME CREATED FROZEN", func(a listedAccount) []any {
		frozen := ""
		if a.Frozen != nil {
			frozen = *a.Frozen
		}
		return []any{a.AccountID, a.Name, a.CreatedAt, frozen}
	})
}

// unknownAccount turns bursar.ErrNotFound into an error message about an unknown account ID.
func unknownAccount(err error, id bursar.ID) error {
	return named(err, "there is no account %s: see `bursar account list`", id)
}

// unknownKey turns bursar.ErrNotFound into an error message about an unknown key ID.
func unknownKey(err error, id bursar.ID) error {
	return named(err, "there is no key %s: see `bursar key list`", id)
}
