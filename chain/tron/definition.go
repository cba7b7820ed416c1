package tron

import (
	"context"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// Define returns Tron.
func Define() chain.Definition {
	return chain.Definition{
		ID:        bursar.Tron,
		Name:      "Tron",
		Standard:  "TRC-20",
		BlockTime: 3 * time.Second,
		Link:      links(),
		Family:    chain.FamilyTron,
		ColdKinds: []bursar.ColdKind{bursar.ColdPermission},
		Decimals:  6,
		MaxFee:    "150",
		Settings:  []string{"solidity_rpc", "gas_from_customers"},
		ZMQ:       true,
		Tested:    tested(),
		Contract:  canonical,
		New:       func(_ context.Context, s chain.Setup) (chain.Chain, error) { return connect(s) },
	}
}

func tested() []chain.Tested {
	return []chain.Tested{{
		Software: "java-tron",
		From:     chain.V(4, 7),
		To:       chain.V(4, 8, 2, 2),
		How:      "checked by its source and recorded responses; the tests do not run it",
	}}
}

// canonical reads the contract of a configuration. Tools for Ethereum put 0x before the hexadecimal form. In an address
// to pay to that prefix is refused, since the TVM's own 0x addresses lack the 41; in a configured contract it is
// unambiguous.
func canonical(contract string) (string, error) {
	rules, err := NewRules(Config{ID: bursar.Tron})
	if err != nil {
		return "", err
	}
	if strings.HasPrefix(contract, "0x41") && len(contract) == len("0x41")+40 {
		contract = contract[len("0x"):]
	}
	return rules.ParseContract(contract)
}

func connect(s chain.Setup) (chain.Chain, error) {
	c := Config{ID: s.ID, Pace: s.Pace}
	if s.Network == chain.Mainnet {
		c.Genesis = MainnetGenesis
	}
	for _, currency := range s.Tokens {
		c.Tokens = append(c.Tokens, Token{Contract: currency.Contract, Decimals: currency.Decimals})
	}
	rules, err := NewRules(c)
	if err != nil {
		return nil, err
	}
	if c.Hot, err = s.Hot(chain.FamilyTron, rules); err != nil {
		return nil, err
	}
	return New(c, withSolid(s.Node, s.Solid))
}

// withSolid adds the URL at which each node serves solidified blocks.
func withSolid(nodes rpc.Config, solid []string) rpc.Config {
	if len(solid) == 0 {
		for _, url := range nodes.URLs {
			solid = append(solid, SolidURL(url))
		}
	}
	nodes.Branches = map[string][]string{SolidBranch: solid}
	return nodes
}

// links are what some wallets read. No standard of Tron defines a payment URI, and TronLink's scanner takes nothing but
// an address. None of these wallets is known to read a token from a link, so there is none for tokens.
func links() chain.WalletLinks {
	return chain.WalletLinks{Native: bursar.WalletLink{Form: "tron:{address}?amount={amount}"}}
}
