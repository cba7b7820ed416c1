package evm

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

const (
	zeroAddress  = "0x0000000000000000000000000000000000000000"
	polAddress   = "0x0000000000000000000000000000000000001010"
	borSystem    = "0xfffffffffffffffffffffffffffffffffffffffe"
	stateReceive = "0x0000000000000000000000000000000000001001"
)

// logTransfer returns the log that bor writes for native value that moves (bor 2.2.11, core/bor_fee_log.go).
func logTransfer(from, to string, value string) object {
	return object{
		"address": polAddress,
		"topics":  []string{polygonTransferTopic.String(), topicOf(polAddress), topicOf(from), topicOf(to)},
		"data":    "0x" + strings.Repeat("0", 64-len(value)) + value + strings.Repeat("00", 128),
	}
}

// stateSyncTx returns a bridge's transaction that brings nine tokens and three POL for us. traced makes its trace.
func stateSyncTx(kind string) fakeTx {
	return fakeTx{kind: kind, from: zeroAddress, to: zeroAddress, free: true, logs: []object{
		transferLog(fakeOurs, 9), logTransfer(polAddress, fakeOurs, "3"),
	}}
}

// traced turns a block's last trace into the one that bor shows since January 2026
// (eth/tracers/state_sync_tracing_hooks.go): one outer call from the system address to the state receiver, with the
// calls of the events below it.
func (b *fakeBlock) traced(calls ...object) {
	top := object{"type": "CALL", "from": borSystem, "to": stateReceive, "value": "0x0", "calls": calls}
	last := len(b.traces) - 1
	b.traces[last].(object)["result"] = top
	b.flat = b.flat[:last] // every transaction before has one
	b.flatten(last, top, []int{})
}

func polygonFake(t *testing.T, txs ...fakeTx) (*fake, *fakeBlock) {
	f := newFake(t)
	f.script["eth_chainId"] = constant("0x89")
	return f, f.add(txs...)
}

func (f *fake) polygon(t *testing.T, way Tracing) *Chain {
	return f.open(t, func(cfg *Config) {
		tokens := cfg.Tokens
		*cfg = Polygon()
		cfg.Tokens, cfg.Trace = tokens, way
	})
}

// TestCanonicalStateSync reads a Polygon block since Madhugiri (PIP-74): the bridge's transaction is of type 0x7f, its
// logs are in the bloom, and its trace comes in every form of the versions of bor. In each case, tokens and POL are
// credited once.
func TestCanonicalStateSync(t *testing.T) {
	t.Parallel()
	pay := fakeTx{to: fakeOurs, value: "0x7", logs: []object{logTransfer(fakeOutsider, fakeOurs, "7")}}
	paid := transfer(id(0), 0, fakeOurs, 7)
	brought := tokens(1, 0, 9)
	pol := transfer(id(1), 1, fakeOurs, 3)
	drop := func(list *[]any) { *list = (*list)[:len(*list)-1] }
	inner := object{"type": "CALL", "from": polAddress, "to": fakeOurs, "value": "0x3"}
	// The bridge's payment is in a trace, or else in the balances, which are compared last.
	byTrace, byBalance := []chain.Transfer{paid, pol, brought}, []chain.Transfer{paid, brought, pol}
	cases := map[string]struct {
		spoil func(f *fake, b *fakeBlock)
		want  []chain.Transfer
	}{
		"traced": {func(_ *fake, b *fakeBlock) {
			b.traced(object{"type": "CALL", "from": stateReceive, "to": polAddress, "value": "0x0", "calls": []object{inner}})
		}, byTrace},
		// bor before #2010
		"not traced": {func(_ *fake, b *fakeBlock) { drop(&b.traces); drop(&b.flat) }, byBalance},
		// a message of the zero address, which runs nothing
		"traced as if it were ordinary": {func(*fake, *fakeBlock) {}, byBalance},
		// several calls without an outer one: callTracer says so
		"failed to be traced": {func(_ *fake, b *fakeBlock) {
			b.traces[1] = object{"txHash": id(1), "error": "incorrect number of top-level calls"}
			drop(&b.flat)
		}, byBalance},
		"no tracer": {func(f *fake, _ *fakeBlock) {
			f.script["debug_traceBlockByHash"], f.script["trace_block"] = refusal(-32601, "no"), refusal(-32601, "no")
		}, byBalance},
		"receipt shown twice": {func(_ *fake, b *fakeBlock) {
			b.traced(inner)
			b.receipts = append(b.receipts, b.receipts[1])
		}, byTrace},
		"receipts one by one": {func(f *fake, b *fakeBlock) {
			b.traced(inner)
			f.script["eth_getBlockReceipts"] = refusal(-32000, "receipts length mismatch: 1 vs 2") // bor 2.2.9
		}, byTrace},
	}
	for name, test := range cases {
		for _, way := range []Tracing{TraceGeth, TraceParity} {
			t.Run(name+" by "+string(way), func(t *testing.T) {
				t.Parallel()
				f, b := polygonFake(t, pay, stateSyncTx("0x7f"))
				f.balances[fakeOurs+"@0x0"], f.balances[fakeOurs+"@0x1"] = "0x5", "0xf"
				test.spoil(f, b)
				blocks := f.after(t, f.polygon(t, way))
				if len(blocks) != 1 || !reflect.DeepEqual(blocks[0].Transfers, test.want) {
					t.Fatalf("got  %+v\nwant %+v", blocks, test.want)
				}
			})
		}
	}
}

// TestStateSyncAlone reads blocks with only the bridge's transaction: a canonical one is under the header's roots, one
// of the old form is not.
func TestStateSyncAlone(t *testing.T) {
	t.Parallel()
	for _, kind := range []string{"0x7f", "0x0"} {
		f, b := polygonFake(t, stateSyncTx(kind))
		if kind == "0x0" {
			b.block["transactionsRoot"], b.block["logsBloom"] = emptyRoot.String(), "0x"+strings.Repeat("00", 256)
		}
		b.traced(object{"type": "CALL", "from": polAddress, "to": fakeOurs, "value": "0x3"})
		blocks := f.after(t, f.polygon(t, TraceGeth))
		if want := []chain.Transfer{transfer(id(0), 1, fakeOurs, 3),
			tokens(0, 0, 9)}; !reflect.DeepEqual(blocks[0].Transfers, want) {
			t.Errorf("%s: got %+v, want %+v", kind, blocks[0].Transfers, want)
		}
	}
}

// TestCanonicalStateSyncIsChecked: its receipt is under the bloom, so omitted logs are detected.
func TestCanonicalStateSyncIsChecked(t *testing.T) {
	t.Parallel()
	f, b := polygonFake(t, plainPayment(), stateSyncTx("0x7f"))
	b.receipts[1].(object)["logs"] = []any{}
	if blocks, err := f.polygon(t, TraceGeth).After(t.Context(), f.at(0), 10,
		fakeWatch()); !errors.Is(err, rpc.ErrUnavailable) {
		t.Fatalf("got %+v, %v, want %v", blocks, err, rpc.ErrUnavailable)
	}
}

// TestOldStateSync reads a Polygon block before Madhugiri, whose bridge's transaction is in no root and not in the
// bloom, in all the forms that nodes give it.
func TestOldStateSync(t *testing.T) {
	t.Parallel()
	bridge := fakeTx{kind: "0x0", from: zeroAddress, to: zeroAddress, free: true, logs: []object{transferLog(fakeOurs, 9)}}
	paid, bridged := transfer(id(0), 0, fakeOurs, 7), tokens(1, 0, 9)
	drop := func(list *[]any) { *list = (*list)[:len(*list)-1] }
	cases := map[string]struct {
		spoil func(f *fake, b *fakeBlock)
		want  []chain.Transfer
	}{
		"everywhere": {func(*fake, *fakeBlock) {}, []chain.Transfer{paid, bridged}},
		"not traced": {func(_ *fake, b *fakeBlock) { drop(&b.traces) }, []chain.Transfer{paid, bridged}},
		"in receipts only": {func(_ *fake, b *fakeBlock) {
			b.block["transactions"] = b.block["transactions"].([]any)[:1]
		}, []chain.Transfer{paid, bridged}},
		"its receipt by itself": {func(f *fake, b *fakeBlock) {
			keep := b.receipts[1]
			drop(&b.receipts)
			f.script["eth_getTransactionReceipt"] = constant(keep)
		}, []chain.Transfer{paid, bridged}},
		"its receipt nowhere": {func(f *fake, b *fakeBlock) { drop(&b.receipts) }, []chain.Transfer{paid}},
		"its receipt an error": {func(f *fake, b *fakeBlock) {
			drop(&b.receipts)
			f.script["eth_getTransactionReceipt"] = refusal(-32000, "no")
		}, []chain.Transfer{paid}},
	}
	for name, test := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, b := polygonFake(t, plainPayment(), bridge)
			b.block["logsBloom"] = "0x" + strings.Repeat("00", 256) // the bridge's logs are not in it, and no other has any
			test.spoil(f, b)
			blocks := f.after(t, f.polygon(t, TraceAuto))
			if !reflect.DeepEqual(blocks[0].Transfers, test.want) {
				t.Fatalf("got %+v, want %+v", blocks[0].Transfers, test.want)
			}
		})
	}
}
