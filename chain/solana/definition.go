package solana

import (
	"context"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// Define returns Solana.
func Define() chain.Definition {
	return chain.Definition{
		ID:       bursar.Solana,
		Family:   chain.FamilySolana,
		Decimals: 9,
		MaxFee:   "0.05",
		Settings: []string{"gas_from_customers", "format"},
		New: func(_ context.Context, s chain.Setup) (chain.Chain, error) {
			c := map[chain.Network]Config{chain.Mainnet: Mainnet(), chain.Testnet: Testnet(),
				chain.Regtest: Private()}[s.Network]
			c.ID, c.Pace, c.Format = s.ID, s.Pace, s.Format
			return New(c, s.Node)
		},
	}
}
