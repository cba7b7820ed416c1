package evm

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// scanCase is a possible content of block 1, and the expected transfers to us.
type scanCase struct {
	name  string
	txs   []fakeTx
	spoil func(b *fakeBlock)
	want  []chain.Transfer
}

// id returns the hash of the nth transaction of block 1.
func id(n int) string { return fakeHash("tx", 1, n) }

func tokens(n int, output uint32, amount uint64) chain.Transfer {
	expected := transfer(id(n), output, fakeOurs, amount)
	expected.Contract, expected.Internal = base(fakeToken), false
	return expected
}

func inferred(t chain.Transfer) chain.Transfer {
	t.Inferred = true
	return t
}

// plainPayment pays us seven wei.
func plainPayment() fakeTx { return fakeTx{to: fakeOurs, value: "0x7"} }

func nativeCases() []scanCase {
	pay := plainPayment()
	return []scanCase{
		{name: "empty block"},
		{"payment", []fakeTx{pay}, nil, []chain.Transfer{transfer(id(0), 0, fakeOurs, 7)}},
		{"payment to an outsider", []fakeTx{{to: fakeOutsider, from: fakeContract, value: "0x7"}}, nil, nil},
		{"failed payment", []fakeTx{{to: fakeOurs, value: "0x7", failed: true}}, nil, nil},
		{"nothing paid", []fakeTx{{to: fakeOurs}}, nil, nil},
		{"payment to itself", []fakeTx{{from: fakeOurs, to: fakeOurs, value: "0x7"}}, nil, nil},
		{"unknown type", []fakeTx{{kind: "0x7e", to: fakeOurs, value: "0x7"}, {kind: "0xc9", to: fakeOther, value: "0x8"}},
			nil,
			[]chain.Transfer{transfer(id(0), 0, fakeOurs, 7), transfer(id(1), 0, fakeOther, 8)}},
		{"endowment of one of our addresses", []fakeTx{{contract: fakeOurs, value: "0x7", input: "0x00", gas: 60_000}},
			nil,
			[]chain.Transfer{transfer(id(0), 0, fakeOurs, 7)}},
	}
}

func contractCases() []scanCase {
	pay := plainPayment()
	fail := func(call object) object { call["error"] = "execution reverted"; return call }
	return []scanCase{
		{"contract pays twice", []fakeTx{{to: fakeContract, input: "0x01", calls: []object{
			fakeCall("CALL", fakeOurs, "0x1"), fakeCall("CALL", fakeContract, "0x0", fakeCall("CALL", fakeOurs, "0x2")),
		}}}, nil, []chain.Transfer{transfer(id(0), 1, fakeOurs, 1), transfer(id(0), 2, fakeOurs, 2)}},
		{"contract pays others too", []fakeTx{pay, {to: fakeContract, input: "0x01", calls: []object{
			fakeCall("CALL", fakeOutsider, "0x1"), fakeCall("STATICCALL", "0x0000000000000000000000000000000000000001",
				"0x0"),
			fakeCall("CALL", fakeOther, "0x2"),
		}}}, nil, []chain.Transfer{transfer(id(0), 0, fakeOurs, 7), transfer(id(1), 2, fakeOther, 2)}},
		{"failed frame", []fakeTx{{to: fakeContract, input: "0x01", calls: []object{
			fail(fakeCall("CALL", fakeOurs, "0x1")), fakeCall("CALL", fakeOurs, "0x2"),
		}}}, nil, []chain.Transfer{transfer(id(0), 1, fakeOurs, 2)}},
		{"frame below a failed one", []fakeTx{{to: fakeContract, input: "0x01", calls: []object{
			fail(fakeCall("CALL", fakeContract, "0x0",
				fakeCall("CALL", fakeContract, "0x0", fakeCall("CALL", fakeOurs, "0x1")))),
			fakeCall("CALL", fakeOurs, "0x2"),
		}}}, nil, []chain.Transfer{transfer(id(0), 1, fakeOurs, 2)}},
		{"frames of a failed transaction", []fakeTx{
			{to: fakeContract, input: "0x01", failed: true, calls: []object{fakeCall("CALL", fakeOurs, "0x1")}},
			{to: fakeContract, input: "0x01"},
		}, nil, nil},
		{"frames of a failed transaction, not marked by the tracer", []fakeTx{
			{to: fakeContract, input: "0x01", failed: true, calls: []object{fakeCall("CALL", fakeOurs, "0x1")}},
			{to: fakeContract, input: "0x01", calls: []object{fakeCall("CALL", fakeOurs, "0x2")}},
		}, func(b *fakeBlock) {
			delete(b.traces[0].(object)["result"].(object), "error")
			delete(b.flat[0].(object), "error")
		}, []chain.Transfer{transfer(id(1), 1, fakeOurs, 2)}},
		{"value only shown by delegates and callcode", []fakeTx{{to: fakeContract, input: "0x01", calls: []object{
			fakeCall("DELEGATECALL", fakeOurs, "0x1", fakeCall("CALL", fakeOurs, "0x4")),
			fakeCall("CALLCODE", fakeOurs, "0x2"), fakeCall("STATICCALL", fakeOurs, "0x3"),
		}}}, nil, []chain.Transfer{transfer(id(0), 1, fakeOurs, 4)}},
		{"self-destruction and creation of contracts", []fakeTx{{to: fakeContract, input: "0x01", calls: []object{
			fakeCall("CREATE", fakeOurs, "0x1"), fakeCall("CREATE2", fakeOther, "0x2"),
			fakeCall("SELFDESTRUCT", fakeOurs, "0x3"),
		}}}, nil, []chain.Transfer{transfer(id(0), 1, fakeOurs, 1), transfer(id(0), 2, fakeOther, 2),
			transfer(id(0), 3, fakeOurs, 3)}},
	}
}

func tokenCases() []scanCase {
	pay := plainPayment()
	with := func(log object, key string, value any) object { log[key] = value; return log }
	odd := func(log object) fakeTx { return fakeTx{to: fakeToken, input: "0x01", logs: []object{log}} }
	return []scanCase{
		{"several tokens in one transaction", []fakeTx{pay, {to: fakeContract, input: "0x01", logs: []object{
			transferLog(fakeOurs, 5), transferLog(fakeOutsider, 6), transferLog(fakeOurs, 5),
		}}}, nil, []chain.Transfer{transfer(id(0), 0, fakeOurs, 7), tokens(1, 0, 5), tokens(1, 2, 5)}},
		{"tokens in a failed transaction",
			[]fakeTx{{to: fakeToken, input: "0x01", failed: true, logs: []object{transferLog(fakeOurs, 5)}}}, nil, nil},
		{"unlisted token", []fakeTx{odd(with(transferLog(fakeOurs, 5), "address", fakeContract))}, nil, nil},
		{"no tokens", []fakeTx{odd(transferLog(fakeOurs, 0))}, nil, nil},
		{"another event",
			[]fakeTx{odd(with(transferLog(fakeOurs, 5), "topics",
				[]string{fakeHash("t"), topicOf(fakeOurs), topicOf(fakeOurs)}))}, nil, nil},
		{"two topics",
			[]fakeTx{odd(with(transferLog(fakeOurs, 5), "topics", []string{transferTopic.String(), topicOf(fakeOurs)}))},
			nil, nil},
		{"four topics", []fakeTx{odd(with(transferLog(fakeOurs, 5), "topics",
			[]string{transferTopic.String(), topicOf(fakeOurs), topicOf(fakeOurs), topicOf(fakeOurs)}))}, nil, nil},
		{"no topics", []fakeTx{odd(with(transferLog(fakeOurs, 5), "topics", []string{}))}, nil, nil},
		{"receiver wider than an address", []fakeTx{odd(with(transferLog(fakeOurs, 5), "topics",
			[]string{transferTopic.String(), topicOf(fakeOutsider), "0x" + strings.Repeat("f", 24) + fakeOurs[2:]}))},
			nil, nil},
		{"no data", []fakeTx{odd(with(transferLog(fakeOurs, 5), "data", "0x"))}, nil, nil},
		{"more data", []fakeTx{odd(with(transferLog(fakeOurs, 5), "data", "0x"+strings.Repeat("00", 63)+"05"))}, nil, nil},
		{"more than 128 bits of tokens",
			[]fakeTx{odd(with(transferLog(fakeOurs, 5), "data", "0x"+strings.Repeat("ff", 32)))}, nil, nil},
	}
}

func consensusCases() []scanCase {
	pay := plainPayment()
	return []scanCase{
		{"withdrawals of validators", []fakeTx{pay}, func(b *fakeBlock) {
			b.block["withdrawals"] = []object{
				{"index": "0x10", "validatorIndex": "0x1", "address": fakeOurs, "amount": "0x2"},
				{"index": "0x11", "validatorIndex": "0x2", "address": fakeOutsider, "amount": "0x2"},
				{"index": "0x12", "validatorIndex": "0x3", "address": fakeOther, "amount": "0x0"},
			}
		}, []chain.Transfer{transfer(id(0), 0, fakeOurs, 7), transfer("withdrawal:16", 0, fakeOurs, 2*gwei)}},
		{"tips of a proposer", []fakeTx{pay}, func(b *fakeBlock) { b.block["miner"] = fakeOther },
			[]chain.Transfer{transfer(id(0), 0, fakeOurs, 7),
				inferred(transfer("fees:"+fakeHash("block", 1), 0, fakeOther, plainGas*gwei))}},
	}
}

func TestScan(t *testing.T) {
	t.Parallel()
	for _, test := range slices.Concat(nativeCases(), contractCases(), tokenCases(), consensusCases()) {
		for _, way := range []Tracing{TraceGeth, TraceParity} {
			t.Run(test.name+" by "+string(way), func(t *testing.T) {
				t.Parallel()
				f := newFake(t)
				b := f.add(test.txs...)
				if test.spoil != nil {
					test.spoil(b)
				}
				blocks := f.after(t, f.open(t, func(cfg *Config) { cfg.Trace = way }))
				if len(blocks) != 1 || !reflect.DeepEqual(blocks[0].Transfers, test.want) {
					t.Fatalf("got  %+v\nwant %+v", blocks, test.want)
				}
			})
		}
	}
}

func TestInclusionsAndExternalSpends(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(fakeTx{from: fakeOurs, to: fakeOutsider, value: "0x1"},
		fakeTx{from: fakeOther, to: fakeContract, input: "0x01", failed: true},
		fakeTx{from: fakeOther, to: fakeOurs, value: "0x9"})
	watch := fakeWatch()
	watch.AddSent(fakeHash("tx", 1, 0), fakeHash("tx", 1, 1))
	blocks, err := f.open(t, nil).After(t.Context(), f.at(0), 10, watch)
	if err != nil {
		t.Fatal(err)
	}
	want := []chain.Inclusion{
		{TxID: fakeHash("tx", 1, 0), Fee: bursar.Units(plainGas * 2 * gwei)},
		{TxID: fakeHash("tx", 1, 1), Failed: true, Fee: bursar.Units(50_000 * 2 * gwei)},
	}
	if !reflect.DeepEqual(blocks[0].Included, want) {
		t.Fatalf("included %+v, want %+v", blocks[0].Included, want)
	}
	external := []chain.ExternalSpend{{
		TxID: fakeHash("tx", 1, 2), Base: base(fakeOther), Reservations: []string{base(fakeOther) + "/0"},
		Payments: []chain.Payment{paid(fakeOurs, "", 9)}, Fee: bursar.Units(plainGas * 2 * gwei),
	}}
	if !reflect.DeepEqual(blocks[0].ExternalSpends, external) {
		t.Fatalf("external spends %+v, want %+v", blocks[0].ExternalSpends, external)
	}
}

// TestPolygonTransferIsOnePayment returns one native payment in three forms, as Polygon does: as value, as a log of
// 0x…1010, and as the top of a trace.
func TestPolygonTransferIsOnePayment(t *testing.T) {
	t.Parallel()
	for _, way := range []Tracing{TraceGeth, TraceParity, TraceNone} {
		f := newFake(t)
		f.script["eth_chainId"] = func([]any) (any, error) { return "0x89", nil }
		f.add(fakeTx{to: fakeOurs, value: "0x7", logs: []object{logTransfer(fakeOutsider, fakeOurs, "7")}, gas: 22_000})
		f.balances[fakeOurs+"@0x1"] = "0x7"
		blocks := f.after(t, f.open(t, func(cfg *Config) {
			*cfg = Polygon()
			cfg.Trace = way
		}))
		if want := []chain.Transfer{transfer(fakeHash("tx", 1, 0), 0, fakeOurs,
			7)}; !reflect.DeepEqual(blocks[0].Transfers, want) {
			t.Fatalf("%s: got %+v, want %+v", way, blocks[0].Transfers, want)
		}
	}
}

// TestAnomalousTokenEventsAreReported: an event of a listed token in a form that the standard does not define is
// credited to nobody and reported to the operator; an event that merely does not concern us is not an anomaly.
func TestAnomalousTokenEventsAreReported(t *testing.T) {
	t.Parallel()
	anomalies := []string{"two topics", "four topics", "receiver wider than an address", "no data", "more data",
		"more than 128 bits of tokens"}
	for _, test := range tokenCases() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(test.txs...)
			var want []chain.Anomaly
			if slices.Contains(anomalies, test.name) {
				want = []chain.Anomaly{{TxID: id(0), Contract: base(fakeToken), What: unknownEvent}}
			}
			if blocks := f.after(t, f.open(t, nil)); len(blocks) != 1 || !reflect.DeepEqual(blocks[0].Anomalies, want) {
				t.Fatalf("got %+v, want %+v", blocks, want)
			}
		})
	}
}

// TestAFeeOnTransferCountsAsDelivered: for a token that keeps a fee, the event's value is credited and not the
// requested one.
func TestAFeeOnTransferCountsAsDelivered(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	asked := "0xa9059cbb" + strings.Repeat("0", 24) + fakeOurs[2:] + strings.Repeat("0", 62) + "64" // transfer(ours, 100)
	f.add(fakeTx{to: fakeToken, input: asked, logs: []object{transferLog(fakeOutsider, 3), transferLog(fakeOurs, 97)}})
	blocks := f.after(t, f.open(t, nil))
	if want := []chain.Transfer{tokens(0, 1, 97)}; len(blocks) != 1 || !reflect.DeepEqual(blocks[0].Transfers, want) {
		t.Fatalf("got %+v, want %+v", blocks, want)
	}
}
