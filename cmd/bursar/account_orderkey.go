package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
	"github.com/bursar/bursar/treasury"
)

type accountOrderKeyCommands struct {
	Add    accountOrderKeyAddCommand    `cmd:"" help:"Add a key with which the account signs its withdrawals."`
	List   accountOrderKeyListCommand   `cmd:"" help:"List the keys with which an account signs its withdrawals."`
	Revoke accountOrderKeyRevokeCommand `cmd:"" help:"Revoke such a key immediately and permanently."`
}

type accountOrderKeyAddCommand struct {
	Account bursar.ID `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	File    string    `arg:"" placeholder:"FILE" help:"The public key, ed25519 or P-256, as a PEM file."`
	Label   string    `name:"name" required:"" help:"Name of the key: small letters, digits, - and _."`
	actor
	acting
}

// Help returns an example.
func (accountOrderKeyAddCommand) Help() string {
	return "From the account's first key on, each of its withdrawals must be an order that one of its keys signed, here " +
		"and at the signer; that does not end when its keys are revoked. Withdrawals that wait unsigned are refused by the " +
		"signer then: cancel them. A later key counts after withdrawals.destination_hold. Where the signer is this " +
		"configuration's own and no people signed a policy, it gets the key too; otherwise the command says what is left " +
		"to do there.\n\nExample:\n\n" +
		"    bursar account order-key add " + exampleAccount + " shop.pem --name shop"
}

// Run adds a key to the service, and then to the signer: in the other order a withdrawal could come in between that the
// signer never signs.
func (cmd *accountOrderKeyAddCommand) Run(ctx context.Context, c *call) error {
	key, err := command.ReadOrderKey(cmd.File)
	if err != nil {
		return err
	}
	if cmd.Account == treasury.Account {
		return wrong("withdrawals of the operator's funds are commands here: no client orders them")
	}
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	k, err := accounts.AddOrderKey(ctx, cmd.Account, cmd.Label, key.String(), cfg.Withdrawals.DestinationHold)
	if err != nil {
		return unknownAccount(err, cmd.Account)
	}
	if err := c.Say("The service takes the key %s (%s) for orders of account %s from %s on.", k.ID, k.Name, k.AccountID,
		moment(k.UsableFrom)); err != nil {
		return err
	}
	return c.atSigner(cfg, fmt.Sprintf("order-key add %s %s --name %s", cmd.Account, cmd.File, cmd.Label), func() error {
		return c.AddOrderKey(ctx, cfg, cmd.Account, cmd.Label, key, cmd.Name())
	})
}

// atSigner does something to the signer's state where that is this configuration's own, or says what is left to do.
func (c *call) atSigner(cfg config.Config, command string, do func() error) error {
	if cfg.Signer.Remote() {
		c.Note("The signer knows nothing of it: on its machine, `bursar signer %s`.", command)
		return nil
	}
	err := do()
	switch {
	case errors.Is(err, memory.ErrMissing):
		c.Note("The signer has no state yet: start it once, or `bursar signer init`, then `bursar signer %s`.", command)
		return nil
	case errors.Is(err, people.ErrPolicy):
		c.Note("The signer knows nothing of it, because a policy has people sign it: `bursar-approve order-key`, " +
			"`bursar-approve sign`, then `bursar signer apply`.")
		return nil
	case err != nil:
		return fmt.Errorf("the service knows it, and the signer does not: %w", err)
	}
	return nil
}

type accountOrderKeyListCommand struct {
	Account bursar.ID `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	JSON    bool      `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (accountOrderKeyListCommand) Help() string {
	return "Lists what the service knows; `bursar signer order-key list` lists what counts.\n\nExample:\n\n" +
		"    bursar account order-key list " + exampleAccount
}

type listedOrderKey struct {
	KeyID      string     `json:"keyID"`
	Name       string     `json:"name"`
	PublicKey  string     `json:"publicKey"`
	CreatedAt  time.Time  `json:"createdAt"`
	UsableFrom time.Time  `json:"usableFrom"`
	RevokedAt  *time.Time `json:"revokedAt"`
}

// Run lists the keys.
func (cmd *accountOrderKeyListCommand) Run(ctx context.Context, c *call) error {
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	terms, err := accounts.OrderTerms(ctx, cmd.Account)
	if err != nil {
		return err
	}
	var all []listedOrderKey
	for _, k := range terms.Keys {
		all = append(all, listedOrderKey{k.ID, k.Name, k.Public, k.CreatedAt, k.UsableFrom, optional(k.RevokedAt)})
	}
	return list(c, cmd.JSON, all, "KEY NAME CREATED FROM REVOKED", func(k listedOrderKey) []any {
		revoked := ""
		if k.RevokedAt != nil {
			revoked = moment(*k.RevokedAt)
		}
		return []any{k.KeyID, k.Name, k.CreatedAt, k.UsableFrom, revoked}
	})
}

type accountOrderKeyRevokeCommand struct {
	Account bursar.ID `arg:"" type:"account" placeholder:"ACCOUNT" help:"ID or name of the account."`
	Key     string    `arg:"" placeholder:"KEY" help:"ID of the key."`
	actor
	confirmed
}

// Help returns an example.
func (accountOrderKeyRevokeCommand) Help() string {
	return "Nothing that the key signed is taken or signed any more, also what was ordered before. Without another key " +
		"the account cannot withdraw.\n\nExample:\n\n" +
		"    bursar account order-key revoke " + exampleAccount +
		" 7d1c0a54e0b16d3c4b7a9f20c5d8e6f1"
}

// Run revokes a key, at the signer even if the service has revoked it before or never knew it.
func (cmd *accountOrderKeyRevokeCommand) Run(ctx context.Context, c *call) error {
	db, accounts, err := c.accounts(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	err = accounts.RevokeOrderKey(ctx, cmd.Account, cmd.Key)
	if err == nil {
		err = c.Say("The service does not take the key %s any more.", cmd.Key)
	}
	err = named(err, "account %s has no key %s that is not revoked: see `bursar account order-key list`", cmd.Account,
		cmd.Key)
	atSigner := c.atSigner(cfg, fmt.Sprintf("order-key revoke %s %s", cmd.Account, cmd.Key), func() error {
		return c.RevokeOrderKey(ctx, cfg, cmd.Account, cmd.Key, cmd.Name())
	})
	if err == nil {
		err = atSigner
	}
	return err
}
