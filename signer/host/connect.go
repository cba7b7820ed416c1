package host

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
)

// Connector creates the adapters of configured chains. It asks no node, except for a private chain's chain ID.
type Connector struct {
	Network config.Network
	Keys    interface { // nil: nothing is signed or received, and there is no hot wallet
		Public(ref chain.KeyRef) (chain.PublicKey, error)
		Epoch() chain.Epoch
	}
	Registry *bursar.Registry
	Pace     time.Duration // how often a chain's head is polled; zero leaves it to the adapter
	Log      *slog.Logger
}

// Connect creates the adapter of one chain.
func (c Connector) Connect(ctx context.Context, cfg config.ChainConfig) (chain.Chain, error) {
	adapter, err := registry.Of(cfg.ID).New(ctx, c.setup(cfg))
	if err != nil {
		return nil, fmt.Errorf("chain %s: %w", cfg.ID, err)
	}
	return adapter, nil
}

// setup returns the parameters of a configured chain's adapter.
func (c Connector) setup(cfg config.ChainConfig) chain.Setup {
	return chain.Setup{
		ID:             cfg.ID,
		Network:        c.Network,
		Node:           c.nodes(cfg),
		Solid:          cfg.SolidURLs(),
		Pace:           c.PaceOf(cfg),
		Tokens:         c.tokens(cfg.ID),
		Hot:            c.hot,
		Log:            c.Log,
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
func (c Connector) nodes(cfg config.ChainConfig) rpc.Config {
	return rpc.Config{
		URLs: cfg.URLs(), Headers: cfg.HeadersInClear(), Provider: cfg.Nodes.Provider, MaxBody: cfg.Nodes.MaxBody,
		Quota:    rpc.Quota(cfg.Nodes.Quota),
		Fetchers: cfg.Nodes.Fetchers, Window: cfg.Nodes.Window, Log: c.Log,
	}
}

// PaceOf returns how often a chain's head is polled: its own setting, otherwise that of all chains; zero leaves it to
// the adapter.
func (c Connector) PaceOf(cfg config.ChainConfig) time.Duration {
	return cmp.Or(cfg.Nodes.Pace, c.Pace)
}

// hot derives the hot wallet's address with the part of an adapter that needs no node. A prober has no keys and no hot
// wallet.
func (c Connector) hot(family bursar.Family, rules chain.Addresses) (string, error) {
	if c.Keys == nil {
		return "", nil
	}
	// families whose wallets share the hot wallet's address do not ask for it here
	pub, err := c.Keys.Public(chain.Hot(family).In(c.Keys.Epoch()))
	if err != nil {
		return "", err
	}
	address, err := rules.Address(pub, 0)
	return address.Base, err
}

// tokens returns the currencies of a chain that are contracts.
func (c Connector) tokens(id bursar.ChainID) []bursar.Currency {
	var list []bursar.Currency
	for _, currency := range c.Registry.On(id) {
		if currency.IsToken() {
			list = append(list, currency)
		}
	}
	return list
}
