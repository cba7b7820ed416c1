package bitcoin_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	adapter "github.com/bursar/bursar/chain/bitcoin"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/sandbox/nodes/bitcoin"
)

// mover changes a sandbox node as the conformance suite asks.
type mover struct {
	node          *bitcoin.Node
	confirmations int
}

func (m mover) Mine(t testing.TB, n int) {
	t.Helper()
	if _, err := m.node.Mine(n); err != nil {
		t.Fatal(err)
	}
}

func (m mover) Finalize(t testing.TB) { m.Mine(t, m.confirmations) }

func (m mover) Pay(t testing.TB, payments ...chain.Payment) []string {
	t.Helper()
	outputs := make([]bitcoin.Output, len(payments))
	for i, p := range payments {
		sat, _ := p.Amount.Uint64()
		outputs[i] = bitcoin.Output{Address: p.Address.Base, Amount: int64(sat)}
	}
	id, err := m.node.PayMany(outputs)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, len(payments))
	for i := range ids {
		ids[i] = id
	}
	return ids
}

func (m mover) Reorg(t testing.TB, depth int, drop ...string) {
	t.Helper()
	if err := m.node.Reorg(depth, drop); err != nil {
		t.Fatal(err)
	}
}

func (m mover) Outsider(t testing.TB) string {
	t.Helper()
	address, err := m.node.NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func (m mover) Balance(t testing.TB, address string) bursar.Amount {
	t.Helper()
	sat, err := m.node.Balance(address)
	if err != nil {
		t.Fatal(err)
	}
	return bursar.Units(uint64(sat))
}

// TestAdapterConformance runs the conformance suite: the service's Bitcoin adapter gets from this node what it gets
// from bitcoind.
func TestAdapterConformance(t *testing.T) {
	t.Parallel()
	conform(t, bitcoin.Config{}, network(t, adapter.Bitcoin))
}

// TestLitecoinAdapterConformance runs the conformance suite with Litecoin's rules and its first block.
func TestLitecoinAdapterConformance(t *testing.T) {
	t.Parallel()
	conform(t, bitcoin.Config{Params: bitcoin.LitecoinParams(), DustRate: 30_000, NoReplacement: true},
		network(t, adapter.Litecoin))
}

func TestConformanceIsDocumented(t *testing.T) {
	chaintest.Document(t, "Bitcoin", "sandbox/nodes/bitcoin.TestAdapterConformance",
		offline(t, network(t, adapter.Bitcoin)))
	chaintest.Document(t, "Litecoin", "sandbox/nodes/bitcoin.TestLitecoinAdapterConformance",
		offline(t, network(t, adapter.Litecoin)))
}

func network(t *testing.T, of func(name string) (adapter.Network, error)) adapter.Network {
	t.Helper()
	network, err := of("regtest")
	if err != nil {
		t.Fatal(err)
	}
	return network
}

func conform(t *testing.T, cfg bitcoin.Config, network adapter.Network) {
	t.Helper()
	chaintest.Run(t, offline(t, network), func(t *testing.T) chaintest.Harness {
		node, err := bitcoin.Start(context.Background(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { node.Close() })
		return chaintest.Harness{Chain: openAt(t, node.URL(), network), Node: mover{node, network.Confirmations},
			Unit: bursar.Units(10_000_000)}
	})
}

// offline is the harness without a node: its endpoint is never asked.
func offline(t *testing.T, network adapter.Network) chaintest.Harness {
	return chaintest.Harness{Chain: openAt(t, "http://127.0.0.1:1", network), Node: mover{}}
}

func openAt(t *testing.T, url string, network adapter.Network) *adapter.Chain {
	t.Helper()
	c, err := adapter.New(adapter.Config{ID: bursar.ChainID(network.Family), Network: network,
		Node: rpc.Config{URLs: []string{url}, MinPause: time.Millisecond}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}
