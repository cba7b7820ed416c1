package evm_test

import (
	"reflect"
	"testing"

	"github.com/ethereum/go-ethereum/common"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/evm"
	"github.com/bursar/bursar/chain/evm/evmtest"
	"github.com/bursar/bursar/chain/rpc"
)

// TestContractPayments lets a real contract pay one of our addresses in every way a contract can, and reads it with
// both tracers and by comparing balances. With each method, the sum equals the address's balance at the node.
func TestContractPayments(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs anvil")
	}
	node := evmtest.StartAnvil(t, 31337)
	ours := node.Outsider(t)
	to := common.HexToAddress(ours)
	native := bursar.Units(1e18)
	three := bursar.Units(3e18)
	payer := node.PayerContract()
	list, values := []common.Address{to, common.HexToAddress(node.Outsider(t)), to},
		[]bursar.Amount{native, native, native}
	cases := []struct {
		name   string
		value  bursar.Amount
		data   []byte
		traced []uint32 // outputs
		sum    uint64   // wei delivered
	}{
		{"pays thrice", three, evmtest.Call("pay(address[],uint256[])", list, values), []uint32{1, 3}, 2},
		{"pays and fails", native, evmtest.Call("payAndFail(address)", to), nil, 0},
		{"pays below a failure", native, evmtest.Call("payBelowFailure(address)", to), nil, 0},
		{"pays after a failure", native, evmtest.Call("payAfterFailure(address)", to), []uint32{2}, 1},
		{"pays as a delegate", three, evmtest.Call("payByDelegate(address,address[],uint256[])", payer, list, values),
			[]uint32{1, 3}, 2},
		{"pays by its end", native, evmtest.Call("payByEnd(address)", to), []uint32{2}, 1},
	}
	start := blockAt(t, node, evm.TraceGeth)
	ids := map[string]int{}
	for i, test := range cases {
		ids[node.Send(t, payer, test.value, test.data)] = i
		node.Mine(t, 1)
	}
	var byGeth []chain.Block
	for _, way := range []evm.Tracing{evm.TraceGeth, evm.TraceParity, evm.TraceNone} {
		blocks := readAll(t, adapter(t, node, way), start, ours)
		var total bursar.Amount
		outputs, sums := map[int][]uint32{}, map[int]bursar.Amount{}
		for _, block := range blocks {
			for _, transfer := range block.Transfers {
				i := ids[transfer.TxID]
				outputs[i] = append(outputs[i], transfer.Output)
				sums[i], _ = sums[i].Add(transfer.Amount)
				total, _ = total.Add(transfer.Amount)
			}
		}
		for i, test := range cases {
			if want, _ := native.Mul(test.sum); sums[i] != want {
				t.Errorf("%s, %s: %s delivered, want %s", way, test.name, sums[i], want)
			}
			if way != evm.TraceNone && !reflect.DeepEqual(outputs[i], test.traced) {
				t.Errorf("%s, %s: outputs %v, want %v", way, test.name, outputs[i], test.traced)
			}
		}
		if balance := node.Balance(t, ours); balance != total {
			t.Errorf("%s: %s seen, %s held", way, total, balance)
		}
		if way == evm.TraceGeth {
			byGeth = blocks
		} else if way == evm.TraceParity && !reflect.DeepEqual(blocks, byGeth) {
			t.Errorf("the tracers disagree:\n%+v\n%+v", byGeth, blocks)
		}
	}
}

func adapter(t *testing.T, node *evmtest.Anvil, way evm.Tracing) *evm.Chain {
	t.Helper()
	cfg := evm.Ethereum()
	cfg.ChainID, cfg.Trace = node.ChainID, way
	cfg.Tokens = []evm.Token{{Contract: node.Token(t), Decimals: 6}}
	c, err := evm.New(cfg, rpc.Config{URLs: []string{node.URL}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func blockAt(t *testing.T, node *evmtest.Anvil, way evm.Tracing) chain.BlockRef {
	t.Helper()
	head, err := adapter(t, node, way).Head(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return head.Latest
}

func readAll(t *testing.T, c *evm.Chain, from chain.BlockRef, bases ...string) []chain.Block {
	t.Helper()
	watch := chaintest.NewWatch(bases...)
	var all []chain.Block
	for {
		blocks, err := c.After(t.Context(), from, 100, watch)
		if err != nil {
			t.Fatal(err)
		}
		if len(blocks) == 0 {
			return all
		}
		all = append(all, blocks...)
		from = blocks[len(blocks)-1].Ref
	}
}

// TestAnomalousTokenEventsOfARealToken lets a real token emit events that are not ERC-20 transfers, next to valid ones.
func TestAnomalousTokenEventsOfARealToken(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("needs anvil")
	}
	node := evmtest.StartAnvil(t, 31337)
	start := blockAt(t, node, evm.TraceAuto)
	ours := node.Outsider(t)
	to, token := common.HexToAddress(ours), common.HexToAddress(node.Token(t))
	outsider, _ := node.Deploy(t, evmtest.TokenCode(6))
	node.Mine(t, 1)
	none, five := bursar.Amount{}, bursar.Units(5)
	node.Send(t, token, none, evmtest.Call("odd(address)", to))
	node.Send(t, token, none, evmtest.Call("transferFrom(address,address,uint256)", to, to, none))
	node.Send(t, outsider, none, evmtest.Call("mint(address,uint256)", to, five))
	many := node.Send(t, token, none, evmtest.Call("transferMany(address[],uint256[])",
		[]common.Address{to, outsider, to}, []bursar.Amount{five, five, bursar.Units(6)}))
	node.Mine(t, 1)
	var got []chain.Transfer
	for _, block := range readAll(t, adapter(t, node, evm.TraceAuto), start, ours) {
		got = append(got, block.Transfers...)
	}
	transfer := func(output uint32, amount bursar.Amount) chain.Transfer {
		return chain.Transfer{
			TxID: many, Output: output, Address: bursar.Address{Base: ours}, Contract: node.Token(t), Amount: amount,
		}
	}
	if want := []chain.Transfer{transfer(0, five), transfer(2, bursar.Units(6))}; !reflect.DeepEqual(got, want) {
		t.Fatalf("got  %+v\nwant %+v", got, want)
	}
}
