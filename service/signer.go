package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/marks"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
	"github.com/bursar/bursar/signer/remote"
)

// Keys is what the service knows of the seed: all of it, or the public keys that a remote signer exports.
type Keys interface {
	Public(ref chain.KeyRef) (chain.PublicKey, error)
	WebhookSecret(account bursar.ID, generation uint32) []byte
	BooksKey() []byte
	Fingerprint() string
}

// signsHere creates the signer of this process, unless the signer is remote.
func (p *Parts) signsHere() (err error) {
	if p.Signer != nil {
		return nil
	}
	seed, whole := p.Keys.(*signer.Keys)
	if !whole {
		return errors.New("these keys cannot sign")
	}
	if p.Memory == nil {
		p.Memory = memory.NewRAM()
	}
	allowed := p.Seams.policies(policies(p.Chains, p.Registry, p.Network))
	p.Signer, err = signer.Remembering(context.Background(), seed, allowed, p.Memory)
	return err
}

// policies returns what may be signed on each chain.
func policies(
	parts []ChainPart, registry *bursar.Registry, network config.Network,
) map[bursar.ChainID]signer.Policy {
	all := map[bursar.ChainID]signer.Policy{}
	for _, part := range parts {
		capabilities, payments := part.Chain.Capabilities(), map[string]signer.Limits{}
		for _, currency := range registry.On(capabilities.ID) {
			if limits := signer.Limits(config.LimitsOf(currency)); !limits.IsZero() {
				payments[currency.Contract] = limits
			}
		}
		all[capabilities.ID] = signer.Policy{
			Capabilities: capabilities,
			Signable:     part.Chain,
			MaxFee:       part.MaxFee,
			MaxRate:      part.MaxRate,
			Payments:     payments,
			Fees:         part.Fees,
			Transfers:    part.Transfers,

			LimitsRequired: network == config.Mainnet,
		}
	}
	return all
}

// Sign runs the signer of a configuration as a separate process until ctx ends. It opens the seed, listens for the
// service, and uses neither the database nor a node.
func Sign(ctx context.Context, cfg config.Config, opts Options) (err error) {
	opts = opts.withDefaults()
	keys, err := OpenKeys(cfg, opts.Getenv)
	if err != nil {
		return err
	}
	defer keys.Wipe()
	registry, err := usable(cfg)
	if err != nil {
		return err
	}
	parts, err := connector{network: cfg.Network, keys: keys, registry: registry, log: opts.Log}.all(ctx, cfg)
	if err != nil {
		return err
	}
	keeper, err := openMemory(ctx, cfg, keys.Fingerprint(), opts.Log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, keeper.Close()) }()
	warnOfLimits(cfg, opts.Log)
	signs, err := signer.Remembering(ctx, keys, policies(parts, registry, cfg.Network), keeper)
	if err != nil {
		return fmt.Errorf("prepare the signer: %w", err)
	}
	signs.AwaitHalts()
	exported, err := keys.Export()
	if err != nil {
		return fmt.Errorf("prepare the signer: %w", err)
	}
	listener, err := signerAddress(cfg).Listen(ctx)
	if err != nil {
		return err
	}
	opts.Log.Info("signer listening", "address", cfg.Signer.Address, "fingerprint", keys.Fingerprint(), "chains",
		len(parts))
	server := remote.Server{Signer: signs, KeyExport: exported, Marks: marks.NewFile(MarksFile(cfg)), Log: opts.Log}
	return server.Run(ctx, listener)
}

func signerAddress(cfg config.Config) remote.Address {
	return remote.Address{URL: cfg.Signer.Address, CA: cfg.Signer.CA, Cert: cfg.Signer.Cert, Key: cfg.Signer.Key}
}

func (o Options) withDefaults() Options {
	if o.Getenv == nil {
		o.Getenv = os.Getenv
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}
