package command

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/approval"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/orderkey"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/people"
)

type signerOrderKeyCommands struct {
	Add    signerOrderKeyAddCommand    `cmd:"" help:"Add a key with which a client signs the orders of an account."`
	List   signerOrderKeyListCommand   `cmd:"" help:"List the keys of clients, oldest first."`
	Revoke signerOrderKeyRevokeCommand `cmd:"" help:"Revoke a client's key immediately and permanently."`
}

type signerOrderKeyAddCommand struct {
	Account bursar.ID `arg:"" placeholder:"ACCOUNT" help:"ID of the account."`
	File    string    `arg:"" placeholder:"FILE" help:"The public key, ed25519 or P-256, as a PEM file."`
	Label   string    `name:"name" required:"" help:"Name of the key: small letters, digits, - and _."`
	Actor
	Acting
}

// Help returns an example.
func (signerOrderKeyAddCommand) Help() string {
	return "From an account's first key on, the signer signs no withdrawal of the account that none of its keys has " +
		"signed, whatever the service says; that does not end when its keys are revoked. A later key counts after " +
		"withdrawals.destination_hold. Where people signed a policy, its authors sign keys too: `bursar-approve " +
		"order-key`, `bursar-approve sign`, then `bursar signer apply`. Add it to the service first: `bursar account " +
		"order-key add`.\n\nExample:\n\n" +
		"    bursar signer order-key add 0193a6a0-0000-7000-8000-000000000000 shop.pem --name shop"
}

// Run adds a key.
func (cmd *signerOrderKeyAddCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	key, err := ReadOrderKey(cmd.File)
	if err != nil {
		return err
	}
	return c.AddOrderKey(ctx, cfg, cmd.Account, cmd.Label, key, cmd.Name())
}

// ReadOrderKey reads a client's public key from a PEM file. An error names the file.
func ReadOrderKey(file string) (orderkey.Key, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return orderkey.Key{}, fmt.Errorf("read the key: %w", err)
	}
	key, err := orderkey.ParsePEM(string(text))
	if err != nil {
		return orderkey.Key{}, fmt.Errorf("%s: %w", file, err)
	}
	return key, nil
}

// AddOrderKey adds a client's key to the state of the signer on this machine.
func (c *Call) AddOrderKey(
	ctx context.Context, cfg config.Config, account bursar.ID, name string, key orderkey.Key, who string,
) error {
	if !approval.IsName(name) {
		return Wrong("--name is %.60q, want small letters, digits, - and _", name)
	}
	k := approval.OrderKey{Account: account, ID: key.ID(), Key: key.String(), Name: name}
	from, err := c.orderKey(ctx, cfg, k, who)
	if err != nil {
		return err
	}
	return c.Say("The signer takes the key %s (%s) for orders of account %s from %s on.", k.ID, name, account,
		Moment(from))
}

// RevokeOrderKey revokes a client's key in the state of the signer on this machine.
func (c *Call) RevokeOrderKey(ctx context.Context, cfg config.Config, account bursar.ID, id, who string) error {
	_, err := c.orderKey(ctx, cfg, approval.OrderKey{Account: account, ID: id, Revoke: true}, who)
	if err != nil {
		return err
	}
	return c.Say("The signer does not take the key %s any more.", id)
}

func (c *Call) orderKey(
	ctx context.Context, cfg config.Config, k approval.OrderKey, who string,
) (from time.Time, err error) {
	err = c.signerState(ctx, func(file *memory.File) error {
		if err := c.noteOrderKeys(ctx, cfg, file); err != nil {
			return err // a key that is lost is added again, without a hold
		}
		from, err = people.KeyOnMachine(ctx, file, k, cfg.Withdrawals.DestinationHold, who, now())
		return errors.Join(err, c.noteOrderKeys(ctx, cfg, file))
	})
	if errors.Is(err, people.ErrPolicy) {
		err = fmt.Errorf("%w: `bursar-approve order-key`, `bursar-approve sign`, then `bursar signer apply`", err)
	}
	return from, err
}

// noteOrderKeys notes beside the seed which keys the signer has, and learns from there which it had.
func (c *Call) noteOrderKeys(ctx context.Context, cfg config.Config, file *memory.File) error {
	return host.AgreeOrderKeys(ctx, cfg, file, slog.New(slog.NewTextHandler(c.Stderr, nil)))
}

type signerOrderKeyRevokeCommand struct {
	Account bursar.ID `arg:"" placeholder:"ACCOUNT" help:"ID of the account."`
	Key     string    `arg:"" placeholder:"KEY" help:"ID of the key."`
	Actor
	Confirmed
}

// Help returns an example.
func (signerOrderKeyRevokeCommand) Help() string {
	return "Nothing that the key signed is signed by the signer any more, also what was ordered before. Without another " +
		"key nothing is paid for the account. Where people signed a policy, one of them signs the text of `bursar-approve " +
		"order-key --revoke`.\n\nExample:\n\n" +
		"    bursar signer order-key revoke 0193a6a0-0000-7000-8000-000000000000 7d1c0a54e0b16d3c4b7a9f20c5d8e6f1"
}

// Run revokes a key.
func (cmd *signerOrderKeyRevokeCommand) Run(ctx context.Context, c *Call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	return c.RevokeOrderKey(ctx, cfg, cmd.Account, cmd.Key, cmd.Name())
}

type signerOrderKeyListCommand struct {
	JSON bool `name:"json" help:"Print a JSON array."`
}

// Help returns an example.
func (signerOrderKeyListCommand) Help() string {
	return "Lists what the signer knows, which is all that counts.\n\nExample:\n\n    bursar signer order-key list"
}

// SignersOrderKey is a client's key as it is shown.
type SignersOrderKey struct {
	Account   bursar.ID  `json:"accountID"`
	ID        string     `json:"keyID"`
	Name      string     `json:"name"`
	Public    string     `json:"publicKey"`
	From      time.Time  `json:"usableFrom"`
	RevokedAt *time.Time `json:"revokedAt"`
}

// Run lists the keys.
func (cmd *signerOrderKeyListCommand) Run(ctx context.Context, c *Call) error {
	var all []SignersOrderKey
	err := c.signerState(ctx, func(file *memory.File) error {
		return file.Do(ctx, func(tx memory.Tx) error {
			list, err := tx.OrderKeys(ctx, bursar.ID{})
			for _, k := range list {
				shown := SignersOrderKey{Account: k.Account, ID: k.ID, Name: k.Name, Public: k.Public, From: k.From}
				if !k.Revoked.IsZero() {
					shown.RevokedAt = &k.Revoked
				}
				all = append(all, shown)
			}
			return err
		})
	})
	if err != nil {
		return err
	}
	return List(c, cmd.JSON, all, "ACCOUNT KEY NAME FROM REVOKED", func(k SignersOrderKey) []any {
		revoked := ""
		if k.RevokedAt != nil {
			revoked = Moment(*k.RevokedAt)
		}
		return []any{k.Account, k.ID, k.Name, k.From, revoked}
	})
}

func (c *Call) applyOrderKey(ctx context.Context, file *memory.File, text string, signatures []string) error {
	act, err := people.OrderKey(ctx, file, text, signatures, now())
	if err != nil {
		return err
	}
	k, err := approval.ParseOrderKey(text)
	if err != nil {
		return err
	}
	if k.Revoke {
		return c.Say("The signer does not take the key %s any more, as %s signed.", k.ID, strings.Join(act.By, ", "))
	}
	return c.Say("The signer takes the key %s (%s), signed by %s, for orders of account %s from %s on.", k.ID, k.Name,
		strings.Join(act.By, ", "), k.Account, Moment(act.From))
}
