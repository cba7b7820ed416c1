package ethereum_test

import (
	"context"
	"math/big"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/sandbox/ethereum"
)

// finality is how far the finalized tag trails the head in these tests.
const finality = 3

// mover moves a sandbox node as the conformance suite asks.
type mover struct {
	node *ethereum.Node
	// apart pays each payment by a transaction of its own: what one transaction brings to one address in several pieces is
	// a single sum where only balances are compared.
	apart bool
}

func (m mover) Mine(t testing.TB, n int) {
	t.Helper()
	if err := m.node.Mine(n); err != nil {
		t.Fatal(err)
	}
}

func (m mover) Finalize(t testing.TB) { m.Mine(t, finality) }

func (m mover) Pay(t testing.TB, payments ...chain.Payment) []string {
	t.Helper()
	ids := make([]string, len(payments))
	outputs := make([]ethereum.Output, len(payments))
	for i, p := range payments {
		outputs[i] = ethereum.Output{Address: p.Address.Base, Wei: p.Amount.Big()}
	}
	if m.apart {
		for i, o := range outputs {
			id, err := m.node.Pay(o.Address, o.Wei)
			if err != nil {
				t.Fatal(err)
			}
			ids[i] = id
		}
		return ids
	}
	pay := func() (string, error) { return m.node.PayInternal(outputs) }
	if len(payments) == 1 {
		pay = func() (string, error) { return m.node.Pay(outputs[0].Address, outputs[0].Wei) }
	}
	id, err := pay()
	if err != nil {
		t.Fatal(err)
	}
	for i := range ids {
		ids[i] = id
	}
	return ids
}

func (m mover) PayFailed(t testing.TB, p chain.Payment) string {
	t.Helper()
	id, err := m.node.PayFailed(p.Address.Base, p.Amount.Big())
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func (m mover) Reorg(t testing.TB, depth int, drop ...string) {
	t.Helper()
	if err := m.node.Reorg(depth, drop); err != nil {
		t.Fatal(err)
	}
}

func (m mover) Outsider(testing.TB) string { return m.node.NewAddress() }

func (m mover) Balance(t testing.TB, address string) bursar.Amount {
	t.Helper()
	return toAmount(t, m.node.Balance(address))
}

func toAmount(t testing.TB, wei *big.Int) bursar.Amount {
	t.Helper()
	amount, err := bursar.AmountFromBig(wei)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

// The service's EVM adapter finds in go-ethereum what it finds in anvil, with traces and without.
func TestAdapterConformance(t *testing.T) {
	t.Parallel()
	for name, tracing := range map[string]bool{"traces": true, "balances": false} {
		t.Run(name, func(t *testing.T) {
			chaintest.Run(t, func(t *testing.T) chaintest.Harness {
				node, err := ethereum.Start(context.Background(), ethereum.Config{ChainID: 31337, FinalityDepth: finality, Tracing: tracing})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { node.Close() })
				config := evm.Ethereum()
				config.ChainID = 31337
				c, err := evm.New(config, rpc.Config{URLs: []string{node.URL()}})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(c.Close)
				return chaintest.Harness{Chain: c, Node: mover{node, !tracing}, Unit: bursar.Units(1e18)}
			})
		})
	}
}
