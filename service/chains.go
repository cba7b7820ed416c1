package service

import (
	"context"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/host"
)

// connector creates the parts of configured chains. It asks no node, except for a private chain's chain ID.
type connector struct {
	network  config.Network
	keys     Keys
	registry *bursar.Registry
	pace     time.Duration
	log      *slog.Logger
}

// all creates the adapters of every configured chain, in the registry's order.
func (c connector) all(ctx context.Context, cfg config.Config) (parts []ChainPart, err error) {
	for _, id := range host.ChainOrder(cfg) {
		part, err := c.connect(ctx, cfg.Chains[id])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// connect creates the adapter of one chain.
func (c connector) connect(ctx context.Context, cfg config.ChainConfig) (part ChainPart, err error) {
	connects := host.Connector{Network: c.network, Keys: c.keys, Registry: c.registry, Pace: c.pace, Log: c.log}
	part = ChainPart{
		Start:            cfg.StartHeight,
		MaxFee:           cfg.MaxFee,
		MaxRate:          cfg.MaxFeeRate,
		Fees:             signer.Limits(cfg.Fees),
		Transfers:        signer.Limits(cfg.Sweeps),
		Withdrawals:      signer.Limits(cfg.Payments),
		MaxFeePercent:    cfg.MaxFeePercent,
		ToCold:           signer.Limits(cfg.ToCold),
		Cold:             cfg.Cold,
		GasFromCustomers: cfg.GasFromCustomers,
		Push:             cfg.PushURLs(),
		Pace:             connects.PaceOf(cfg),
	}
	part.Chain, err = connects.Connect(ctx, cfg)
	return part, err
}
