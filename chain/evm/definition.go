package evm

import (
	"cmp"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// DefineEthereum returns Ethereum.
func DefineEthereum() chain.Definition {
	d := define(Ethereum)
	d.Name, d.Tested, d.Forks = "Ethereum", testedEthereum(), forksOfEthereum()
	d.ChainIDs[chain.Testnet] = 11155111
	return d
}

// DefineBSC returns BNB Smart Chain.
func DefineBSC() chain.Definition {
	d := define(BSC)
	d.Name, d.Tested, d.Forks = "BNB Smart Chain", testedBSC(), forksOfBSC()
	d.ChainIDs[chain.Testnet] = 97
	d.MaxFee = "0.05"
	d.Standard, d.BlockTime = "BEP-20", time.Second
	return d
}

// DefinePolygon returns Polygon's proof-of-stake chain.
func DefinePolygon() chain.Definition {
	d := define(Polygon)
	d.Name, d.Tested, d.Forks = "Polygon", testedPolygon(), forksOfPolygon()
	d.ChainIDs[chain.Testnet] = 80002
	d.MaxFee = "5"
	d.BlockTime = 2 * time.Second
	return d
}

// DefineOther returns another EVM chain, under the name that an operator gave it.
func DefineOther(id bursar.ChainID) chain.Definition {
	d := define(func() Config { c := Ethereum(); c.ID = id; return c })
	d.Name, d.ChainIDs = string(id), nil
	return d
}

// define returns what EVM chains have in common, and what follows from the chain's usual configuration.
func define(usual func() Config) chain.Definition {
	c := usual()
	return chain.Definition{
		ID:           c.ID,
		Family:       chain.FamilyEVM,
		ColdKinds:    []bursar.ColdKind{bursar.ColdSafe},
		Decimals:     18,
		Standard:     "ERC-20",
		BlockTime:    12 * time.Second,
		Link:         links(),
		ChainIDs:     map[chain.Network]uint64{chain.Mainnet: c.ChainID},
		MaxFee:       "0.2",
		MaxFeeRate:   c.MaxFeePerGas.Decimal(rateDecimals, 0),
		MinTip:       c.MinTip.Decimal(rateDecimals, 0),
		RateDecimals: rateDecimals,
		Settings:     []string{"chain_id", "finality", "trace", "min_tip", "max_fee_rate", "gas_from_customers"},
		Contract:     func(text string) (string, error) { return canonical(c.ID, text) },
		New:          func(ctx context.Context, s chain.Setup) (chain.Chain, error) { return connect(ctx, s, usual()) },
	}
}

// links are the forms of EIP-681. Many wallets read nothing but an address from a code.
func links() chain.WalletLinks {
	return chain.WalletLinks{
		Native: bursar.WalletLink{Form: "ethereum:{address}{chain}?value={units}"},
		Token:  bursar.WalletLink{Form: "ethereum:{contract}{chain}/transfer?address={address}&uint256={units}"},
	}
}

// rateDecimals are those of a rate in gwei.
const rateDecimals = 9

// canonical uses the part of the adapter that needs no node, which is the same for every network.
func canonical(id bursar.ChainID, contract string) (string, error) {
	rules, err := NewRules(Config{ID: id, ChainID: 1})
	if err != nil {
		return "", err
	}
	return rules.ParseContract(contract)
}

func connect(ctx context.Context, s chain.Setup, c Config) (chain.Chain, error) {
	c.ID, c.ChainID, c.FinalityBlocks = s.ID, s.ChainID, s.FinalityBlocks
	c.Trace = Tracing(s.Trace)
	c.Pace = cmp.Or(s.Pace, c.Pace)
	if !s.MinTip.IsZero() {
		c.MinTip = s.MinTip
		if c.MaxTip.Less(s.MinTip) {
			c.MaxTip = s.MinTip
		}
	}
	if !s.MaxFeeRate.IsZero() {
		c.MaxFeePerGas = s.MaxFeeRate
		c.MaxTip, c.MinTip = c.MaxTip.Min(s.MaxFeeRate), c.MinTip.Min(s.MaxFeeRate)
	}
	c.Tokens = nil
	for _, currency := range s.Tokens {
		c.Tokens = append(c.Tokens, Token{Contract: currency.Contract, Decimals: currency.Decimals})
	}
	if c.ChainID == 0 {
		id, err := askChainID(ctx, s)
		if err != nil {
			return nil, err
		}
		c.ChainID = id
	}
	rules, err := NewRules(c)
	if err != nil {
		return nil, err
	}
	if c.Hot, err = s.Hot(chain.FamilyEVM, rules); err != nil {
		return nil, err
	}
	return New(c, s.Node)
}

// askChainID reads a private chain's id from its node.
func askChainID(ctx context.Context, s chain.Setup) (uint64, error) {
	client, err := rpc.New(rpc.Config{
		URLs:    s.Node.URLs,
		Headers: s.Node.Headers,
		Version: rpc.V2,
		Timeout: 5 * time.Second,
		Log:     s.Log,
	})
	if err != nil {
		return 0, err
	}
	defer client.Close()
	var text string
	if err := client.Call(ctx, "eth_chainId", nil, &text); err != nil {
		return 0, fmt.Errorf("the chain's chain_id is not configured and the node does not return it: %w", err)
	}
	id, err := strconv.ParseUint(text, 0, 64)
	if err != nil || id == 0 {
		return 0, fmt.Errorf("the chain's chain_id is not configured and the node returned %.20q", text)
	}
	return id, nil
}
