package evm_test

import (
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/evm/evmtest"
	"github.com/bursar/bursar/chain/rpc"
)

// TestMain ends the nodes that tests share.
func TestMain(m *testing.M) { evmtest.Main(m) }

var (
	_ chaintest.Misbehaving = anvilNode{}
	_ chaintest.Misbehaving = hardhatNode{}
)

// anvilNode is an anvil with payments that no EVM chain accepts.
type anvilNode struct {
	*evmtest.Anvil
	*evmtest.Balancer
	misbehaving
}

func (n anvilNode) Refusals(t testing.TB) []chaintest.Refusal { return refusals(t, n) }

// closing is a node on which an address can be made to accept no payment.
type closing interface {
	chaintest.Node
	Token(t testing.TB) string
	Close(t testing.TB, address string)
}

func refusals(t testing.TB, n closing) []chaintest.Refusal {
	pay := func(base, contract string, amount uint64) chain.Payment {
		return chain.Payment{Address: bursar.Address{Base: base}, Contract: contract, Amount: bursar.Units(amount)}
	}
	closed := n.Outsider(t)
	n.Close(t, closed)
	n.Mine(t, 1)
	return []chaintest.Refusal{
		{Payment: pay(n.Outsider(t), "", 0), Below: true},
		{Payment: pay("0x000000000000000000000000000000000000dEaD", "", 1)},
		{Payment: pay("0x0000000000000000000000000000000000000000", "", 1)},
		{Payment: pay("0x0000000000000000000000000000000000000004", "", 1)},
		{Payment: pay("0x0000000000000000000000000000000000001010", "", 1)},
		{Payment: pay(n.Token(t), n.Token(t), 1)},
		{Payment: pay(n.Token(t), "", 1)},
		{Payment: pay(closed, "", 1)},
	}
}

// misbehaving provides tokens that do something other than requested.
type misbehaving struct{}

const (
	silentToken = "0x51115111511151115111511151115111511151a1"
	taxingToken = "0x7a117a117a117a117a117a117a117a117a117aa1"
)

func (misbehaving) Silent(testing.TB) string { return canonical(silentToken) }

func (misbehaving) Taxing(testing.TB) (contract, keeper string) {
	return canonical(taxingToken), common.Address(chaintest.Keeper).Hex()
}

func canonical(address string) string { return common.HexToAddress(address).Hex() }

// placing is a node on which code can be set.
type placing interface {
	Token(t testing.TB) string
	SetCode(t testing.TB, address string, code []byte)
}

// suiteTokens returns the token that outsiders have, and two misbehaving ones, which it sets on the node.
func suiteTokens(t testing.TB, node placing) (list []evm.Token) {
	node.SetCode(t, silentToken, chaintest.SilentToken())
	node.SetCode(t, taxingToken, chaintest.TaxingToken())
	for _, contract := range []string{node.Token(t), canonical(silentToken), canonical(taxingToken)} {
		list = append(list, evm.Token{Contract: contract, Decimals: 6})
	}
	return list
}

// suite runs the conformance suite against a fresh anvil for each test, under the chain's own id and settings.
func suite(t *testing.T, cfg evm.Config, batch bool) {
	if testing.Short() {
		t.Skip("needs anvil")
	}
	chaintest.Run(t, offline(t, cfg, anvilNode{}), func(t *testing.T) chaintest.Harness {
		node := evmtest.StartAnvil(t, cfg.ChainID)
		node.Batch = batch
		here := cfg
		here.Tokens = suiteTokens(t, node)
		front := evmtest.Balance(t, node.URL)
		c, err := evm.New(here, rpc.Config{URLs: []string{front.URL}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return chaintest.Harness{Chain: c, Node: anvilNode{node, front, misbehaving{}}, Unit: bursar.Units(1e18)}
	})
}

func TestSuiteOnAnvil(t *testing.T) {
	t.Parallel()
	for _, cfg := range []evm.Config{evm.Ethereum(), evm.BSC(), evm.Polygon()} {
		t.Run(string(cfg.ID), func(t *testing.T) {
			t.Parallel()
			suite(t, cfg, true)
		})
	}
}

// hardhatNode is a Hardhat with payments that no EVM chain accepts.
type hardhatNode struct {
	*evmtest.Hardhat
	*evmtest.Balancer
	misbehaving
}

func (n hardhatNode) Refusals(t testing.TB) []chaintest.Refusal { return refusals(t, n) }

// TestSuiteOnHardhat runs the suite against a node that offers neither receipts of blocks nor traces of them.
func TestSuiteOnHardhat(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs Hardhat")
	}
	chaintest.Run(t, offline(t, hardhat(), hardhatNode{}), func(t *testing.T) chaintest.Harness {
		cfg := hardhat()
		node := evmtest.StartHardhat(t, cfg.ChainID)
		cfg.Tokens = suiteTokens(t, node)
		front := evmtest.Balance(t, node.URL)
		c, err := evm.New(cfg, rpc.Config{URLs: []string{front.URL}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return chaintest.Harness{Chain: c, Node: hardhatNode{node, front, misbehaving{}}, Unit: bursar.Units(1e18)}
	})
}

// hardhat returns the settings of Ethereum for a node without a finalized tag.
func hardhat() evm.Config {
	cfg := evm.Ethereum()
	cfg.FinalityBlocks = evmtest.HardhatFinality
	return cfg
}

func TestSuiteOnAnvilWithParityTraces(t *testing.T) {
	t.Parallel()
	suite(t, tracedBy(evm.TraceParity), true)
}

func TestSuiteOnAnvilWithoutTraces(t *testing.T) {
	t.Parallel()
	suite(t, tracedBy(evm.TraceNone), false)
}

func TestConformanceIsDocumented(t *testing.T) {
	for _, row := range []struct {
		chain, test string
		harness     chaintest.Harness
	}{
		{"Ethereum", "TestSuiteOnAnvil", offline(t, evm.Ethereum(), anvilNode{})},
		{"BNB Smart Chain", "TestSuiteOnAnvil", offline(t, evm.BSC(), anvilNode{})},
		{"Polygon", "TestSuiteOnAnvil", offline(t, evm.Polygon(), anvilNode{})},
		{"Ethereum", "TestSuiteOnAnvilWithParityTraces", offline(t, tracedBy(evm.TraceParity), anvilNode{})},
		{"Ethereum", "TestSuiteOnAnvilWithoutTraces", offline(t, tracedBy(evm.TraceNone), anvilNode{})},
		{"Ethereum", "TestSuiteOnHardhat", offline(t, hardhat(), hardhatNode{})},
	} {
		chaintest.Document(t, row.chain, "chain/evm."+row.test, row.harness)
	}
}

// offline is the harness without a node: its endpoint is never asked.
func offline(t *testing.T, cfg evm.Config, node chaintest.Node) chaintest.Harness {
	t.Helper()
	c, err := evm.New(cfg, rpc.Config{URLs: []string{"http://127.0.0.1:1"}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return chaintest.Harness{Chain: c, Node: node}
}

// tracedBy returns the settings of Ethereum with another way to see what contracts send.
func tracedBy(trace evm.Tracing) evm.Config {
	cfg := evm.Ethereum()
	cfg.Trace = trace
	return cfg
}
