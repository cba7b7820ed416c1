package tron

import (
	"encoding/hex"
	"reflect"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

// want returns the transfer expected of the block's only transaction.
func want(output uint32, to address, units uint64, contract ...address) chain.Transfer {
	t := chain.Transfer{TxID: fakeTxID(1, 0), Output: output, Address: bursar.Address{Base: to.String()},
		Amount: bursar.Units(units)}
	if len(contract) > 0 {
		t.Contract = contract[0].String()
	}
	return t
}

type scanCase struct {
	name string
	tx   fakeTx
	want []chain.Transfer
}

func rejected(o object) object { o["rejected"] = true; return o }

// nativeCases are payments of TRX and the expected transfers.
func nativeCases() []scanCase {
	ours, other, outsider, contract := fakeOurs, fakeOther, fakeOutsider, fakeContract
	through := func(steps ...any) fakeTx { return fakeTx{kind: triggerType, to: contract, sun: 100, internal: steps} }
	failed := through(internalTx("call", contract, ours, sunOf(5)))
	failed.outcome, failed.failed = "REVERT", true
	return []scanCase{
		{"a payment", fakeTx{to: ours, sun: 7}, []chain.Transfer{want(0, ours, 7)}},
		{"a payment to an outsider", fakeTx{to: outsider, from: contract, sun: 7}, nil},
		{"a payment that failed", fakeTx{to: ours, sun: 7, outcome: "FAILED", failed: true}, nil},
		{"out of energy", fakeTx{to: ours, sun: 7, outcome: "OUT_OF_ENERGY"}, nil},
		{"an unknown outcome", fakeTx{to: ours, sun: 7, outcome: "SOMETHING_NEW"}, nil},
		{"to oneself", fakeTx{to: ours, from: ours, sun: 7}, nil},
		{"nothing", fakeTx{to: ours}, nil},
		{"in small letters of another case",
			fakeTx{value: object{"owner_address": outsider.hex(), "to_address": upper(ours), "amount": 3}},
			[]chain.Transfer{want(0, ours, 3)}},
		{"by a contract", through(internalTx("call", contract, ours, sunOf(5))), []chain.Transfer{want(1, ours, 5)}},
		{"by a contract, several", through(internalTx("call", contract, ours, sunOf(5)),
			internalTx("call", contract, outsider, sunOf(1)),
			internalTx("call", contract, ours, sunOf(6)), internalTx("call", contract, other, sunOf(7))),
			[]chain.Transfer{want(1, ours, 5), want(3, ours, 6), want(4, other, 7)}},
		{"by self-destruction of a contract", through(internalTx("suicide", contract, ours, sunOf(5))),
			[]chain.Transfer{want(1, ours, 5)}},
		{"rejected", through(rejected(internalTx("call", contract, ours, sunOf(5))),
			internalTx("call", contract, ours, sunOf(6))),
			[]chain.Transfer{want(2, ours, 6)}},
		{"a failed call", failed, nil},
		{"a call without value", through(internalTx("call", contract, ours, object{})), nil},
		{"TRC-10 by a contract", through(internalTx("call", contract, ours, object{"callValue": 9, "tokenId": "1002000"})),
			nil},
		{"TRX together with TRC-10", through(internalTx("call", contract, ours, sunOf(4),
			object{"callValue": 9, "tokenId": "1002000"})),
			[]chain.Transfer{want(1, ours, 4)}},
		{"resources delegated to us", through(internalTx("delegateResourceOfEnergy", contract, ours, sunOf(5))), nil},
		{"frozen for us", through(internalTx("freezeForEnergy", contract, ours, sunOf(5))), nil},
		{"a note that is not text",
			through(object{"transferTo_address": ours.hex(), "callValueInfo": []any{sunOf(5)}, "note": "zz"}), nil},
		{"to no address", through(object{"transferTo_address": "41", "callValueInfo": []any{sunOf(5)}, "note": "63616c6c"}),
			nil},
		{"TRC-10 named like TRX", fakeTx{kind: "TransferAssetContract", value: object{
			"asset_name": hex.EncodeToString([]byte("USDT")), "owner_address": outsider.hex(), "to_address": ours.hex(),
			"amount": 1_000_000}}, nil},
		{"an unknown kind", fakeTx{kind: "SomethingNewContract",
			value: object{"to_address": ours.hex(), "amount": 5, "deep": []any{object{}}}}, nil},
		{"a kind without a value", fakeTx{kind: "ShieldedTransferContract", value: object{"spend_description": []any{}}},
			nil},
	}
}

func upper(a address) string { return "41" + hexUpper(a) }

func hexUpper(a address) string {
	const digits = "0123456789ABCDEF"
	var out []byte
	for _, b := range a {
		out = append(out, digits[b>>4], digits[b&15])
	}
	return string(out)
}

// tokenCases are events and the expected transfers.
func tokenCases() []scanCase {
	ours, outsider, token := fakeOurs, fakeOutsider, fakeToken
	called := func(logs ...any) fakeTx { return fakeTx{kind: triggerType, to: token, logs: logs} }
	spoilt := func(spoil func(o object)) fakeTx {
		o := transferLog(token, outsider, ours, 5)
		spoil(o)
		return called(o)
	}
	failed := called(transferLog(token, outsider, ours, 5))
	failed.outcome, failed.failed = "REVERT", true
	return []scanCase{
		{"a token", called(transferLog(token, outsider, ours, 5)), []chain.Transfer{want(0, ours, 5, token)}},
		{"several", called(transferLog(token, outsider, ours, 5), transferLog(token, outsider, outsider, 6),
			transferLog(token, outsider, ours, 5)),
			[]chain.Transfer{want(0, ours, 5, token), want(2, ours, 5, token)}},
		{"another contract of the same name", called(transferLog(fakeContract, outsider, ours, 5)), nil},
		{"a failed transaction", failed, nil},
		{"an amount of zero", called(transferLog(token, outsider, ours, 0)), nil},
		{"another event", spoilt(func(o object) { o["topics"].([]any)[0] = fakeHash("Approval") }), nil},
		{"no topics", spoilt(func(o object) { o["topics"] = []any{} }), nil},
		{"too few topics", spoilt(func(o object) { o["topics"] = o["topics"].([]any)[:2] }), nil},
		{"too many topics", spoilt(func(o object) { o["topics"] = append(o["topics"].([]any), fakeHash("x")) }), nil},
		{"a topic that is not an address", spoilt(func(o object) { o["topics"].([]any)[2] = "01" + topicOf(ours)[2:] }),
			nil},
		{"a topic behind 41", spoilt(func(o object) { o["topics"].([]any)[2] = topicOf(ours)[:22] + ours.hex() }), nil},
		{"no data", spoilt(func(o object) { delete(o, "data") }), nil},
		{"longer data", spoilt(func(o object) { o["data"] = o["data"].(string) + o["data"].(string) }), nil},
		{"more than all money", spoilt(func(o object) { o["data"] = "ff" + o["data"].(string)[2:] }), nil},
		{"call data alone", fakeTx{kind: triggerType,
			value: object{"owner_address": outsider.hex(), "contract_address": token.hex(),
				"data": hex.EncodeToString(transferData(ours, bursar.Units(5)))}}, nil},
		{"an invalid address", spoilt(func(o object) { o["address"] = "zz" }), nil},
		{"an address behind 41", spoilt(func(o object) {
			o["address"] = token.hex()
		}), []chain.Transfer{want(0, ours, 5, token)}},
	}
}

func TestDelivered(t *testing.T) {
	t.Parallel()
	for _, test := range append(nativeCases(), tokenCases()...) {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(test.tx)
			f.add(fakeTx{to: fakeOther, sun: 1}) // the scan goes on
			blocks := f.after(t, f.open(t, nil), fakeWatch())
			if len(blocks) != 2 || len(blocks[1].Transfers) != 1 {
				t.Fatalf("got %+v, want 2 of them and 1 of them", blocks)
			}
			if got := blocks[0].Transfers; !reflect.DeepEqual(got, test.want) {
				t.Fatalf("got %+v, want %+v", got, test.want)
			}
			if blocks[0].Time.UnixMilli() != fakeTime(1) || blocks[0].Parent != fakeID(0) {
				t.Fatalf("block %+v", blocks[0])
			}
		})
	}
}

func TestOwnAndExternal(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	f.add(
		fakeTx{from: fakeOurs, to: fakeOutsider, sun: 5, fee: 1_100_000},
		fakeTx{from: fakeOurs, kind: triggerType, to: fakeToken, outcome: "OUT_OF_ENERGY", failed: true, fee: 13_000_000},
		fakeTx{from: fakeOther, kind: "AccountPermissionUpdateContract", value: object{"owner_address": fakeOther.hex()}},
		fakeTx{from: fakeOutsider, to: fakeContract, sun: 5},
	)
	watch := fakeWatch()
	watch.AddSent(fakeTxID(1, 0), fakeTxID(1, 1))
	block := f.after(t, f.open(t, nil), watch)[0]
	included := []chain.Inclusion{
		{TxID: fakeTxID(1, 0), Fee: bursar.Units(1_100_000)},
		{TxID: fakeTxID(1, 1), Failed: true, Fee: bursar.Units(13_000_000)},
	}
	if !reflect.DeepEqual(block.Included, included) {
		t.Fatalf("included %+v, want %+v", block.Included, included)
	}
	external := []chain.ExternalSpend{{TxID: fakeTxID(1, 2),
		Base: fakeOther.String()}} // it moves nothing, but is an external spend all the same
	if !reflect.DeepEqual(block.ExternalSpends, external) {
		t.Fatalf("external spends %+v, want %+v", block.ExternalSpends, external)
	}
}

// TestResultsInAnotherOrder: results are found by id, not by place.
func TestResultsInAnotherOrder(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	b := f.add(fakeTx{to: fakeOurs, sun: 1},
		fakeTx{kind: triggerType, to: fakeToken, logs: []any{transferLog(fakeToken, fakeOutsider, fakeOurs, 2)}})
	b.infos[0], b.infos[1] = b.infos[1], b.infos[0]
	got := f.after(t, f.open(t, nil), fakeWatch())[0].Transfers
	if len(got) != 2 || got[0].TxID != fakeTxID(1, 0) || got[1].TxID != fakeTxID(1, 1) || got[1].Contract == "" {
		t.Fatalf("got %+v", got)
	}
}

// TestWatchIsAskedOnce: an address is looked up once in a block, however often it occurs.
func TestWatchIsAskedOnce(t *testing.T) {
	t.Parallel()
	f := newFake(t)
	var logs []any
	for range 100 {
		logs = append(logs, transferLog(fakeToken, fakeOutsider, fakeContract, 1))
	}
	f.add(fakeTx{kind: triggerType, to: fakeToken, logs: logs})
	counting := &countingWatch{Watch: fakeWatch()}
	f.after(t, f.open(t, nil), counting)
	if counting.pays > 3 {
		t.Fatalf("asked %d times, want at most 3", counting.pays)
	}
}

type countingWatch struct {
	*chaintest.Watch
	pays int
}

func (w *countingWatch) Pays(base string) bool {
	w.pays++
	return w.Watch.Pays(base)
}

// TestAnomalousTokenEventsAreReported: an event of a listed token in a form that the standard does not define is
// credited to nobody and reported to the operator; an event that merely does not concern us is not an anomaly.
func TestAnomalousTokenEventsAreReported(t *testing.T) {
	t.Parallel()
	anomalies := []string{"too few topics", "too many topics", "a topic that is not an address", "a topic behind 41",
		"no data",
		"longer data", "more than all money"}
	for _, test := range tokenCases() {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			f := newFake(t)
			f.add(test.tx)
			var want []chain.Anomaly
			if slices.Contains(anomalies, test.name) {
				want = []chain.Anomaly{{TxID: fakeTxID(1, 0), Contract: fakeToken.String(), What: unknownEvent}}
			}
			if blocks := f.after(t, f.open(t, nil), fakeWatch()); len(blocks) != 1 ||
				!reflect.DeepEqual(blocks[0].Anomalies, want) {
				t.Fatalf("got %+v, want %+v", blocks, want)
			}
		})
	}
}
