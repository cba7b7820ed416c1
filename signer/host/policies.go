package host

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

// Part is one chain with what may be signed on it.
type Part struct {
	Chain     chain.Chain
	MaxFee    bursar.Amount
	MaxRate   bursar.Amount
	Fees      signer.Limits
	Transfers signer.Limits

	Withdrawals   signer.Limits
	MaxFeePercent uint64

	ToCold signer.Limits
	Cold   []bursar.ColdWallet
}

// PartOf returns what may be signed on a configured chain.
func PartOf(adapter chain.Chain, cfg config.ChainConfig) Part {
	return Part{Chain: adapter, MaxFee: cfg.MaxFee, MaxRate: cfg.MaxFeeRate, Fees: signer.Limits(cfg.Fees),
		Transfers: signer.Limits(cfg.Sweeps), Withdrawals: signer.Limits(cfg.Payments), MaxFeePercent: cfg.MaxFeePercent,
		ToCold: signer.Limits(cfg.ToCold), Cold: cfg.Cold}
}

func basesOf(wallets []bursar.ColdWallet) (bases []string) {
	for _, w := range wallets {
		bases = append(bases, w.Addresses...)
	}
	return bases
}

// all creates the adapters of every configured chain.
func (c Connector) all(ctx context.Context, cfg config.Config) (parts []Part, err error) {
	for _, id := range ChainOrder(cfg) {
		adapter, err := c.Connect(ctx, cfg.Chains[id])
		if err == nil {
			err = checkParts(cfg, adapter, id)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, PartOf(adapter, cfg.Chains[id]))
	}
	return parts, nil
}

// Policies returns what may be signed on each chain.
func Policies(
	parts []Part, registry *bursar.Registry, network config.Network,
) map[bursar.ChainID]signer.Bounds {
	all := map[bursar.ChainID]signer.Bounds{}
	for _, part := range parts {
		capabilities, payments := part.Chain.Capabilities(), map[string]signer.Limits{}
		for _, currency := range registry.On(capabilities.ID) {
			if limits := signer.Limits(config.LimitsOf(currency)); !limits.IsZero() {
				payments[currency.Contract] = limits
			}
		}
		all[capabilities.ID] = signer.Bounds{
			Capabilities: capabilities,
			Signable:     part.Chain,
			MaxFee:       part.MaxFee,
			MaxRate:      part.MaxRate,
			Payments:     payments,
			Fees:         part.Fees,
			Transfers:    part.Transfers,
			Withdrawals:  part.Withdrawals,
			ToCold:       part.ToCold,
			Cold:         basesOf(part.Cold),

			MaxFeePercent: part.MaxFeePercent,

			LimitsRequired: network == config.Mainnet,
		}
	}
	return all
}
