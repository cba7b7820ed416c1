package evm

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// namesOurs is call data that mentions our address.
var namesOurs = "0x12345678" + strings.Repeat("0", 24) + fakeOurs[2:]

// mixedBlock returns a chain whose first block pays us directly, in tokens, and through a contract whose call data
// mentions us.
func mixedBlock(t *testing.T) (*fake, *fakeBlock, []chain.Transfer) {
	f := newFake(t)
	b := f.add(plainPayment(),
		fakeTx{to: fakeToken, input: "0x01", logs: []object{transferLog(fakeOurs, 5)}},
		fakeTx{to: fakeContract, input: namesOurs, calls: []object{fakeCall("CALL", fakeOurs, "0x4")}})
	f.balances[fakeOurs+"@0x0"], f.balances[fakeOurs+"@0x1"] = "0x64", "0x6f" // 7 and 4 more
	return f, b, []chain.Transfer{transfer(id(0), 0, fakeOurs, 7), tokens(1, 0, 5), transfer(id(2), 1, fakeOurs, 4)}
}

// TestUntraceableBlocksPass makes an endpoint fail at one block's trace in every possible way. The block passes all the
// same, with everything that it delivered; an operator is notified if the endpoint supports tracing; and the endpoint
// stays in use.
func TestUntraceableBlocksPass(t *testing.T) {
	t.Parallel()
	const gone, failed = false, true // the ability is missing; this one trace failed
	refused := func(err error) func(*fake, *fakeBlock) {
		return func(f *fake, _ *fakeBlock) {
			no := func([]any) (any, error) { return nil, err }
			f.script["debug_traceBlockByHash"], f.script["trace_block"] = no, no
		}
	}
	says := func(code int, message string) func(*fake, *fakeBlock) { return refused(failure{code, message}) }
	both := func(spoil func(list *[]any)) func(*fake, *fakeBlock) {
		return func(_ *fake, b *fakeBlock) { spoil(&b.traces); spoil(&b.flat) }
	}
	cases := map[string]struct {
		spoil   func(f *fake, b *fakeBlock)
		alarmed bool
	}{
		"unknown method": {says(-32601, "the method debug_traceBlockByHash does not exist/is not available"), gone},
		"Alchemy's free plan": {says(-32600,
			// Agoric/agoric-sdk#12396
			"debug_traceBlockByHash is not available on the Free tier - upgrade to Pay As You Go, or Enterprise for access."),
			gone},
		"QuickNode's plan":      {says(-32601, "method debug_traceBlockByHash is not available on your plan"), gone},
		"-32008":                {says(-32008, "method is not allowed"), gone},
		"HTTP 401":              {refused(httpFailure(401)), gone},
		"HTTP 403":              {refused(httpFailure(403)), gone},
		"HTTP 405":              {refused(httpFailure(405)), gone},
		"execution timeout":     {says(-32000, "execution timeout"), failed},
		"aborted":               {says(-32000, "execution aborted (timeout = 25s)"), failed},
		"too big for a gateway": {says(-32008, "Response is too big"), failed},
		"HTTP 504":              {refused(httpFailure(504)), failed},
		"state is gone":         {says(-32000, "required historical state unavailable (reexec=128)"), failed},
		"internal error":        {says(-32603, "internal error"), failed},
		"null":                  {refused(nil), failed},
		"none":                  {both(func(list *[]any) { *list = nil }), failed},
		"one missing":           {both(func(list *[]any) { *list = (*list)[:1] }), failed},
		"one too many":          {both(func(list *[]any) { *list = append(*list, (*list)[1]) }), failed},
		"in another order":      {both(func(list *[]any) { (*list)[0], (*list)[1] = (*list)[1], (*list)[0] }), failed},
		"of another kind":       {both(func(list *[]any) { *list = []any{"0x"} }), failed},
		"of another block": {func(_ *fake, b *fakeBlock) {
			b.traces[0].(object)["txHash"] = fakeHash("other")
			b.flat[0].(object)["blockHash"] = fakeHash("other")
		}, failed},
		"of another sender": {func(_ *fake, b *fakeBlock) {
			b.traces[0].(object)["result"].(object)["from"] = fakeContract
			b.flat[0].(object)["traceAddress"] = []int{0}
		}, failed},
		"one transaction failed": {func(_ *fake, b *fakeBlock) {
			b.traces[1] = object{"txHash": id(1), "error": "execution timeout"}
			b.flat = b.flat[:1]
		}, failed},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, way := range []Tracing{TraceAuto, TraceGeth, TraceParity} {
				f, b, want := mixedBlock(t)
				test.spoil(f, b)
				c := f.open(t, func(cfg *Config) { cfg.Trace = way })
				blocks := f.after(t, c)
				if len(blocks) != 1 || !reflect.DeepEqual(blocks[0].Transfers, want) {
					t.Fatalf("%s: got  %+v\nwant %+v", way, blocks, want)
				}
				alarmed := test.alarmed || way != TraceAuto // a configured but missing method is not a normal state
				if notes := blocks[0].Anomalies; len(notes) > 1 || (len(notes) == 1) != alarmed ||
					alarmed && !strings.Contains(notes[0].What, "no endpoint could trace the block") {
					t.Errorf("%s: anomalies %+v, want one: %v", way, notes, alarmed)
				}
				counts := c.Counters()
				if counts["untraced_blocks"] != 1 || counts["compared_addresses"] != 1 ||
					(counts["trace_fallbacks"] == 1) != alarmed {
					t.Errorf("%s: counted %v, want 1 and %v", way, counts, alarmed)
				}
				if state := c.Stats()[0].State; state != rpc.StateUp {
					t.Errorf("%s: the endpoint is %s, want %v", way, state, rpc.StateUp)
				}
			}
		})
	}
}

// TestAnotherEndpointTraces makes the first endpoint fail at the trace of a block that the second one can trace.
func TestAnotherEndpointTraces(t *testing.T) {
	t.Parallel()
	for name, no := range map[string]error{"not offered": errNoMethod, "too slow": failure{-32000, "execution timeout"}} {
		first, _, want := mixedBlock(t)
		second, _, _ := mixedBlock(t)
		for _, method := range []string{"debug_traceBlockByHash", "trace_block"} {
			first.script[method] = func([]any) (any, error) { return nil, no }
		}
		cfg := Ethereum()
		cfg.Tokens = []Token{{Contract: fakeToken, Decimals: 6}}
		c, err := New(cfg, rpc.Config{URLs: []string{first.url, second.url}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(c.Close)
		blocks := first.after(t, c)
		if !reflect.DeepEqual(blocks[0].Transfers, want) || blocks[0].Anomalies != nil ||
			c.Counters()["untraced_blocks"] != 0 || first.asked["eth_getBalance"] != 0 {
			t.Errorf("%s: got %+v, counted %v, want %+v and nil and 0", name, blocks, c.Counters(), want)
		}
	}
}

// TestTracesAreRequestedOnlyIfCodeMayPay: blocks in which no code can have sent value are not traced.
func TestTracesAreRequestedOnlyIfCodeMayPay(t *testing.T) {
	t.Parallel()
	call := fakeTx{to: fakeContract, input: "0x01"}
	failed := call
	failed.failed = true
	for name, test := range map[string]struct {
		txs    []fakeTx
		traced bool
	}{
		"nothing": {nil, false},
		"transfers": {[]fakeTx{plainPayment(), {to: fakeOutsider, from: fakeContract, value: "0x1"}},
			false},
		"a failed call":             {[]fakeTx{plainPayment(), failed}, false},
		"a call":                    {[]fakeTx{plainPayment(), call}, true},
		"a creation":                {[]fakeTx{{contract: fakeContract, input: "0x00", value: "0x1"}}, true},
		"value that makes code run": {[]fakeTx{{to: fakeContract, value: "0x1", gas: 30_000}}, true},
		"value that makes code log": {[]fakeTx{{to: fakeContract, value: "0x1",
			logs: []object{transferLog(fakeOther, 0)}}}, true},
		"a call without value or data":  {[]fakeTx{{to: fakeContract}}, true},
		"code that is cheap (EIP-2780)": {[]fakeTx{{to: fakeContract, value: "0x1", gas: 20_500}}, true},
		"transfers that the chain logs": {[]fakeTx{{to: fakeOurs, value: "0x7", gas: 204_600,
			logs: []object{systemLog(fakeOutsider, fakeOurs, "7")}}}, false},
		"calls where the chain logs all": {[]fakeTx{{to: fakeContract, input: "0x01",
			logs: []object{systemLog(fakeContract, fakeOutsider, "7")}}}, false},
	} {
		f := newFake(t)
		f.add(test.txs...)
		f.after(t, f.open(t, nil))
		if asked := f.asked["debug_traceBlockByHash"] > 0; asked != test.traced {
			t.Errorf("%s: traced %v, want %v", name, asked, test.traced)
		}
	}
}

// systemLog returns the protocol's log of native value that moves (EIP-7708).
func systemLog(from, to, value string) object {
	return object{
		"address": borSystem, "topics": []string{transferTopic.String(), topicOf(from), topicOf(to)},
		"data": "0x" + strings.Repeat("0", 64-len(value)) + value,
	}
}

// TestLoggedTransfers reads blocks of a chain that logs every transfer (EIP-7708): payments of contracts are in the
// logs, with the outputs of a trace, and nothing counts twice.
func TestLoggedTransfers(t *testing.T) {
	t.Parallel()
	own := systemLog(fakeOutsider, fakeOurs, "7")
	cases := map[string]struct {
		tx   fakeTx
		want []chain.Transfer
	}{
		"a payment": {fakeTx{to: fakeOurs, value: "0x7", logs: []object{own}},
			[]chain.Transfer{transfer(id(0), 0, fakeOurs, 7)}},
		"a contract pays twice, and others": {fakeTx{to: fakeContract, value: "0x9", input: "0x01", logs: []object{
			systemLog(fakeOutsider, fakeContract, "9"), systemLog(fakeContract, fakeOurs, "1"), transferLog(fakeOurs,
				5),
			systemLog(fakeContract, fakeOutsider, "2"), systemLog(fakeContract, fakeOurs, "1"),
		}}, []chain.Transfer{transfer(id(0), 1, fakeOurs, 1), transfer(id(0), 3, fakeOurs, 1), tokens(0, 2, 5)}},
		"the same sum directly and by code": {fakeTx{to: fakeOurs, value: "0x7", input: "0x01", logs: []object{own, own}},
			[]chain.Transfer{transfer(id(0), 0, fakeOurs, 7), transfer(id(0), 1, fakeOurs, 7)}},
		"failed": {fakeTx{to: fakeOurs, value: "0x7", failed: true, logs: []object{systemLog(fakeContract, fakeOurs, "1")}},
			nil},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(test.tx, fakeTx{from: fakeContract, to: fakeOutsider, value: "0x1",
				logs: []object{systemLog(fakeContract, fakeOutsider, "1")}})
			blocks := f.after(t, f.open(t, nil))
			if !reflect.DeepEqual(blocks[0].Transfers, test.want) {
				t.Fatalf("got  %+v\nwant %+v", blocks[0].Transfers, test.want)
			}
			if f.asked["debug_traceBlockByHash"]+f.asked["eth_getBalance"] != 0 {
				t.Error("the node was asked for data that the logs contain, want 0")
			}
		})
	}
}

// TestIncompleteLogsAreNotUsed: if no log contains a transaction's own value, the logs do not prove what code sent.
func TestIncompleteLogsAreNotUsed(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(plainPayment(), fakeTx{to: fakeContract, input: "0x01", logs: []object{systemLog(fakeContract, fakeOurs, "4")},
		calls: []object{fakeCall("CALL", fakeOurs, "0x4")}})
	blocks := f.after(t, f.open(t, nil))
	if want := []chain.Transfer{transfer(id(0), 0, fakeOurs, 7),
		transfer(id(1), 1, fakeOurs, 4)}; !reflect.DeepEqual(blocks[0].Transfers,
		want) || f.asked["debug_traceBlockByHash"] != 1 {
		t.Fatalf("got %+v, want %+v and 1", blocks[0].Transfers, want)
	}
}

// TestUnexplainedLossIsAnAnomaly: a balance below the one that the known movements explain is reported to an operator,
// and credits nothing.
func TestUnexplainedLossIsAnAnomaly(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(fakeTx{to: fakeContract, input: namesOurs})
	f.balances[fakeOurs+"@0x0"], f.balances[fakeOurs+"@0x1"] = "0xa", "0x5"
	c := f.open(t, func(cfg *Config) { cfg.Trace = TraceNone })
	blocks := f.after(t, c)
	if notes := blocks[0].Anomalies; len(notes) != 1 ||
		!strings.Contains(notes[0].What, "our address "+base(fakeOurs)+" lost 5 wei") || blocks[0].Transfers != nil ||
		c.Counters()["unexplained_losses"] != 1 {
		t.Fatalf("got %+v, counted %v", blocks, c.Counters())
	}
}

// TestUnavailableBalancesPassWithAnAnomaly: while the reason may be temporary, the block is retried; then it passes
// with an anomaly.
func TestUnavailableBalancesPassWithAnAnomaly(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(fakeTx{to: fakeContract, input: namesOurs})
	f.script["eth_getBalance"] = refusal(-32000, "internal error")
	c := f.open(t, func(cfg *Config) { cfg.Trace = TraceNone })
	for range maxTries - 1 {
		var answered *rpc.Error
		if blocks, err := c.After(t.Context(), f.at(0), 10, fakeWatch()); !errors.As(err, &answered) {
			t.Fatalf("got %+v, %v", blocks, err)
		}
	}
	blocks := f.after(t, c)
	if notes := blocks[0].Anomalies; len(notes) != 1 || !strings.Contains(notes[0].What,
		"balances of 1 of our addresses") ||
		c.Counters()["uncompared_addresses"] != 1 {
		t.Fatalf("got %+v, counted %v, want 1 of them and %q in it and 1", blocks, c.Counters(),
			"balances of 1 of our addresses")
	}
}
