// Package registry lists all chains. Another chain of a known family is its definition, its node in the sandbox, and a
// line here; docs/adding-a-chain.md says what a new family needs besides.
//
// It owns the list and nothing else: what is known of a chain is in the definition that its adapter exports.
package registry

import (
	"slices"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/chain/xrpl"
)

// All returns every built-in chain, in the order of display.
func All() []chain.Definition {
	return []chain.Definition{
		bitcoin.DefineBitcoin(),
		bitcoin.DefineLitecoin(),
		evm.DefineEthereum(),
		evm.DefineBSC(),
		evm.DefinePolygon(),
		tron.Define(),
		solana.Define(),
		xrpl.Define(),
	}
}

// Of returns the chain with an ID. An ID that is not built in is an EVM chain that an operator has named.
func Of(id bursar.ChainID) chain.Definition {
	all := All()
	if i := slices.IndexFunc(all, func(d chain.Definition) bool { return d.ID == id }); i >= 0 {
		return all[i]
	}
	return evm.DefineOther(id)
}

// Families returns the families of all built-in chains, in the order of display.
func Families() (families []bursar.Family) {
	for _, d := range All() {
		if !slices.Contains(families, d.Family) {
			families = append(families, d.Family)
		}
	}
	return families
}

// IDs returns the IDs of all built-in chains.
func IDs() (ids []bursar.ChainID) {
	for _, d := range All() {
		ids = append(ids, d.ID)
	}
	return ids
}
