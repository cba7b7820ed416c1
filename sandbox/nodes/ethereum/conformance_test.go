package ethereum_test

import (
	"context"
	"math/big"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/rpc"
	"github.com/bursar/bursar/sandbox/nodes/ethereum"
)

// finality is how many blocks the finalized tag trails the head in these tests.
const finality = 3

// mover changes a sandbox node as the conformance suite asks.
type mover struct {
	node  *ethereum.Node
	token string // the symbol of the token that the suite uses; empty: none
	// onePerPayment pays each payment by a transaction of its own: what one transaction brings to one address in several
	// pieces is a single sum where only balances are compared.
	onePerPayment bool
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
	if payments[0].Contract != "" {
		return m.payToken(t, payments)
	}
	ids := make([]string, len(payments))
	outputs := make([]ethereum.Output, len(payments))
	for i, p := range payments {
		outputs[i] = ethereum.Output{Address: p.Address.Base, Wei: p.Amount.Big()}
	}
	if m.onePerPayment {
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

// payToken pays one payment by a transfer, and several of the same token through a contract.
func (m mover) payToken(t testing.TB, payments []chain.Payment) []string {
	t.Helper()
	outputs := make([]ethereum.Output, len(payments))
	for i, p := range payments {
		if p.Contract != m.contract(t) {
			t.Fatalf("payment %d is of another token: %+v", i, p)
		}
		outputs[i] = ethereum.Output{Address: p.Address.Base, Wei: p.Amount.Big()}
	}
	pay := func() (string, error) { return m.node.PayTokenMany(m.token, outputs) }
	if len(outputs) == 1 {
		pay = func() (string, error) { return m.node.PayToken(m.token, outputs[0].Address, outputs[0].Wei) }
	}
	id, err := pay()
	if err != nil {
		t.Fatal(err)
	}
	return slices.Repeat([]string{id}, len(payments))
}

func (m mover) contract(t testing.TB) string {
	t.Helper()
	contract, err := m.node.Token(m.token)
	if err != nil {
		t.Fatal(err)
	}
	return contract
}

// tokenMover is a mover of a chain with tokens.
type tokenMover struct{ mover }

func (m tokenMover) Token(t testing.TB) string { return m.contract(t) }

func (m tokenMover) TokenBalance(t testing.TB, contract, address string) bursar.Amount {
	t.Helper()
	if contract != m.contract(t) {
		t.Fatalf("%s is not the token %s", contract, m.token)
	}
	amount, err := m.node.TokenBalance(m.token, address)
	if err != nil {
		t.Fatal(err)
	}
	return toAmount(t, amount)
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

// TestAdapterConformance runs the conformance suite: the service's EVM adapter gets from go-ethereum what it gets
// from anvil, with traces and without.
func TestAdapterConformance(t *testing.T) {
	t.Parallel()
	for name, tracing := range map[string]bool{"traces": true, "balances": false} {
		t.Run(name, func(t *testing.T) {
			chaintest.Run(t, offline(t, private(), mover{}), func(t *testing.T) chaintest.Harness {
				node, err := ethereum.Start(context.Background(),
					ethereum.Config{ChainID: 31337, FinalityDepth: finality, Tracing: tracing})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(func() { node.Close() })
				c := openAt(t, node.URL(), private())
				return chaintest.Harness{Chain: c, Node: mover{node: node, onePerPayment: !tracing}, Unit: bursar.Units(1e18)}
			})
		})
	}
}

// private returns the settings of a private chain.
func private() evm.Config {
	config := evm.Ethereum()
	config.ChainID = 31337
	return config
}

func openAt(t *testing.T, url string, config evm.Config) *evm.Chain {
	t.Helper()
	c, err := evm.New(config, rpc.Config{URLs: []string{url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// offline is the harness without a node: its endpoint is never asked.
func offline(t *testing.T, config evm.Config, node chaintest.Node) chaintest.Harness {
	t.Helper()
	return chaintest.Harness{Chain: openAt(t, "http://127.0.0.1:1", config), Node: node}
}

func TestConformanceIsDocumented(t *testing.T) {
	for _, name := range []string{"traces", "balances"} {
		chaintest.Document(t, "Ethereum", "sandbox/nodes/ethereum.TestAdapterConformance/"+name,
			offline(t, private(), mover{}))
	}
	for _, test := range chainsWithTokens() {
		chaintest.Document(t, test.chain, "sandbox/nodes/ethereum.TestAdapterConformanceWithTokens/"+test.name,
			offline(t, test.config, tokenMover{}))
	}
}

// tokens are those that the chains of the interface have, and one that returns nothing beside one that returns true.
func tokens(decimals int) []ethereum.TokenSpec {
	return []ethereum.TokenSpec{
		{Name: "Tether USD", Symbol: "USDT", Decimals: decimals, Kind: ethereum.UsdtLike},
		{Name: "USD Coin", Symbol: "USDC", Decimals: decimals, Kind: ethereum.UsdcLike},
	}
}

// startWithTokens runs a chain with tokens and an adapter that is configured for them.
func startWithTokens(t *testing.T, cfg evm.Config, decimals int) (*ethereum.Node, *evm.Chain) {
	t.Helper()
	node, err := ethereum.Start(context.Background(), ethereum.Config{
		ChainID: cfg.ChainID, FinalityDepth: finality, Tracing: cfg.Trace != evm.TraceNone, Tokens: tokens(decimals),
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	cfg.Tokens = nil
	for _, spec := range tokens(decimals) {
		contract, err := node.Token(spec.Symbol)
		if err != nil {
			t.Fatal(err)
		}
		cfg.Tokens = append(cfg.Tokens, evm.Token{Contract: contract, Decimals: decimals})
	}
	return node, openAt(t, node.URL(), cfg)
}

// chainWithTokens is a chain of the interface that has Ethereum's rules, with its own settings and one of its tokens.
type chainWithTokens struct {
	name, chain string
	config      evm.Config
	token       string
	decimals    int
}

func chainsWithTokens() []chainWithTokens {
	withoutTraces := evm.Ethereum()
	withoutTraces.Trace = evm.TraceNone
	return []chainWithTokens{
		{"ethereum", "Ethereum", withoutTraces, "USDT", 6},
		{"bsc", "BNB Smart Chain", evm.BSC(), "USDT", 18},
		{"polygon", "Polygon", evm.Polygon(), "USDC", 6},
	}
}

// TestAdapterConformanceWithTokens runs the whole suite on every chain of the interface with Ethereum's rules, with
// its own settings and tokens.
func TestAdapterConformanceWithTokens(t *testing.T) {
	t.Parallel()
	for _, test := range chainsWithTokens() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			chaintest.Run(t, offline(t, test.config, tokenMover{}), func(t *testing.T) chaintest.Harness {
				node, c := startWithTokens(t, test.config, test.decimals)
				moved := mover{node: node, token: test.token, onePerPayment: test.config.Trace == evm.TraceNone}
				return chaintest.Harness{Chain: c, Node: tokenMover{moved}, Unit: bursar.Units(1e18)}
			})
		})
	}
}
