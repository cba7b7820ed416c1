package xrpl

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// mostFee is the most that a payment may cost in drops, whatever is configured.
const mostFee = 50_000

// Define returns the XRP Ledger.
func Define() chain.Definition {
	return chain.Definition{
		ID:        bursar.XRPL,
		Name:      "XRP Ledger",
		BlockTime: 4 * time.Second,
		Link:      links(),
		Family:    chain.FamilyXRPL,
		ColdKinds: []bursar.ColdKind{bursar.ColdSignerList},
		Decimals:  6,
		MaxFee:    "2",
		Settings:  []string{"network_id"},
		Tested:    tested(),
		Forks:     forks(),
		Program:   program,
		New: func(_ context.Context, s chain.Setup) (chain.Chain, error) {
			network := map[chain.Network]Network{chain.Mainnet: Mainnet, chain.Testnet: Testnet,
				chain.Regtest: Private}[s.Network]
			c := Config{ID: s.ID, Network: network, Pace: s.Pace, MaxFee: bursar.Units(mostFee).Min(s.MaxFee)}
			if id := s.NetworkID; id != nil && s.Network != chain.Mainnet {
				c.Network, c.NetworkID = Private, *id
			}
			return New(c, s.Node)
		},
	}
}

// links are the form of XLS-2, which few wallets read: a code holds the address, and the tag is copied by itself. Xaman
// opens by a web address with the same parts (docs.xaman.dev, "Payment Request Link").
func links() chain.WalletLinks {
	return chain.WalletLinks{Native: bursar.WalletLink{
		Form: "xrpl://{address}?amount={amount}&dt={tag}",
		App: bursar.WalletApp{Key: "xaman", Name: "Xaman",
			Form: "https://xaman.app/detect/request:{address}?amount={amount}&network=XRPL&dt={tag}"},
	}}
}
