package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/ceremony"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/refill"
	"github.com/bursar/bursar/service"
	"github.com/bursar/bursar/signer/command"
	"github.com/bursar/bursar/signer/host"
	"github.com/bursar/bursar/store"
)

type coldCommands struct {
	Refill    coldRefillCommand    `cmd:"" help:"Build the transaction of a refill, and write its bundle for the offline machine."`
	Show      coldShowCommand      `cmd:"" help:"Show what a bundle does, or show it as QR codes."`
	Read      command.OfflineRead  `cmd:"" help:"Join frames that a scanner of QR codes read from standard input."`
	Broadcast coldBroadcastCommand `cmd:"" help:"Evaluate a signed bundle again and broadcast its transaction."`
	List      coldListCommand      `cmd:"" help:"List refills, newest first."`
	Revoke    coldRevokeCommand    `cmd:"" help:"Build a refill that conflicts with an abandoned or stuck one, and write its bundle."`
	Abandon   coldAbandonCommand   `cmd:"" help:"Abandon an open refill, and print how it is revoked on its chain."`
}

// refills opens what refills of an asset need.
func (c *call) refills(ctx context.Context, cfg config.Config, id bursar.ChainID, contract string) (
	*refill.Service, chain.Chain, error,
) {
	keys, err := service.KeysOf(ctx, cfg, service.Options{Getenv: c.Getenv, WithoutSigner: true})
	if err != nil {
		return nil, nil, err
	}
	own, adapter, err := host.Ceremony(ctx, cfg, keys, id, contract)
	if err != nil {
		return nil, nil, err
	}
	builder, can := adapter.(refill.Chain)
	if !can {
		return nil, nil, fmt.Errorf("refills of %s cannot be built in this version", id)
	}
	db, err := store.Open(ctx, store.Config{URL: cfg.Database.Reveal(), AsIs: c.rehearses})
	if err != nil {
		return nil, nil, fmt.Errorf("the database cannot be used: %w", err)
	}
	c.witness(db)
	return &refill.Service{DB: db, IDs: bursar.NewIDs(db.Now, nil), Chain: builder, Own: own}, adapter, nil
}

type coldRefillCommand struct {
	Wallet   string              `required:"" placeholder:"NAME" help:"Cold wallet, by its name in the configuration."`
	Currency bursar.CurrencyCode `required:"" placeholder:"CODE" help:"Code of the currency."`
	Amount   string              `required:"" help:"Amount in whole units of the currency."`
	command.BundleOut
	actor
	acting
}

// Help returns an example.
func (coldRefillCommand) Help() string {
	return "The transaction pays the hot wallet and nobody else, and carries what proves it. It can be signed and " +
		"broadcast for seven days, or until its chain ends it. See docs/operations/refill.md.\n\nExample:\n\n" +
		"    bursar cold refill --wallet vault --currency BTC --amount 0.5 --out refill.txt"
}

// Run builds a refill.
func (cmd *coldRefillCommand) Run(ctx context.Context, c *call) error {
	if err := cmd.Free(); err != nil {
		return err
	}
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	currency, err := cfg.Registry.Get(cmd.Currency)
	if err != nil {
		return err
	}
	s, adapter, err := c.refills(ctx, cfg, currency.Chain, currency.Contract)
	if err != nil {
		return err
	}
	defer s.DB.Close()
	wallet, err := host.ColdWallet(cfg, adapter, currency.Chain, cmd.Wallet)
	if err != nil {
		return err
	}
	b, err := s.Begin(ctx, refill.Request{Wallet: wallet, Amount: cmd.Amount, Actor: cmd.Name()})
	return c.given(s, b, err, cmd.BundleOut)
}

// given shows a refill that began, and writes its bundle.
func (c *call) given(s *refill.Service, b ceremony.Bundle, err error, out command.BundleOut) error {
	if errors.Is(err, store.ErrRefillOpen) {
		return fmt.Errorf("%w: broadcast it, or abandon it; `bursar cold list` shows it", err)
	}
	if err != nil {
		return err
	}
	tx, err := s.Own.Evaluate(b, b.Created)
	if err != nil {
		return err
	}
	if err := c.Say("refill %s\n%s", b.ID, strings.TrimSuffix(s.Own.Describe(b, tx), "\n")); err != nil {
		return err
	}
	return out.Write(&c.Call, b.Text())
}

type coldRevokeCommand struct {
	ID     bursar.ID `arg:"" placeholder:"ID" help:"ID of the refill, which is abandoned, or sent and not final."`
	Amount string    `help:"Amount in whole units of the currency. Default: that of the other refill."`
	command.BundleOut
	actor
	confirmed
}

// Help returns an example.
func (coldRevokeCommand) Help() string {
	return "The new refill pays the hot wallet too, and uses up a nonce or an output that the other would. Sign and " +
		"broadcast it as any other; `bursar cold list` shows the other as revoked once the new one is final.\n\n" +
		"Example:\n\n    bursar cold revoke 0193a6a0-0000-7000-8000-000000000000 --out revoke.txt"
}

// Run builds a refill that revokes another.
func (cmd *coldRevokeCommand) Run(ctx context.Context, c *call) error {
	if err := cmd.Free(); err != nil {
		return err
	}
	db, cfg, err := c.database(ctx)
	if err != nil {
		return err
	}
	defer db.Close()
	r, err := refill.Get(ctx, db, cmd.ID)
	if err != nil {
		return named(err, "there is no refill %s", cmd.ID)
	}
	currency, err := cfg.Registry.Get(r.Currency)
	if err != nil {
		return err
	}
	s, adapter, err := c.refills(ctx, cfg, r.Chain, currency.Contract)
	if err != nil {
		return err
	}
	defer s.DB.Close()
	wallet, err := host.ColdWallet(cfg, adapter, r.Chain, r.Wallet)
	if err != nil {
		return err
	}
	b, err := s.Revoke(ctx, cmd.ID, refill.Request{Wallet: wallet, Amount: cmd.Amount, Actor: cmd.Name()})
	return c.given(s, b, err, cmd.BundleOut)
}

type coldShowCommand struct {
	File string `arg:"" placeholder:"FILE" help:"The bundle."`
	command.ShowCodes
}

// Help returns an example.
func (coldShowCommand) Help() string {
	return "Example:\n\n    bursar cold show refill.txt\n    bursar cold show refill.txt --qr"
}

// Run shows a bundle.
func (cmd *coldShowCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	b, err := command.ReadBundle(cmd.File)
	if err != nil {
		return err
	}
	if cmd.Asked() {
		return cmd.Show(ctx, &c.Call, b.Text())
	}
	keys, err := service.KeysOf(ctx, cfg, service.Options{Getenv: c.Getenv, WithoutSigner: true})
	if err != nil {
		return err
	}
	own, _, err := host.Ceremony(ctx, cfg, keys, b.Wallet.Chain, b.Payment.Contract)
	if err != nil {
		return err
	}
	tx, err := own.Evaluate(b, time.Now())
	if err != nil {
		return err
	}
	return c.Say("%s", strings.TrimSuffix(own.Describe(b, tx), "\n"))
}

type coldBroadcastCommand struct {
	File string `arg:"" placeholder:"FILE" help:"The signed bundle."`
	confirmed
}

// Help returns an example.
func (coldBroadcastCommand) Help() string {
	return "It may be repeated: what was sent is sent again. A bundle that is not the one given out, with signatures, " +
		"is refused.\n\nExample:\n\n" +
		"    bursar cold broadcast signed.txt"
}

// Run broadcasts a refill.
func (cmd *coldBroadcastCommand) Run(ctx context.Context, c *call) error {
	cfg, err := c.Load()
	if err != nil {
		return err
	}
	b, err := command.ReadBundle(cmd.File)
	if err != nil {
		return err
	}
	s, _, err := c.refills(ctx, cfg, b.Wallet.Chain, b.Payment.Contract)
	if err != nil {
		return err
	}
	defer s.DB.Close()
	signed, err := s.Broadcast(ctx, b)
	if err != nil {
		return err
	}
	return c.Done(actFacts{"refillID": b.ID, "hashID": signed.TxID},
		"refill %s is sent as transaction %s", b.ID, signed.TxID)
}
