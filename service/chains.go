package service

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

// ErrNoAdapter is returned for a chain that the configuration knows and this version cannot run yet.
var ErrNoAdapter = errors.New("this version has no adapter for the chain")

// connector makes adapters of configured chains. It asks no node, but for a private chain's id.
type connector struct {
	network  config.Network
	keys     *signer.Keys
	registry *bursar.Registry
	pace     time.Duration
	log      *slog.Logger
}

func (c connector) connect(ctx context.Context, cfg config.ChainConfig) (ChainPart, error) {
	part := ChainPart{Start: cfg.StartHeight, MaxFee: cfg.MaxFee, MaxRate: cfg.MaxFeeRate}
	var err error
	switch cfg.Family {
	case signer.FamilyBitcoin:
		part.Chain, err = c.bitcoin(cfg)
	case signer.FamilyEVM:
		part.Chain, err = c.evm(ctx, cfg)
	default:
		err = ErrNoAdapter
	}
	if err != nil {
		return part, fmt.Errorf("chain %s: %w", cfg.ID, err)
	}
	return part, nil
}

// bitcoin connects to one of Bitcoin's networks; on a private one any genesis is taken.
func (c connector) bitcoin(cfg config.ChainConfig) (chain.Chain, error) {
	name := map[config.Network]string{config.Mainnet: "main", config.Testnet: "testnet4", config.Regtest: "regtest"}[c.network]
	network, err := bitcoin.Bitcoin(name)
	if err != nil {
		return nil, err
	}
	if c.network == config.Regtest {
		network.Genesis = ""
	}
	rate, fits := cfg.MaxFeeRate.Uint64()
	if !fits {
		return nil, errors.New("the highest fee rate is beyond reason")
	}
	return bitcoin.New(bitcoin.Config{ID: cfg.ID, Network: network, Confirmations: cfg.Confirmations, MaxFeeRate: rate,
		Pace: c.pace, Node: rpc.Config{URLs: cfg.URLs(), Log: c.log}})
}

func (c connector) evm(ctx context.Context, cfg config.ChainConfig) (chain.Chain, error) {
	settings := evmDefaults(cfg.ID)
	settings.ID, settings.ChainID, settings.FinalityBlocks = cfg.ID, cfg.ChainID, cfg.FinalityBlocks
	if c.pace > 0 {
		settings.Pace = c.pace
	}
	if !cfg.MaxFeeRate.IsZero() {
		settings.MaxFeePerGas = cfg.MaxFeeRate
		settings.MaxTip, settings.MinTip = atMost(settings.MaxTip, cfg.MaxFeeRate), atMost(settings.MinTip, cfg.MaxFeeRate)
	}
	settings.Tokens = nil
	for _, currency := range c.registry.On(cfg.ID) {
		if currency.IsToken() {
			settings.Tokens = append(settings.Tokens, evm.Token{Contract: currency.Contract, Decimals: currency.Decimals})
		}
	}
	if settings.ChainID == 0 {
		id, err := askChainID(ctx, cfg, c.log)
		if err != nil {
			return nil, err
		}
		settings.ChainID = id
	}
	hot, err := c.hot(settings)
	if err != nil {
		return nil, err
	}
	settings.Hot = hot
	return evm.New(settings, rpc.Config{URLs: cfg.URLs(), Log: c.log})
}

func atMost(a, bound bursar.Amount) bursar.Amount {
	if bound.Less(a) {
		return bound
	}
	return a
}

func evmDefaults(id bursar.ChainID) evm.Config {
	switch id {
	case bursar.BSC:
		return evm.BSC()
	case bursar.Polygon:
		return evm.Polygon()
	}
	return evm.Ethereum()
}

// hot derives our own address from the pure part of the adapter.
func (c connector) hot(settings evm.Config) (string, error) {
	rules, err := evm.NewRules(withAnyID(settings))
	if err != nil {
		return "", err
	}
	pub, err := c.keys.Public(chain.Hot(signer.FamilyEVM))
	if err != nil {
		return "", err
	}
	address, err := rules.Address(pub, 0)
	return address.Base, err
}

func withAnyID(settings evm.Config) evm.Config {
	settings.ChainID = max(settings.ChainID, 1)
	return settings
}

// askChainID takes a private chain's id from its node.
func askChainID(ctx context.Context, cfg config.ChainConfig, log *slog.Logger) (uint64, error) {
	client, err := rpc.New(rpc.Config{URLs: cfg.URLs(), Version: rpc.V2, Timeout: 5 * time.Second, Log: log})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	var text string
	if err := client.Call(ctx, "eth_chainId", nil, &text); err != nil {
		return 0, fmt.Errorf("its chain_id is not configured and the node does not tell it: %w", err)
	}
	id, err := strconv.ParseUint(text, 0, 64)
	if err != nil || id == 0 {
		return 0, fmt.Errorf("its chain_id is not configured and the node answers %.20q", text)
	}
	return id, nil
}
