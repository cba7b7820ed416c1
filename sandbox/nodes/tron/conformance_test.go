package tron_test

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/tron"
	"github.com/bursar/bursar/sandbox/nodes/tron"
)

// solidDepth is how many blocks the solidified block trails the head in these tests: the suite reorgs fifty blocks.
const solidDepth = 60

// mover changes a sandbox node as the conformance suite asks.
type mover struct{ node *tron.Node }

func (m mover) Mine(t testing.TB, n int) {
	t.Helper()
	if err := m.node.Mine(n); err != nil {
		t.Fatal(err)
	}
}

func (m mover) Finalize(t testing.TB) { m.Mine(t, solidDepth) }

// Pay pays several payments of an asset in one transaction through a contract.
func (m mover) Pay(t testing.TB, payments ...chain.Payment) []string {
	t.Helper()
	byAsset := map[string][]tron.Output{}
	for _, p := range payments {
		byAsset[p.Contract] = append(byAsset[p.Contract], tron.Output{Address: p.Address.Base, Sun: p.Amount.Big().Int64()})
	}
	paid := map[string]string{}
	for contract, outputs := range byAsset {
		var err error
		switch first := outputs[0]; {
		case contract == "" && len(outputs) == 1:
			paid[contract], err = m.node.Pay(first.Address, first.Sun)
		case contract == "":
			paid[contract], err = m.node.PayInternal(outputs)
		case len(outputs) == 1:
			paid[contract], err = m.node.PayToken(contract, first.Address, big.NewInt(first.Sun))
		default:
			paid[contract], err = m.node.PayTokenMany(outputs)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	ids := make([]string, len(payments))
	for i, p := range payments {
		ids[i] = paid[p.Contract]
	}
	return ids
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
	return m.TokenBalance(t, "", address)
}

func (m mover) Token(testing.TB) string { return m.node.Token() }

func (m mover) TokenBalance(t testing.TB, contract, address string) bursar.Amount {
	t.Helper()
	units, err := m.node.Balance(address, contract)
	if err != nil {
		t.Fatal(err)
	}
	amount, err := bursar.AmountFromBig(units)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

func (m mover) Outlive(t testing.TB, unsigned chain.UnsignedTx) {
	t.Helper()
	if err := m.node.Advance(time.UnixMilli(int64(unsigned.Expires)).Sub(m.node.Time()) + time.Second); err != nil {
		t.Fatal(err)
	}
	m.Mine(t, 1)
	m.Finalize(t)
}

func (m mover) Refusals(t testing.TB) []chaintest.Refusal {
	pay := func(base, contract string, amount uint64) chain.Payment {
		return chain.Payment{Address: bursar.Address{Base: base}, Contract: contract, Amount: bursar.Units(amount)}
	}
	token := m.Token(t)
	return []chaintest.Refusal{
		{Payment: pay(m.Outsider(t), "", 0), Below: true},
		{Payment: pay(m.Outsider(t), token, 0), Below: true},
		{Payment: pay("T9yD14Nj9j7xAB4dbGeiX9h8unkKHxuWwb", "", 1)},
		{Payment: pay("TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy", "", 1)},
		{Payment: pay("TLsV52sRDL79HXGGm9yzwKibb6BeruhUzy", token, 1)},
		{Payment: pay(token, token, 1)},
		{Payment: pay(token, "", 1)},
		{Payment: pay(m.node.Purse(), "", 1)},
		{Payment: pay("0x5aAeb6053F3E94C9b9A09f33669435E7Ef1BeAed", "", 1)},
	}
}

// open starts a node and connects the service's adapter to it.
func open(t *testing.T, cfg tron.Config) (*adapter.Chain, *tron.Node) {
	t.Helper()
	node, err := tron.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Close(); err != nil {
			t.Error(err)
		}
	})
	tokens := []adapter.Token{{Contract: node.Token(), Decimals: 6}}
	for _, contract := range node.Contracts() {
		tokens = append(tokens, adapter.Token{Contract: contract, Decimals: 6})
	}
	return openAt(t, node.URL(), tokens), node
}

// openAt connects the service's adapter to a URL.
func openAt(t *testing.T, url string, tokens []adapter.Token) *adapter.Chain {
	t.Helper()
	keys := chaintest.Keys{Curve: chain.Secp256k1}
	rules, err := adapter.NewRules(adapter.Config{})
	if err != nil {
		t.Fatal(err)
	}
	hot, err := rules.Address(keys.Public(chain.Hot(chain.FamilyTron)), 0)
	if err != nil {
		t.Fatal(err)
	}
	c, err := adapter.New(adapter.Config{
		Tokens: tokens, Hot: hot.Base, Expiry: 5 * time.Minute,
	}, rpc.Config{URLs: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// offline is the harness without a node: its endpoint is never asked.
func offline(t *testing.T, node chaintest.Node) chaintest.Harness {
	t.Helper()
	return chaintest.Harness{Chain: openAt(t, "http://127.0.0.1:1", nil), Node: node, Unnumbered: true}
}

func TestConformanceIsDocumented(t *testing.T) {
	chaintest.Document(t, "Tron", "sandbox/nodes/tron.TestAdapterConformance", offline(t, misbehaving{}))
	chaintest.Document(t, "Tron", "sandbox/nodes/tron.TestAdapterConformanceAsShipped", offline(t, plain{}))
}

// TestAdapterConformance runs the conformance suite with the service's Tron adapter on the simulator.
func TestAdapterConformance(t *testing.T) {
	t.Parallel()
	chaintest.Run(t, offline(t, misbehaving{}), func(t *testing.T) chaintest.Harness {
		odd := [][]byte{chaintest.Creation(chaintest.SilentToken()), chaintest.Creation(chaintest.TaxingToken())}
		c, node := open(t, tron.Config{SolidDepth: solidDepth, Contracts: odd})
		return chaintest.Harness{
			Chain: c, Node: misbehaving{mover{node}, c}, Unit: bursar.Units(1_000_000_000), Unnumbered: true,
		}
	})
}

var _ chaintest.Misbehaving = misbehaving{}

// misbehaving is a node with tokens that do something else than they are asked to.
type misbehaving struct {
	mover
	chain *adapter.Chain
}

func (m misbehaving) Silent(testing.TB) string { return m.node.Contracts()[0] }

func (m misbehaving) Taxing(t testing.TB) (contract, keeper string) {
	t.Helper()
	address, err := m.chain.ParseAddress("41" + hex.EncodeToString(chaintest.Keeper[:]))
	if err != nil {
		t.Fatal(err)
	}
	return m.node.Contracts()[1], address.Base
}

// plain is a node of which only TRX is asked: no tokens, and nothing that contracts send.
type plain struct {
	chaintest.Node
	chaintest.Expiring
}

func (p plain) Pay(t testing.TB, payments ...chain.Payment) (ids []string) {
	t.Helper()
	for _, payment := range payments {
		ids = append(ids, p.Node.Pay(t, payment)...)
	}
	return ids
}

// TestAdapterConformanceAsShipped checks that a java-tron with its default settings is enough for TRX.
func TestAdapterConformanceAsShipped(t *testing.T) {
	t.Parallel()
	chaintest.Run(t, offline(t, plain{}), func(t *testing.T) chaintest.Harness {
		c, node := open(t, tron.Config{SolidDepth: solidDepth, AsShipped: true})
		return chaintest.Harness{
			Chain: c, Node: plain{mover{node}, mover{node}}, Unit: bursar.Units(1_000_000_000), Unnumbered: true,
		}
	})
}

// TestTokensAsShipped checks that on a java-tron with its default settings tokens are credited, and the health check
// says which setting their payment needs.
func TestTokensAsShipped(t *testing.T) {
	t.Parallel()
	c, node := open(t, tron.Config{SolidDepth: solidDepth, AsShipped: true})
	from, err := c.Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	to := node.NewAddress()
	if _, err := node.PayToken(node.Token(), to, big.NewInt(5_000_000)); err != nil {
		t.Fatal(err)
	}
	if err := node.Mine(solidDepth + 1); err != nil {
		t.Fatal(err)
	}
	blocks, err := c.After(t.Context(), from.Latest, 10, chaintest.NewWatch(to))
	if err != nil || len(blocks) == 0 || len(blocks[0].Transfers) != 1 || blocks[0].Transfers[0].Contract != node.Token() {
		t.Fatalf("credited %+v, %v", blocks, err)
	}
	if problems := c.CheckAssets(t.Context()); problems != nil {
		t.Errorf("problems %+v, want nil", problems)
	}
	var advice string
	for _, f := range c.CheckHealth(t.Context(), time.Now()) {
		if f.Check == chain.CheckTokens {
			advice = f.Advice
		}
	}
	if !strings.Contains(advice, "vm.supportConstant = true") {
		t.Errorf("the health check says %q, want %q in it", advice, "vm.supportConstant = true")
	}
}
