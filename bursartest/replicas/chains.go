package replicas

import (
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// Kind names a kind of chain that a harness can have.
type Kind string

// The kinds, each with its differences.
const (
	UTXOs  Kind = "coins"  // UTXO model, pays several receivers at once
	Nonce  Kind = "nonce"  // account model with nonces, has two tokens
	Expiry Kind = "expiry" // no nonces, transactions expire, has a token: like Tron
	Memo   Kind = "memo"   // wallets share an address and differ by a tag: like the XRP Ledger
)

// Kinds returns all kinds.
func Kinds() []Kind { return []Kind{UTXOs, Nonce, Expiry, Memo} }

// Unit is one whole unit of any currency here.
const Unit = 100_000_000

// maxFee is the highest fee of a transaction here.
const maxFee = 1 << 30

func (k Kind) config(seed uint64, now func() time.Time) sim.Config {
	c := sim.Config{Seed: seed, Now: now, Confirmations: 3, ReorgDepth: 200, Spending: chain.AccountModel, MaxPending: 6,
		Endpoints: []chain.Endpoint{{Name: "a", Host: "a"}, {Name: "b", Host: "b"}, {Name: "c", Host: "c"}}}
	switch k {
	case UTXOs:
		c.ID, c.Family, c.Spending, c.MaxPayments = bursar.Bitcoin, chain.FamilyBitcoin, chain.UTXOModel, 4
	case Nonce:
		c.ID, c.Family = bursar.Ethereum, chain.FamilyEVM
	case Expiry:
		c.ID, c.Family, c.Expiry, c.Unnumbered = bursar.Tron, chain.FamilyTron, 8, true
	case Memo:
		c.ID, c.Family, c.SharedAddress, c.Confirmations, c.Expiry, c.BumpAfter = bursar.XRPL, chain.FamilyXRPL, true, 1,
			8, 1<<40
	}
	return c
}

// currencies are those of a chain: its native asset first.
func (k Kind) currencies(c *sim.Chain) []bursar.Currency {
	id := c.Capabilities().ID
	plain := func(code bursar.CurrencyCode, contract string) bursar.Currency {
		return bursar.Currency{Code: code, Chain: id, Contract: contract, Decimals: 8, Places: 8, Minimum: bursar.Units(1000),
			WithdrawalMinimum: bursar.Units(500), DepositFee: bursar.Fee{Millionths: 10_000},
			WithdrawalFee: bursar.Fee{Fixed: bursar.Units(10_000)}, ApprovalAbove: bursar.Units(20 * Unit)}
	}
	native := plain(map[Kind]bursar.CurrencyCode{UTXOs: "BTC", Nonce: "ETH", Expiry: "TRX", Memo: "XRP"}[k], "")
	native.WithdrawalFee = bursar.Fee{Network: true}
	list := []bursar.Currency{native}
	switch k {
	case Nonce:
		list = append(list, plain("USDT-ETH", c.Named("usdt")), plain("USDC-ETH", c.Named("usdc")))
		list[2].CreditQuorum = bursar.CreditQuorum{Endpoints: 2}
	case Expiry:
		list = append(list, plain("USDT-TRX", c.Named("usdt")))
	case Memo:
		list[0].Memo = "tag"
	}
	return list
}
