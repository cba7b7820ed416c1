package bitcoin

import (
	"context"
	"errors"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// names are what Bitcoin and Litecoin call the networks.
var names = map[chain.Network]string{chain.Mainnet: "main", chain.Testnet: "testnet4", chain.Regtest: "regtest"}

// DefineBitcoin returns Bitcoin.
func DefineBitcoin() chain.Definition {
	return chain.Definition{
		ID:            bursar.Bitcoin,
		Family:        chain.FamilyBitcoin,
		Decimals:      8,
		Confirmations: 3,
		MaxFee:        "0.05",
		MaxFeeRate:    "500",
		Settings:      []string{"max_fee_rate"},
		ZMQ:           true,
		New:           func(_ context.Context, s chain.Setup) (chain.Chain, error) { return connect(s, Bitcoin) },
	}
}

// DefineLitecoin returns Litecoin. 13 blocks of it were reorganised in April 2026.
func DefineLitecoin() chain.Definition {
	return chain.Definition{
		ID:            bursar.Litecoin,
		Family:        chain.FamilyLitecoin,
		Decimals:      8,
		Confirmations: 24,
		MaxFee:        "0.5",
		MaxFeeRate:    "500",
		Settings:      []string{"max_fee_rate"},
		ZMQ:           true,
		New:           func(_ context.Context, s chain.Setup) (chain.Chain, error) { return connect(s, Litecoin) },
	}
}

// connect connects to a chain of Bitcoin's kind; on a private one any genesis is taken.
func connect(s chain.Setup, of func(name string) (Network, error)) (chain.Chain, error) {
	network, err := of(names[s.Network])
	if err != nil {
		return nil, err
	}
	if s.Network == chain.Regtest {
		network.Genesis = ""
	}
	rate, fits := s.MaxFeeRate.Uint64()
	if !fits {
		return nil, errors.New("the highest fee rate is beyond reason")
	}
	return New(Config{
		ID:            s.ID,
		Network:       network,
		Confirmations: s.Confirmations,
		MaxFeeRate:    rate,
		Pace:          s.Pace,
		Node:          s.Node,
	})
}
