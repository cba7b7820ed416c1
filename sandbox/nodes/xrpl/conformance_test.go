package xrpl_test

import (
	"context"
	"encoding/hex"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/xrpl"
	"github.com/bursar/bursar/sandbox/nodes/xrpl"
)

// mover changes a sandbox node as the conformance suite asks.
type mover struct{ node *xrpl.Node }

func (m mover) Mine(t testing.TB, n int) {
	t.Helper()
	check(t, m.node.Mine(n))
}

func (m mover) Finalize(t testing.TB) { m.Mine(t, 1) }

func (m mover) Pay(t testing.TB, payments ...chain.Payment) []string {
	t.Helper()
	ids := make([]string, len(payments))
	for i, p := range payments {
		drops, _ := p.Amount.Uint64()
		id, err := m.node.Pay(p.Address.String(), drops)
		check(t, err)
		ids[i] = id
	}
	return ids
}

func (m mover) Reorg(t testing.TB, depth int, drop ...string) {
	t.Helper()
	check(t, m.node.Reorg(depth, drop))
}

func (m mover) Outsider(testing.TB) string { return m.node.NewAddress() }

func (m mover) Balance(t testing.TB, address string) bursar.Amount {
	t.Helper()
	drops, err := m.node.Balance(address)
	check(t, err)
	return bursar.Units(drops)
}

func (m mover) PayFailed(t testing.TB, p chain.Payment) string {
	t.Helper()
	drops, _ := p.Amount.Uint64()
	id, err := m.node.Deliver(xrpl.Delivery{Kind: xrpl.FailedPayment, Address: p.Address.String(), Drops: drops})
	check(t, err)
	return id
}

func (m mover) Close(t testing.TB, address string) {
	t.Helper()
	check(t, m.node.Refuse(address))
}

// Refusals are payments that the ledger would refuse, each for its own reason.
func (m mover) Refusals(t testing.TB) []chaintest.Refusal {
	t.Helper()
	pay := func(base string, drops uint64) chain.Payment {
		return chain.Payment{Address: bursar.Address{Base: base}, Amount: bursar.Units(drops)}
	}
	marked := func(flag uint32) string {
		address := m.node.NewAddress()
		_, err := m.node.Pay(address, 5*xrp)
		check(t, err)
		m.Mine(t, 1)
		check(t, m.node.Mark(address, flag))
		return address
	}
	return []chaintest.Refusal{
		{Payment: pay(m.node.NewAddress(), 0), Below: true},
		{Payment: pay(m.node.NewAddress(), xrp-1), Below: true},
		{Payment: pay(marked(0x20000), xrp)},
		{Payment: pay(marked(0x1000000), xrp)},
		{Payment: pay(marked(0x80000), xrp)},
		{Payment: pay("rrrrrrrrrrrrrrrrrrrrrhoLvTp", xrp)},
		{Payment: pay("rrrrrrrrrrrrrrrrrrrrBZbvji", xrp)},
		{Payment: chain.Payment{Address: bursar.Address{Base: m.node.NewAddress()}, Contract: "USD",
			Amount: bursar.Units(xrp)}},
	}
}

func check(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

const xrp = 1_000_000

// named is the adapter as the service uses it: transaction requests name the public key of the hot wallet. Validated
// ledgers cannot be replaced, so there is no reorg to test.
type named struct{ *adapter.Chain }

func (n named) Capabilities() chain.Capabilities {
	capabilities := n.Chain.Capabilities()
	capabilities.ReorgDepth = 0
	return capabilities
}

func (n named) Build(ctx context.Context, request chain.TxRequest) (chain.UnsignedTx, error) {
	request.From.Pub = hex.EncodeToString(chaintest.Keys{Curve: chain.Secp256k1}.Public(request.From.Key))
	return n.Chain.Build(ctx, request)
}

// start runs a node and connects the adapter to it.
func start(t *testing.T, cfg xrpl.Config) (*xrpl.Node, named) {
	t.Helper()
	node, err := xrpl.Start(context.Background(), cfg)
	check(t, err)
	t.Cleanup(func() { node.Close() })
	return node, openAt(t, node.URL(), cfg.NetworkID)
}

func openAt(t *testing.T, url string, network uint32) named {
	t.Helper()
	c, err := adapter.New(adapter.Config{ID: bursar.XRPL, Network: adapter.Private, NetworkID: network},
		rpc.Config{URLs: []string{url}})
	check(t, err)
	t.Cleanup(c.Close)
	return named{c}
}

// offline is the harness without a node: its endpoint is never asked.
func offline(t *testing.T, network uint32) chaintest.Harness {
	t.Helper()
	return chaintest.Harness{Chain: openAt(t, "http://127.0.0.1:1", network), Node: mover{}}
}

func TestConformanceIsDocumented(t *testing.T) {
	chaintest.Document(t, "XRP Ledger", "sandbox/nodes/xrpl.TestAdapterConformance/bare", offline(t, 0))
	chaintest.Document(t, "XRP Ledger", "sandbox/nodes/xrpl.TestAdapterConformance/named", offline(t, 21338))
}

// TestAdapterConformance runs the conformance suite with the service's adapter on the simulator, on a network whose
// transactions carry no network id and on one whose transactions must.
func TestAdapterConformance(t *testing.T) {
	t.Parallel()
	for name, network := range map[string]uint32{"bare": 0, "named": 21338} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			chaintest.Run(t, offline(t, network), func(t *testing.T) chaintest.Harness {
				node, c := start(t, xrpl.Config{NetworkID: network})
				return chaintest.Harness{Chain: c, Node: mover{node}, Unit: bursar.Units(20 * xrp)}
			})
		})
	}
}
