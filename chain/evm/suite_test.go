package evm_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/evm/evmtest"
	"github.com/bursar/bursar/chain/rpc"
)

// anvilNode is an anvil with payments that no EVM chain takes.
type anvilNode struct {
	*evmtest.Anvil
	*evmtest.Balancer
}

func (n anvilNode) Refusals(t testing.TB) []chaintest.Refusal { return refusals(t, n) }

// closing is a node on which an address can be made to take no money.
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

// suite runs the conformance suite against a fresh anvil for each test, under the chain's own id and settings.
func suite(t *testing.T, cfg evm.Config, batch bool) {
	if testing.Short() {
		t.Skip("needs anvil")
	}
	chaintest.Run(t, func(t *testing.T) chaintest.Harness {
		node := evmtest.StartAnvil(t, cfg.ChainID)
		node.Batch = batch
		here := cfg
		here.Tokens = []evm.Token{{Contract: node.Token(t), Decimals: 6}}
		front := evmtest.Balance(t, node.URL)
		c, err := evm.New(here, rpc.Config{URLs: []string{front.URL}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return chaintest.Harness{Chain: c, Node: anvilNode{node, front}, Unit: bursar.Units(1e18)}
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

// hardhatNode is a Hardhat with payments that no EVM chain takes.
type hardhatNode struct {
	*evmtest.Hardhat
	*evmtest.Balancer
}

func (n hardhatNode) Refusals(t testing.TB) []chaintest.Refusal { return refusals(t, n) }

// TestSuiteOnHardhat runs the suite against a node that offers neither receipts of blocks nor traces of them.
func TestSuiteOnHardhat(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs Hardhat")
	}
	chaintest.Run(t, func(t *testing.T) chaintest.Harness {
		cfg := evm.Ethereum()
		cfg.FinalityBlocks = evmtest.HardhatFinality
		node := evmtest.StartHardhat(t, cfg.ChainID)
		cfg.Tokens = []evm.Token{{Contract: node.Token(t), Decimals: 6}}
		front := evmtest.Balance(t, node.URL)
		c, err := evm.New(cfg, rpc.Config{URLs: []string{front.URL}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		return chaintest.Harness{Chain: c, Node: hardhatNode{node, front}, Unit: bursar.Units(1e18)}
	})
}

func TestSuiteOnAnvilWithParityTraces(t *testing.T) {
	t.Parallel()
	cfg := evm.Ethereum()
	cfg.Trace = evm.TraceParity
	suite(t, cfg, true)
}

func TestSuiteOnAnvilWithoutTraces(t *testing.T) {
	t.Parallel()
	cfg := evm.Ethereum()
	cfg.Trace = evm.TraceNone
	suite(t, cfg, false)
}
