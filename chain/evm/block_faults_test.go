package evm

import (
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

func constant(result any) func([]any) (any, error) {
	return func([]any) (any, error) { return result, nil }
}

func refusal(code int, message string) func([]any) (any, error) {
	return func([]any) (any, error) { return nil, failure{code, message} }
}

// TestUnsoundBlocksAreErrors corrupts a node's answers about a block with a payment to us. None of them may pass for a
// block.
func TestUnsoundBlocksAreErrors(t *testing.T) {
	t.Parallel()
	first := func(b *fakeBlock) object { return b.block["transactions"].([]any)[0].(object) }
	receipt := func(b *fakeBlock) object { return b.receipts[0].(object) }
	log := func(b *fakeBlock) object { return b.receipts[1].(object)["logs"].([]any)[0].(object) }
	cases := map[string]func(f *fake, b *fakeBlock){
		"no receipts":          func(_ *fake, b *fakeBlock) { b.receipts = nil },
		"half of the receipts": func(_ *fake, b *fakeBlock) { b.receipts = b.receipts[:1] },
		"receipts twice":       func(_ *fake, b *fakeBlock) { b.receipts = append(b.receipts, b.receipts...) },
		"receipts in another order": func(_ *fake, b *fakeBlock) {
			b.receipts[0], b.receipts[1] = b.receipts[1], b.receipts[0]
		},
		"receipt of another block": func(_ *fake, b *fakeBlock) { receipt(b)["blockHash"] = fakeHash("other") },
		"receipt without status":   func(_ *fake, b *fakeBlock) { receipt(b)["status"] = nil },
		"receipt with status 2":    func(_ *fake, b *fakeBlock) { receipt(b)["status"] = "0x2" },
		"receipt at another place": func(_ *fake, b *fakeBlock) { receipt(b)["transactionIndex"] = "0x1" },
		"logs left out":            func(_ *fake, b *fakeBlock) { b.receipts[1].(object)["logs"] = []any{} },
		"a log with a gap before": func(_ *fake, b *fakeBlock) {
			b.receipts[1].(object)["logs"].([]any)[1].(object)["logIndex"] = "0x99"
		},
		"log of another transaction": func(_ *fake, b *fakeBlock) { log(b)["transactionHash"] = fakeHash("other") },
		"removed log":                func(_ *fake, b *fakeBlock) { log(b)["removed"] = true },
		"another block":              func(_ *fake, b *fakeBlock) { b.block["number"] = "0x7" },
		"no transactions":            func(_ *fake, b *fakeBlock) { b.block["transactions"] = []any{} },
		"hashes only": func(_ *fake, b *fakeBlock) {
			b.block["transactions"] = []string{fakeHash("tx", 1, 0)}
		},
		"transactions where none are":  func(_ *fake, b *fakeBlock) { b.block["transactionsRoot"] = emptyRoot.String() },
		"transaction of another block": func(_ *fake, b *fakeBlock) { first(b)["blockHash"] = fakeHash("other") },
		"transaction at another place": func(_ *fake, b *fakeBlock) { first(b)["transactionIndex"] = "0x5" },
	}
	for name, spoil := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			b := f.add(fakeTx{to: fakeOurs, value: "0x7"},
				fakeTx{to: fakeToken, input: "0x01", logs: []object{transferLog(fakeOurs, 5), transferLog(fakeOther, 5)}})
			spoil(f, b)
			watch := fakeWatch()
			blocks, err := f.open(t, nil).After(t.Context(), f.at(0), 10, watch)
			if err == nil || errors.Is(err, chain.ErrOffChain) || blocks != nil {
				t.Fatalf("got %+v, %v", blocks, err)
			}
			if watch.Blind() != 0 {
				t.Fatal("the watch was asked about a block that was refused, want 0")
			}
		})
	}
}

func TestRewardTracesAreIgnored(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	b := f.add(fakeTx{to: fakeOurs, value: "0x7"}, fakeTx{to: fakeContract, input: "0x01"})
	b.flat = append(b.flat, object{
		"type": "reward", "blockHash": b.block["hash"], "transactionHash": nil, "traceAddress": []int{},
		"action": object{"author": fakeOurs, "value": "0x9", "rewardType": "block"},
	})
	blocks := f.after(t, f.open(t, func(cfg *Config) { cfg.Trace = TraceParity }))
	if want := []chain.Transfer{transfer(fakeHash("tx", 1, 0), 0, fakeOurs,
		7)}; !reflect.DeepEqual(blocks[0].Transfers, want) {
		t.Fatalf("got %+v, want %+v", blocks[0].Transfers, want)
	}
}

// TestNodesWithoutMethods reads the same block through nodes that lack methods of others.
func TestNodesWithoutMethods(t *testing.T) {
	t.Parallel()
	gone := refusal(-32601, "the method does not exist/is not available")
	cases := map[string]map[string]func([]any) (any, error){
		"all methods":       {},
		"no block receipts": {"eth_getBlockReceipts": gone},
		"no geth traces":    {"debug_traceBlockByHash": gone},
		"refused by message": {"debug_traceBlockByHash": refusal(-32000,
			"Method debug_traceBlockByHash is not supported on this plan")},
		"state is gone": {"debug_traceBlockByHash": refusal(-32000,
			"required historical state unavailable (reexec=128)")},
	}
	for name, script := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for method, do := range script {
				f.script[method] = do
			}
			f.add(fakeTx{to: fakeOurs, value: "0x7"},
				fakeTx{to: fakeToken, input: "0x01", logs: []object{transferLog(fakeOurs, 5)}})
			f.add(fakeTx{to: fakeToken, input: "0x01"})
			f.balances[fakeOurs+"@0x1"] = "0x7"
			blocks := f.after(t, f.open(t, nil))
			if len(blocks) != 2 || len(blocks[0].Transfers) != 2 || len(blocks[1].Transfers) != 0 {
				t.Fatalf("got %+v, want 2 of them and none", blocks)
			}
		})
	}
}

// TestLackingMethodsAreRemembered checks that a missing method is requested only once.
func TestLackingMethodsAreRemembered(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	gone := refusal(-32601, "method not found")
	f.script["eth_getBlockReceipts"], f.script["debug_traceBlockByHash"], f.script["trace_block"] = gone, gone, gone
	f.add(fakeTx{to: fakeContract, input: "0x01"})
	c := f.open(t, nil)
	f.after(t, c)
	f.after(t, c)
	for _, method := range []string{"eth_getBlockReceipts", "debug_traceBlockByHash", "trace_block"} {
		if f.asked[method] != 1 {
			t.Errorf("%s was asked %d times, want 1", method, f.asked[method])
		}
	}
	if f.asked["eth_getTransactionReceipt"] != 2 {
		t.Errorf("receipts were asked %d times, want 2", f.asked["eth_getTransactionReceipt"])
	}
}

func TestBrokenLinks(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add()
	f.add()
	f.add()
	f.blocks[2].block["parentHash"] = fakeHash("other")
	c := f.open(t, nil)
	if blocks := f.after(t, c); len(blocks) != 1 || blocks[0].Ref != f.at(1) {
		t.Fatalf("got %+v, want the linked block alone", blocks)
	}
	if _, err := c.After(t.Context(), f.at(1), 10, fakeWatch()); err == nil || errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("a chain that moves while it is read: %v", err)
	}
	outsider := chain.BlockRef{Height: 1, Hash: fakeHash("other")}
	if _, err := c.After(t.Context(), outsider, 10, fakeWatch()); !errors.Is(err, chain.ErrOffChain) {
		t.Fatalf("a reorged-out block: %v, want %v", err, chain.ErrOffChain)
	}
	ahead := chain.BlockRef{Height: 9, Hash: fakeHash("other")}
	if blocks, err := c.After(t.Context(), ahead, 10, fakeWatch()); err != nil || blocks != nil {
		t.Fatalf("a node that is behind: %+v, %v, want nil", blocks, err)
	}
}

func TestWrongChain(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.script["eth_chainId"] = constant("0x38")
	_, err := f.open(t, nil).Head(t.Context())
	var wrong *rpc.WrongChainError
	if !errors.As(err, &wrong) || wrong.Serves != "56" || wrong.Configured != "1" {
		t.Fatalf("head of another chain: %v", err)
	}
}

// TestHead reads the head of a chain of six blocks, 0 to 5.
func TestHead(t *testing.T) {
	t.Parallel()
	const none = -1
	syncing := func(current, highest string) func([]any) (any, error) {
		return constant(object{"currentBlock": current, "highestBlock": highest, "startingBlock": "0x0"})
	}
	cases := map[string]struct {
		script func(f *fake)
		blocks uint64
		final  int
		bad    bool
	}{
		"no finalized block yet": {final: none},
		"finalized":              {script: func(f *fake) { f.final = 3 }, final: 3},
		"finalized far behind":   {script: func(f *fake) { f.final = 0 }, final: 0},
		"unknown tag": {script: func(f *fake) {
			f.script["eth_getBlockByNumber"] = func(params []any) (any, error) {
				if params[0] == "finalized" {
					return nil, failure{-39001, "finalized block not found"}
				}
				return f.usual("eth_getBlockByNumber", params)
			}
		}, final: none},
		"finalized above the newest": {script: func(f *fake) {
			f.script["eth_getBlockByNumber"] = func(params []any) (any, error) {
				if params[0] == "latest" {
					params = []any{"0x2", false}
				}
				return f.usual("eth_getBlockByNumber", params)
			}
			f.final = 5
		}, final: 5},
		"three confirmations":       {blocks: 3, final: 3},
		"one confirmation":          {blocks: 1, final: 5},
		"six confirmations":         {blocks: 6, final: 0},
		"seven confirmations":       {blocks: 7, final: none},
		"confirmations and the tag": {script: func(f *fake) { f.final = 5 }, blocks: 4, final: 2},
		"syncing":                   {script: func(f *fake) { f.script["eth_syncing"] = syncing("0x5", "0x500") }, bad: true},
		"filling indexes":           {script: func(f *fake) { f.script["eth_syncing"] = syncing("0x5", "0x5") }, final: none},
		"a little behind":           {script: func(f *fake) { f.script["eth_syncing"] = syncing("0x5", "0x7") }, final: none},
		"syncing without numbers":   {script: func(f *fake) { f.script["eth_syncing"] = constant(true) }, bad: true},
		"no newest block":           {script: func(f *fake) { f.script["eth_getBlockByNumber"] = constant(nil) }, bad: true},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			for range 5 {
				f.add()
			}
			if test.script != nil {
				test.script(f)
			}
			head, err := f.open(t, func(cfg *Config) { cfg.FinalityBlocks = test.blocks }).Head(t.Context())
			if (err != nil) != test.bad {
				t.Fatalf("head %+v: %v, want %v", head, err, test.bad)
			}
			want := chain.Head{Latest: f.at(5)}
			if test.final != none {
				want.Final = f.at(test.final)
			}
			if err == nil && head != want {
				t.Fatalf("head %+v, want %+v", head, want)
			}
		})
	}
}

// TestLaggingNodeIsNotTheTip has two nodes, the first of which does not advance.
func TestLaggingNodeIsNotTheTip(t *testing.T) {
	t.Parallel()
	behind, ahead := newFake(t), newFake(t)
	for range 40 {
		ahead.add()
	}
	c, err := New(Ethereum(), rpc.Config{URLs: []string{behind.url, ahead.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	head, err := c.Head(t.Context())
	if err != nil || head.Latest != ahead.at(40) {
		t.Fatalf("head %+v, %v", head, err)
	}
}

func TestFindInReplacedBlock(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	b := f.add(fakeTx{to: fakeOurs, value: "0x1"})
	id := fakeHash("tx", 1, 0)
	c := f.open(t, nil)
	if ref, err := c.Find(t.Context(), id); err != nil || ref != f.at(1) {
		t.Fatalf("found %+v, %v", ref, err)
	}
	b.block["hash"] = fakeHash("another")
	for _, txID := range []string{id, fakeHash("tx", 9, 9), "withdrawal:16", "", "0x12"} {
		if ref, err := c.Find(t.Context(), txID); !errors.Is(err, chain.ErrNoBlock) {
			t.Fatalf("%s found in %+v, %v, want %v", txID, ref, err, chain.ErrNoBlock)
		}
	}
}
