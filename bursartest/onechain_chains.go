package bursartest

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// The chains: UTXO model, account model, and account model with transactions that expire.
var (
	UTXOModel = sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 3,
		MaxPayments: 5}
	Numbered = sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3}
	Expiring = sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 3,
		Expiry: 6, BumpAfter: 1 << 40}
)

// OnBoth runs a test on a chain that uses the UTXO model and on one that uses the account model, each on both
// databases.
func OnBoth(t *testing.T, test func(t *testing.T, r *OneChain)) {
	t.Run("utxos", func(t *testing.T) { On(t, UTXOModel, test) })
	t.Run("nonce", func(t *testing.T) { On(t, Numbered, test) })
}

// On runs a test on a chain of one kind, on both databases.
func On(t *testing.T, config sim.Config, test func(t *testing.T, r *OneChain)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) { test(t, NewOneChain(t, db, config)) })
}

// Models lists the three kinds of chains: UTXO model, account model, and account model with transactions that expire.
var Models = map[string]sim.Config{
	"UTXO":     {ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 2},
	"nonce":    {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 2},
	"expiring": {ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 2, Expiry: 5},
}

// OnModels runs a test on each of Models, each on both databases. -short leaves out the account model without expiry.
func OnModels(t *testing.T, test func(t *testing.T, r *OneChain)) {
	t.Parallel()
	for name, config := range Models {
		t.Run(name, func(t *testing.T) {
			if name == "nonce" && testing.Short() {
				t.Skip("-short leaves out chains that differ from the expiring one only in waiting longer")
			}
			storetest.Each(t, func(t *testing.T, db *store.DB) { test(t, NewOneChain(t, db, config)) })
		})
	}
}

// Unnumbered is a chain without nonces: a transaction may be included beside an equal payment that the database has
// forgotten.
var Unnumbered = sim.Config{ID: bursar.Ethereum, Family: "evm", Spending: chain.AccountModel, Confirmations: 2,
	Expiry: 6, Unnumbered: true}

// UnspentFee is more than the part of a sweep's allowed fee that it does not use.
var UnspentFee = bursar.Units(1_000_000)

// OnClock runs a test on both databases, with a clock that the test sets.
func OnClock(t *testing.T, config sim.Config, test func(t *testing.T, r *OneChain, c *Clock)) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		c := NewClock()
		r := newOneChain(t, db.As(c.Now, store.Hooks{}), storetest.URL(db), config)
		r.opened = db
		test(t, r, c)
	})
}

// OnUnswept runs a test on a chain of the UTXO model and on one where wallets share the hot wallet's address: value
// there can be refunded without a sweep, which a reorg would leave hanging.
func OnUnswept(t *testing.T, test func(t *testing.T, r *OneChain)) {
	for name, config := range map[string]sim.Config{
		"utxos":  {ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 3, MaxPayments: 5},
		"shared": {ID: bursar.XRPL, Family: "xrpl", Spending: chain.AccountModel, Confirmations: 3, SharedAddress: true},
	} {
		t.Run(name, func(t *testing.T) {
			storetest.Each(t, func(t *testing.T, db *store.DB) { test(t, NewOneChain(t, db, config)) })
		})
	}
}
