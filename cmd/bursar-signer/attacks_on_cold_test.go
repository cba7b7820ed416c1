package main

import (
	"encoding/hex"
	"math/big"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
)

// The cold wallets that the signer's configuration lists.
const coldAddress = "bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4"

var cold20 = unhex("5b38da6a701c568545dcfcb03fcb875f56beddc4")

// nativeToCold is a move of one MATIC to an address as if it were a cold wallet's.
func (c *lyingService) nativeToCold(to20 []byte, change func(*evmPayload)) asked {
	c.t.Helper()
	a := c.polygons(func(p *evmPayload) {
		p.To = to20
		change(p)
	})
	a.order.Kind = chain.KindToCold
	a.order.Payments = []chain.Payment{to(c.base(bursar.Polygon, "0x"+hex.EncodeToString(to20)), gwei*gwei)}
	return a
}

// movesToCold is a move of UTXOs to an address as if it were a cold wallet's.
func (c *lyingService) movesToCold(base string) asked {
	c.t.Helper()
	a := c.utxoTx(bursar.Bitcoin, []uint64{btc / 10, btc / 10}, 10_000, to(base, btc/20)).asked()
	a.order.Kind = chain.KindToCold
	return a
}

// honestCold are moves of which nothing is wrong.
var honestCold = map[string]func(c *lyingService) asked{
	"UTXOs to a cold wallet": func(c *lyingService) asked { return c.movesToCold(coldAddress) },
	"MATIC to a cold wallet": func(c *lyingService) asked { return c.nativeToCold(cold20, func(*evmPayload) {}) },
}

func attacksOnCold() []attack {
	return []attack{
		{"cold-wallet", "EVM: a cold wallet that the signer's configuration does not list", signer.ReasonColdWallet,
			func(c *lyingService) asked { return c.nativeToCold(mallorys20, func(*evmPayload) {}) }},
		{"cold-wallet", "Bitcoin: a cold wallet that the signer's configuration does not list", signer.ReasonColdWallet,
			func(c *lyingService) asked { return c.movesToCold(customersAddress) }},
		{"tx-pays-order", "a move to a cold wallet whose bytes pay somebody else", signer.ReasonUnpaid,
			func(c *lyingService) asked {
				return c.nativeToCold(cold20, func(p *evmPayload) { p.To = mallorys20 })
			}},
		{"tx-pays-order", "a move to a cold wallet that a deposit address pays", signer.ReasonRequest,
			func(c *lyingService) asked {
				a := c.nativeToCold(cold20, func(p *evmPayload) { p.Value = big.NewInt(gwei * gwei) })
				a.order.From = c.deposit(bursar.Polygon)
				return a
			}},
	}
}
