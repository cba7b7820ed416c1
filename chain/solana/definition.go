package solana

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// rentExempt is the rent-exempt minimum of an account without data: (128 + 0) bytes × 3,480 lamports × 2 years. Source:
// Solana's rent sysvar, solana_program::rent, DEFAULT_LAMPORTS_PER_BYTE_YEAR.
const rentExempt = "0.00089088"

// Define returns Solana.
func Define() chain.Definition {
	return chain.Definition{
		ID:         bursar.Solana,
		Name:       "Solana",
		Standard:   "SPL",
		BlockTime:  400 * time.Millisecond,
		Link:       links(),
		Family:     chain.FamilySolana,
		ColdKinds:  []bursar.ColdKind{bursar.ColdNonce},
		Decimals:   9,
		MaxFee:     "0.05",
		MinDeposit: rentExempt,
		Settings:   []string{"gas_from_customers", "format"},
		Tested:     tested(),
		Forks:      forks(),
		Program:    program,
		New: func(_ context.Context, s chain.Setup) (chain.Chain, error) {
			c := map[chain.Network]Config{chain.Mainnet: Mainnet(), chain.Testnet: Testnet(),
				chain.Regtest: Private()}[s.Network]
			c.ID, c.Pace, c.Format = s.ID, s.Pace, s.Format
			return New(c, s.Node)
		},
	}
}

// links are the forms of Solana Pay 1.1: the recipient is the owner of the token account, never that account.
func links() chain.WalletLinks {
	return chain.WalletLinks{
		Native: bursar.WalletLink{Form: "solana:{address}?amount={amount}&label={label}", Usual: true},
		Token: bursar.WalletLink{
			Form:  "solana:{address}?amount={amount}&spl-token={contract}&label={label}",
			Usual: true,
		},
	}
}
