package sim_test

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/sim"
)

// configs are the kinds of chain that the simulator can be, by the name of the run.
var configs = map[string]sim.Config{
	"UTXOs":                  {Spending: chain.UTXOModel, Confirmations: 3},
	"UTXOs expiring":         {Spending: chain.UTXOModel, Confirmations: 3, Expiry: 60},
	"account":                {Spending: chain.AccountModel, Confirmations: 12},
	"account expiring":       {Spending: chain.AccountModel, Expiry: 60},
	"account without nonces": {Spending: chain.AccountModel, Expiry: 60, Unnumbered: true},
	"account with memos":     {Spending: chain.AccountModel, Confirmations: 2, SharedAddress: true},
	"account with batches": {
		Spending: chain.AccountModel, Confirmations: 2, MaxPayments: 5, Family: "evm", ID: "ethereum",
	},
}

func TestConformance(t *testing.T) {
	t.Parallel()
	for name, config := range configs {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chaintest.Run(t, suiteHarness(t, config), func(t *testing.T) chaintest.Harness { return suiteHarness(t, config) })
		})
	}
}

func TestConformanceIsDocumented(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(configs)) {
		chaintest.Document(t, "a chain in memory", "chain/sim.TestConformance/"+name, suiteHarness(t, configs[name]))
	}
}

// suiteHarness makes a chain, which is checked at the end of the test.
func suiteHarness(t *testing.T, config sim.Config) chaintest.Harness {
	config.Endpoints = []chain.Endpoint{{Name: "a", Host: "a"}, {Name: "b", Host: "b"}, {Name: "c", Host: "b"}}
	c := sim.New(config)
	t.Cleanup(func() {
		if err := c.Check(); err != nil {
			t.Error(err)
		}
	})
	plain := node{c, new(int)}
	if config.Spending == chain.UTXOModel {
		return chaintest.Harness{Chain: c, Node: plain, Unit: bursar.Units(1_000_000)}
	}
	return chaintest.Harness{
		Chain: c, Node: accounts{plain}, Unit: bursar.Units(10_000_000_000), Unnumbered: config.Unnumbered,
	}
}

// node lets the suite move a chain in memory.
type node struct {
	*sim.Chain
	outsiders *int
}

func (n node) Mine(_ testing.TB, blocks int) { n.Chain.Mine(blocks) }

func (n node) Finalize(testing.TB) { n.Chain.Mine(n.Capabilities().Confirmations) }

func (n node) Pay(_ testing.TB, payments ...chain.Payment) []string {
	txID := n.Chain.Pay(payments...)
	txIDs := make([]string, len(payments))
	for i := range txIDs {
		txIDs[i] = txID
	}
	return txIDs
}

func (n node) Reorg(_ testing.TB, depth int, drop ...string) { n.Chain.Reorg(depth, drop...) }

func (n node) Spread(_ testing.TB, behind ...int) {
	n.Rotate(len(behind) > 0)
	for i, e := range n.Endpoints() {
		n.Heal(e.Name)
		if i < len(behind) {
			n.Behind(e.Name, behind[i])
		}
	}
}

func (n node) Outsider(testing.TB) string {
	*n.outsiders++
	return n.Named(fmt.Sprintf("outsider %d", *n.outsiders))
}

func (n node) Balance(_ testing.TB, address string) bursar.Amount {
	return n.Chain.Balance(address, "")
}

func (n node) Refusals(t testing.TB) []chaintest.Refusal {
	picky := bursar.Address{Base: n.Outsider(t)}
	n.RequireMemo(picky.Base)
	return []chaintest.Refusal{
		{Payment: chain.Payment{Address: bursar.Address{Base: n.Outsider(t)}}, Below: true},
		{Payment: chain.Payment{Address: picky, Amount: bursar.Units(1_000_000)}},
	}
}

// accounts is a node that uses the account model: it has tokens and failing transactions.
type accounts struct{ node }

func (a accounts) Token(testing.TB) string { return a.Named("token") }

func (a accounts) TokenBalance(_ testing.TB, contract, address string) bursar.Amount {
	return a.Chain.Balance(address, contract)
}

func (a accounts) PayFailed(_ testing.TB, payment chain.Payment) string {
	return a.Chain.PayFailed(payment)
}

func (a accounts) Close(_ testing.TB, address string) { a.Chain.Close(address) }
