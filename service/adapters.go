package service

import (
	"cmp"
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
	"github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/chain/xrpl"
	"github.com/bursar/bursar/config"
	"github.com/bursar/bursar/signer"
)

// bitcoinNames are what Bitcoin and Litecoin call the networks.
var bitcoinNames = map[config.Network]string{config.Mainnet: "main", config.Testnet: "testnet4", config.Regtest: "regtest"}

func (c connector) bitcoin(cfg config.ChainConfig) (chain.Chain, error) {
	network, err := bitcoin.Bitcoin(bitcoinNames[c.network])
	if err != nil {
		return nil, err
	}
	return c.likeBitcoin(cfg, network)
}

func (c connector) litecoin(cfg config.ChainConfig) (chain.Chain, error) {
	network, err := bitcoin.Litecoin(bitcoinNames[c.network])
	if err != nil {
		return nil, err
	}
	return c.likeBitcoin(cfg, network)
}

// likeBitcoin connects to a chain of Bitcoin's kind; on a private one any genesis is taken.
func (c connector) likeBitcoin(cfg config.ChainConfig, network bitcoin.Network) (chain.Chain, error) {
	if c.network == config.Regtest {
		network.Genesis = ""
	}
	rate, fits := cfg.MaxFeeRate.Uint64()
	if !fits {
		return nil, errors.New("the highest fee rate is beyond reason")
	}
	return bitcoin.New(bitcoin.Config{ID: cfg.ID, Network: network, Confirmations: cfg.Confirmations, MaxFeeRate: rate, Pace: c.paceOf(cfg), Node: c.nodes(cfg)})
}

func (c connector) evm(ctx context.Context, cfg config.ChainConfig) (chain.Chain, error) {
	settings := evmDefaults(cfg.ID)
	settings.ID, settings.ChainID, settings.FinalityBlocks = cfg.ID, cfg.ChainID, cfg.FinalityBlocks
	settings.Trace = evm.Tracing(cfg.Trace)
	settings.Pace = cmp.Or(c.paceOf(cfg), settings.Pace)
	if !cfg.MinTip.IsZero() {
		settings.MinTip = cfg.MinTip
		if settings.MaxTip.Less(cfg.MinTip) {
			settings.MaxTip = cfg.MinTip
		}
	}
	if !cfg.MaxFeeRate.IsZero() {
		settings.MaxFeePerGas = cfg.MaxFeeRate
		settings.MaxTip, settings.MinTip = atMost(settings.MaxTip, cfg.MaxFeeRate), atMost(settings.MinTip, cfg.MaxFeeRate)
	}
	settings.Tokens = nil
	for _, currency := range c.tokens(cfg.ID) {
		settings.Tokens = append(settings.Tokens, evm.Token{Contract: currency.Contract, Decimals: currency.Decimals})
	}
	if settings.ChainID == 0 {
		id, err := askChainID(ctx, cfg, c.log)
		if err != nil {
			return nil, err
		}
		settings.ChainID = id
	}
	rules, err := evm.NewRules(settings)
	if err != nil {
		return nil, err
	}
	if settings.Hot, err = c.hot(signer.FamilyEVM, rules); err != nil {
		return nil, err
	}
	return evm.New(settings, c.nodes(cfg))
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

// askChainID takes a private chain's id from its node.
func askChainID(ctx context.Context, cfg config.ChainConfig, log *slog.Logger) (uint64, error) {
	client, err := rpc.New(rpc.Config{URLs: cfg.URLs(), Headers: cfg.HeadersInClear(), Version: rpc.V2, Timeout: 5 * time.Second, Log: log})
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

func (c connector) tron(cfg config.ChainConfig) (chain.Chain, error) {
	settings := tron.Config{ID: cfg.ID, Pace: c.paceOf(cfg)}
	if c.network == config.Mainnet {
		settings.Genesis = tron.MainnetGenesis
	}
	for _, currency := range c.tokens(cfg.ID) {
		settings.Tokens = append(settings.Tokens, tron.Token{Contract: currency.Contract, Decimals: currency.Decimals})
	}
	rules, err := tron.NewRules(settings)
	if err != nil {
		return nil, err
	}
	if settings.Hot, err = c.hot(signer.FamilyTron, rules); err != nil {
		return nil, err
	}
	return tron.New(settings, c.tronNodes(cfg))
}

// tronNodes adds where each node serves what is solidified.
func (c connector) tronNodes(cfg config.ChainConfig) rpc.Config {
	nodes, solid := c.nodes(cfg), cfg.SolidURLs()
	if len(solid) == 0 {
		for _, url := range nodes.URLs {
			solid = append(solid, tron.SolidURL(url))
		}
	}
	nodes.Branches = map[string][]string{tron.SolidBranch: solid}
	return nodes
}

func (c connector) solana(cfg config.ChainConfig) (chain.Chain, error) {
	settings := map[config.Network]solana.Config{config.Mainnet: solana.Mainnet(), config.Testnet: solana.Testnet(), config.Regtest: solana.Private()}[c.network]
	settings.ID, settings.Pace, settings.Format = cfg.ID, c.paceOf(cfg), cfg.Format
	return solana.New(settings, c.nodes(cfg))
}

func (c connector) xrpl(cfg config.ChainConfig) (chain.Chain, error) {
	network := map[config.Network]xrpl.Network{config.Mainnet: xrpl.Mainnet, config.Testnet: xrpl.Testnet, config.Regtest: xrpl.Private}[c.network]
	settings := xrpl.Config{ID: cfg.ID, Network: network, Pace: c.paceOf(cfg), MaxFee: atMost(bursar.Units(50_000), cfg.MaxFee)}
	if id := cfg.NetworkID; id != nil && c.network != config.Mainnet {
		settings.Network, settings.NetworkID = xrpl.Private, *id
	}
	return xrpl.New(settings, c.nodes(cfg))
}
