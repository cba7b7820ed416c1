package main

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
)

type keyCommands struct {
	Create        keyCreateCommand        `cmd:"" help:"Add a key to an account."`
	List          keyListCommand          `cmd:"" help:"List keys, oldest first."`
	Revoke        keyRevokeCommand        `cmd:"" help:"Revoke a key immediately and permanently."`
	AllowIP       keyAllowIPCommand       `cmd:"" name:"allow-ip" help:"Set the networks that a key may be used from."`
	Scopes        keyScopesCommand        `cmd:"" help:"Set the scopes of a key."`
	Rotate        keyRotateCommand        `cmd:"" help:"Replace a key by a new one with the same rights."`
	RotateWebhook keyRotateWebhookCommand `cmd:"" help:"Give an account a new webhook secret."`
}

type keyCreateCommand struct {
	Account  bursar.ID      `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	Scopes   []bursar.Scope `default:"read,wallets,withdraw" help:"Scopes of the key, separated by commas: read, wallets, withdraw."`
	Life     time.Duration  `help:"Lifetime of the key, such as 720h. Default: unlimited."`
	AllowIP  []string       `name:"allow-ip" placeholder:"CIDR" help:"Network or address that the key may be used from; may be repeated. Default: anywhere."`
	NoSecret bool           `help:"Create a key without a secret."`
	JSON     bool           `name:"json" help:"Print one line of JSON."`
}

// Help returns an example.
func (keyCreateCommand) Help() string {
	return "Example:\n\n    bursar key create 0193a6a0-0000-7000-8000-000000000000 --scopes read --life 720h " +
		"--allow-ip 192.0.2.0/24"
}

type createdKey struct {
	AccountID bursar.ID `json:"accountID"`
	KeyID     bursar.ID `json:"keyID"`
	APIKey    string    `json:"apiKey"`
	APISecret string    `json:"apiSecret"` // empty if the key has none
}

// show prints a new key.
func (c *call) show(issued account.Issued, asJSON bool) error {
	if asJSON {
		return c.PrintJSON(createdKey(issued))
	}
	c.Note("The key and its secret are shown only once.")
	return c.pairs("accountID", issued.AccountID.String(), "keyID", issued.KeyID.String(), "apiKey", issued.APIKey,
		"apiSecret", issued.APISecret)
}

// Run adds a key.
func (cmd *keyCreateCommand) Run(ctx context.Context, c *call) error {
	if cmd.Life < 0 {
		return wrong("--life must be greater than zero; leave it out for a key that does not expire")
	}
	networks, err := networksOf("--allow-ip", cmd.AllowIP)
	if err != nil {
		return err
	}
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	grant := account.Grant{Account: cmd.Account, Scopes: cmd.Scopes, Networks: networks, WithSecret: !cmd.NoSecret}
	if cmd.Life > 0 {
		grant.Expires = db.Now().Add(cmd.Life)
	}
	issued, err := accounts.NewKey(ctx, grant)
	if err != nil {
		return unknownAccount(err, cmd.Account)
	}
	return c.show(issued, cmd.JSON)
}

type keyListCommand struct {
	Account bursar.ID `arg:"" optional:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account whose keys to list. Default: all."`
	Of      bursar.ID `name:"account" type:"account" placeholder:"ACCOUNT" help:"The same as the argument, as other lists have it."`
	JSON    bool      `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (keyListCommand) Help() string { return "Example:\n\n    bursar key list --json" }

type listedKey struct {
	KeyID     bursar.ID      `json:"keyID"`
	AccountID bursar.ID      `json:"accountID"`
	Hint      string         `json:"hint"` // the first characters of the key
	Scopes    []bursar.Scope `json:"scopes"`
	AllowIPs  []string       `json:"allowIPs"` // empty: usable from anywhere
	HasSecret bool           `json:"hasSecret"`
	Usable    bool           `json:"usable"`
	CreatedAt time.Time      `json:"createdAt"`
	ExpiresAt *time.Time     `json:"expiresAt"`
	RevokedAt *time.Time     `json:"revokedAt"`
}

// Run lists keys.
func (cmd *keyListCommand) Run(ctx context.Context, c *call) error {
	if !cmd.Of.IsZero() && !cmd.Account.IsZero() && cmd.Of != cmd.Account {
		return wrong("two accounts are named: list the keys of one at a time")
	}
	cmd.Account = cmp.Or(cmd.Account, cmd.Of)
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	keys, err := accounts.List(ctx, cmd.Account)
	if err != nil {
		return err
	}
	listed := make([]listedKey, len(keys))
	for i, k := range keys {
		listed[i] = listedKey{k.ID, k.AccountID, k.Hint, k.Scopes, networkTexts(k.Networks), k.SecretHash != nil,
			k.Usable(db.Now()), k.CreatedAt, optional(k.ExpiresAt), optional(k.RevokedAt)}
	}
	return list(c, cmd.JSON, listed, "KEY ACCOUNT BEGINS SCOPES FROM SECRET USABLE CREATED EXPIRES",
		func(k listedKey) []any {
			from, expires := everywhere, time.Time{}
			if len(k.AllowIPs) > 0 {
				from = strings.Join(k.AllowIPs, " ")
			}
			if k.ExpiresAt != nil {
				expires = *k.ExpiresAt
			}
			return []any{k.KeyID, k.AccountID, k.Hint, strings.Trim(fmt.Sprint(k.Scopes), "[]"), from, k.HasSecret, k.Usable,
				k.CreatedAt, expires}
		})
}

type keyRevokeCommand struct {
	Key bursar.ID `arg:"" placeholder:"KEY" help:"ID of the key."`
	final
}

// Help returns an example.
func (keyRevokeCommand) Help() string {
	return "Example:\n\n    bursar key revoke 0193a6a0-0000-7000-8000-000000000000"
}

// Run revokes a key.
func (cmd *keyRevokeCommand) Run(ctx context.Context, c *call) error {
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	if err := accounts.Revoke(ctx, cmd.Key); err != nil {
		return unknownKey(err, cmd.Key)
	}
	return c.Done(actFacts{"keyID": cmd.Key}, "key %s is revoked", cmd.Key)
}

type keyRotateCommand struct {
	Key     bursar.ID     `arg:"" placeholder:"KEY" help:"ID of the key."`
	Overlap time.Duration `default:"24h" help:"How long the old key stays valid; 0s ends it immediately."`
	final
}

// Help returns an example.
func (keyRotateCommand) Help() string {
	return "Example:\n\n    bursar key rotate 0193a6a0-0000-7000-8000-000000000000 --overlap 1h"
}

// Run replaces a key.
func (cmd *keyRotateCommand) Run(ctx context.Context, c *call) error {
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	issued, err := accounts.Rotate(ctx, cmd.Key, cmd.Overlap)
	if err != nil {
		return unknownKey(err, cmd.Key)
	}
	return c.show(issued, cmd.JSON)
}

type keyRotateWebhookCommand struct {
	Account bursar.ID     `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	Overlap time.Duration `default:"24h" help:"How long webhooks are signed with the old secret too; 0s ends that immediately."`
	final
}

// Help returns an example.
func (keyRotateWebhookCommand) Help() string {
	return "Example:\n\n    bursar key rotate-webhook 0193a6a0-0000-7000-8000-000000000000 --overlap 72h"
}

type rotatedWebhook struct {
	AccountID     bursar.ID `json:"accountID"`
	WebhookSecret string    `json:"webhookSecret"`
	OverlapEnds   time.Time `json:"overlapEnds"` // until then webhooks are signed with the old secret too
}

// Run rotates the account's webhook secret.
func (cmd *keyRotateWebhookCommand) Run(ctx context.Context, c *call) error {
	if cmd.Overlap < 0 {
		return wrong("--overlap must not be negative")
	}
	s, err := c.service(ctx)
	if err != nil {
		return err
	}
	defer s.Close()
	var a bursar.Account
	err = s.DB.Do(ctx, func(tx *store.Tx) error {
		a, err = tx.Accounts().RotateWebhookSecret(ctx, cmd.Account, tx.Now().Add(cmd.Overlap))
		return err
	})
	if err != nil {
		return unknownAccount(err, cmd.Account)
	}
	rotated := rotatedWebhook{a.ID, signer.WebhookSecretText(s.Keys.WebhookSecret(a.ID, a.WebhookGeneration)),
		a.WebhookOverlap}
	if cmd.JSON {
		return c.PrintJSON(rotated)
	}
	return c.pairs("accountID", a.ID.String(), "webhookSecret", rotated.WebhookSecret, "overlapEnds",
		moment(rotated.OverlapEnds))
}
