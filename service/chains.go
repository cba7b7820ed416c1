package service

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/registry"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

// connector creates the adapters of configured chains. It asks no node, except for a private chain's chain ID.
type connector struct {
	network  config.Network
	keys     Keys
	registry *bursar.Registry
	pace     time.Duration
	log      *slog.Logger
}

// all creates the adapters of every configured chain, in the registry's order.
func (c connector) all(ctx context.Context, cfg config.Config) (parts []ChainPart, err error) {
	for _, id := range chainOrder(cfg) {
		part, err := c.connect(ctx, cfg.Chains[id])
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return parts, nil
}

// connect creates the adapter of one chain.
func (c connector) connect(ctx context.Context, cfg config.ChainConfig) (ChainPart, error) {
	part := ChainPart{
		Start:            cfg.StartHeight,
		MaxFee:           cfg.MaxFee,
		MaxRate:          cfg.MaxFeeRate,
		Fees:             signer.Limits(cfg.Fees),
		Transfers:        signer.Limits(cfg.Sweeps),
		GasFromCustomers: cfg.GasFromCustomers,
		Push:             cfg.PushURLs(),
		Pace:             c.paceOf(cfg),
	}
	var err error
	if part.Chain, err = registry.Of(cfg.ID).New(ctx, c.setup(cfg)); err != nil {
		return part, fmt.Errorf("chain %s: %w", cfg.ID, err)
	}
	return part, nil
}

// setup returns the parameters of a configured chain's adapter.
func (c connector) setup(cfg config.ChainConfig) chain.Setup {
	return chain.Setup{
		ID:             cfg.ID,
		Network:        c.network,
		Node:           c.nodes(cfg),
		Solid:          cfg.SolidURLs(),
		Pace:           c.paceOf(cfg),
		Tokens:         c.tokens(cfg.ID),
		Hot:            c.hot,
		Log:            c.log,
		MaxFee:         cfg.MaxFee,
		MaxFeeRate:     cfg.MaxFeeRate,
		Confirmations:  cfg.Confirmations,
		ChainID:        cfg.ChainID,
		FinalityBlocks: cfg.FinalityBlocks,
		Trace:          cfg.Trace,
		MinTip:         cfg.MinTip,
		Format:         cfg.Format,
		NetworkID:      cfg.NetworkID,
	}
}

// nodes returns the configuration of the RPC client for a chain's nodes.
func (c connector) nodes(cfg config.ChainConfig) rpc.Config {
	return rpc.Config{
		URLs: cfg.URLs(), Headers: cfg.HeadersInClear(), Provider: cfg.Nodes.Provider, MaxBody: cfg.Nodes.MaxBody,
		Quota:    rpc.Quota(cfg.Nodes.Quota),
		Fetchers: cfg.Nodes.Fetchers, Window: cfg.Nodes.Window, Log: c.log,
	}
}

// paceOf returns how often a chain's head is polled: its own setting, otherwise that of all chains; zero leaves it to
// the adapter.
func (c connector) paceOf(cfg config.ChainConfig) time.Duration {
	return cmp.Or(cfg.Nodes.Pace, c.pace)
}

// hot derives the hot wallet's address with the part of an adapter that needs no node. A prober has no keys and no hot
// wallet.
func (c connector) hot(family bursar.Family, rules chain.Addresses) (string, error) {
	if c.keys == nil {
		return "", nil
	}
	pub, err := c.keys.Public(chain.Hot(family))
	if err != nil {
		return "", err
	}
	address, err := rules.Address(pub, 0)
	return address.Base, err
}

// tokens returns the currencies of a chain that are contracts.
func (c connector) tokens(id bursar.ChainID) []bursar.Currency {
	var list []bursar.Currency
	for _, currency := range c.registry.On(id) {
		if currency.IsToken() {
			list = append(list, currency)
		}
	}
	return list
}
