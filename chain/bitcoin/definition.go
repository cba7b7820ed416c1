package bitcoin

import (
	"context"
	"errors"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// names maps the project's networks to Bitcoin's and Litecoin's names for them.
var names = map[chain.Network]string{chain.Mainnet: "main", chain.Testnet: "testnet4", chain.Regtest: "regtest"}

// rateBound is the highest fee rate that may be configured, in satoshi for a vbyte.
const rateBound = 10_000

// The confirmations that make a block final. Those of Litecoin take an hour: a reorg of April 2026 was 13 blocks deep.
const (
	bitcoinConfirmations  = 3
	litecoinConfirmations = 24
)

// DefineBitcoin returns Bitcoin.
func DefineBitcoin() chain.Definition {
	return chain.Definition{
		ID:            bursar.Bitcoin,
		Name:          "Bitcoin",
		BlockTime:     10 * time.Minute,
		Link:          linkOf("bitcoin"),
		Family:        chain.FamilyBitcoin,
		ColdKinds:     []bursar.ColdKind{bursar.ColdDescriptor},
		Decimals:      8,
		Confirmations: bitcoinConfirmations,
		MaxFee:        "0.05",
		MaxFeeRate:    "500",
		RateBound:     rateBound,
		Settings:      []string{"max_fee_rate"},
		ZMQ:           true,
		Tested:        testedBitcoin(),
		New:           func(_ context.Context, s chain.Setup) (chain.Chain, error) { return connect(s, Bitcoin) },
	}
}

// DefineLitecoin returns Litecoin.
func DefineLitecoin() chain.Definition {
	return chain.Definition{
		ID:            bursar.Litecoin,
		Name:          "Litecoin",
		BlockTime:     150 * time.Second,
		Link:          linkOf("litecoin"),
		Family:        chain.FamilyLitecoin,
		ColdKinds:     []bursar.ColdKind{bursar.ColdDescriptor},
		Decimals:      8,
		Confirmations: litecoinConfirmations,
		MaxFee:        "0.5",
		MaxFeeRate:    "500",
		RateBound:     rateBound,
		Settings:      []string{"max_fee_rate"},
		ZMQ:           true,
		Tested:        testedLitecoin(),
		Forks:         forksOfLitecoin(),
		New:           func(_ context.Context, s chain.Setup) (chain.Chain, error) { return connect(s, Litecoin) },
	}
}

// linkOf returns the form of payment URIs: what BIP 21 and its draft successor BIP 321 have in common.
func linkOf(scheme string) chain.WalletLinks {
	return chain.WalletLinks{
		Native: bursar.WalletLink{Form: scheme + ":{address}?amount={amount}&label={label}", Usual: true},
	}
}

// connect connects to Bitcoin or a chain like it; on a private network any genesis block is accepted.
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
		return nil, errors.New("the highest fee rate is too large: it does not fit in 64 bits")
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
