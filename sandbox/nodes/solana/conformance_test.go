package solana_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/sandbox/nodes/solana"
)

// mover changes a simulator as the conformance suite asks. The adapter reads final blocks only, so every block is
// made final at once.
type mover struct {
	node *solana.Node
	pay  func(*solana.Node, []solana.Output) (string, error)
}

func (m mover) Mine(t testing.TB, n int) {
	t.Helper()
	m.must(t, m.node.Mine(n))
	m.must(t, m.node.Finalize())
}

func (m mover) must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (m mover) Finalize(t testing.TB) { m.must(t, m.node.Finalize()) }

// Pay pays each payment by a transaction of its own, because several transfers of one transaction to one address are
// a single sum on this chain.
func (m mover) Pay(t testing.TB, payments ...chain.Payment) []string {
	t.Helper()
	ids := make([]string, len(payments))
	for i, p := range payments {
		id, err := m.pay(m.node, []solana.Output{{Address: p.Address.Base, Lamports: lamports(t, p.Amount)}})
		m.must(t, err)
		ids[i] = id
	}
	return ids
}

func lamports(t testing.TB, amount bursar.Amount) uint64 {
	t.Helper()
	n, fits := amount.Uint64()
	if !fits {
		t.Fatalf("%s is not an amount of lamports", amount)
	}
	return n
}

func (m mover) PayFailed(t testing.TB, p chain.Payment) string {
	t.Helper()
	id, err := m.node.PayFailed(p.Address.Base, lamports(t, p.Amount))
	m.must(t, err)
	return id
}

// Close takes effect in the next block, after a node's preflight simulation.
func (m mover) Close(t testing.TB, address string) {
	t.Helper()
	m.must(t, m.node.CloseAddress(address))
}

// Reorg replaces blocks that were final, which no real chain does: the adapter has to notice all the same.
func (m mover) Reorg(t testing.TB, depth int, drop ...string) {
	t.Helper()
	m.must(t, m.node.Rollback(depth, drop))
	m.must(t, m.node.Finalize())
}

func (m mover) Outsider(testing.TB) string { return m.node.NewAddress() }

func (m mover) Balance(t testing.TB, address string) bursar.Amount {
	t.Helper()
	n, err := m.node.Balance(address)
	m.must(t, err)
	return bursar.Units(n)
}

// Outlive mines past the last block height of an unsigned transaction.
func (m mover) Outlive(t testing.TB, _ chain.UnsignedTx) { m.Mine(t, 152) }

func (m mover) Refusals(t testing.TB) []chaintest.Refusal {
	pay := func(base, contract string, amount uint64) chain.Payment {
		return chain.Payment{Address: bursar.Address{Base: base}, Contract: contract, Amount: bursar.Units(amount)}
	}
	program := m.Outsider(t)
	m.must(t, m.node.Deploy(program))
	m.Mine(t, 1)
	const sol = 1_000_000_000
	memo := pay(m.Outsider(t), "", sol)
	memo.Address.HasMemo = true
	return []chaintest.Refusal{
		{Payment: pay(m.Outsider(t), "", 0), Below: true},
		{Payment: pay(m.Outsider(t), "", 890_879), Below: true},
		{Payment: pay("11111111111111111111111111111111", "", sol)},
		{Payment: pay("1nc1nerator11111111111111111111111111111111", "", sol)},
		{Payment: pay("SysvarC1ock11111111111111111111111111111111", "", sol)},
		{Payment: pay("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA", "", sol)},
		{Payment: pay(program, "", sol)},
		{Payment: pay(m.Outsider(t), "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v", 1)},
		{Payment: memo},
	}
}

func start(t *testing.T, cfg solana.Config) *solana.Node {
	t.Helper()
	node, err := solana.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	return node
}

// connect is the service's adapter on a simulator that has a few blocks.
func connect(t *testing.T, node *solana.Node, cfg adapter.Config) *adapter.Chain {
	t.Helper()
	if err := node.Mine(3); err != nil {
		t.Fatal(err)
	}
	if err := node.Finalize(); err != nil {
		t.Fatal(err)
	}
	return openAt(t, node.URL(), cfg)
}

func openAt(t *testing.T, url string, cfg adapter.Config) *adapter.Chain {
	t.Helper()
	c, err := adapter.New(cfg, rpc.Config{URLs: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// TestAdapterConformance runs the conformance suite with the service's Solana adapter on the simulator: with legacy
// payments and one withdrawal per transaction, and with receivers from lookup tables, payments of version 1 and
// several withdrawals per transaction. Every block also has a transaction of version 1.
func TestAdapterConformance(t *testing.T) {
	t.Parallel()
	conform(t, solana.Config{})
}

// TestAdapterConformanceOnLiteSVM runs the same suite with the real virtual machine executing every transaction.
func TestAdapterConformanceOnLiteSVM(t *testing.T) {
	t.Parallel()
	conform(t, solana.Config{VM: startVM(t)})
}

func TestConformanceIsDocumented(t *testing.T) {
	for _, test := range []string{"TestAdapterConformance", "TestAdapterConformanceOnLiteSVM"} {
		for _, run := range runs() {
			chaintest.Document(t, "Solana", "sandbox/nodes/solana."+test+"/"+run.name, run.offline(t))
		}
	}
}

// run is one way to pay and the adapter's settings for it.
type run struct {
	name   string
	pay    func(*solana.Node, []solana.Output) (string, error)
	many   int
	format string
}

func runs() []run {
	return []run{
		{name: "plain", pay: (*solana.Node).PayMany},
		{name: "tables", pay: (*solana.Node).PayByTable, many: 5, format: "v0"},
		{name: "v1", pay: (*solana.Node).PayV1, many: 5, format: "v1"},
	}
}

func (r run) config() adapter.Config {
	config := adapter.Private()
	config.MaxPayments, config.Format = max(config.MaxPayments, r.many), r.format
	return config
}

// offline is the harness without a node: its endpoint is never asked.
func (r run) offline(t *testing.T) chaintest.Harness {
	t.Helper()
	return chaintest.Harness{Chain: openAt(t, "http://127.0.0.1:1", r.config()), Node: mover{}, Unnumbered: true}
}

func conform(t *testing.T, cfg solana.Config) {
	cfg.Traffic = true
	for _, r := range runs() {
		t.Run(r.name, func(t *testing.T) {
			chaintest.Run(t, r.offline(t), func(t *testing.T) chaintest.Harness {
				node := start(t, cfg)
				return chaintest.Harness{Chain: connect(t, node, r.config()), Node: mover{node, r.pay},
					Unit: bursar.Units(1_000_000_000), Unnumbered: true}
			})
		})
	}
}
