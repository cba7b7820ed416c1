package evm

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
)

// nobody watches no address, which is the case for nearly all addresses of a block.
type nobody struct{ chain.Watch }

func (nobody) Pays(string) bool       { return false }
func (nobody) PaysFolded([]byte) bool { return false }
func (nobody) Sent(string) bool       { return false }

// busyBlock returns a typical mainnet block: 250 transactions, two thirds of them calls with 500 bytes of data and four
// logs.
func busyBlock(tb testing.TB, more ...fakeTx) (block, receipts, traces []byte) {
	tb.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	some := func(n int) string {
		var b strings.Builder
		for range n {
			fmt.Fprintf(&b, "%02x", random.IntN(256))
		}
		return b.String()
	}
	padded := func() string { return strings.Repeat("0", 24) + some(20) }
	f := newFake(tb)
	var txs []fakeTx
	for i := range 250 {
		if i%3 == 0 {
			txs = append(txs, fakeTx{from: "0x" + some(20), to: "0x" + some(20), value: "0x16345785d8a0000"})
			continue
		}
		call := fakeTx{from: "0x" + some(20), to: "0x" + some(20), input: "0x" + some(4)}
		for n := range 16 {
			if n%2 == 0 {
				call.input += padded()
			} else {
				call.input += strings.Repeat("0", 40) + some(12)
			}
		}
		for n := range 4 {
			log := transferLog("0x"+some(20), uint64(n+1))
			log["address"] = fakeToken
			if n > 0 {
				log["address"] = "0x" + some(20)
			}
			call.logs = append(call.logs, log)
			call.calls = append(call.calls, object{"type": "CALL", "from": "0x" + some(20), "to": "0x" + some(20),
				"value": "0x1",
				"input": "0x" + some(200), "output": "0x" + some(32), "gas": "0x5208", "gasUsed": "0x5208", "calls": []object{}})
		}
		txs = append(txs, call)
	}
	b := f.add(append(txs, more...)...)
	var err error
	if block, err = json.Marshal(b.block); err != nil {
		tb.Fatal(err)
	}
	if receipts, err = json.Marshal(b.receipts); err != nil {
		tb.Fatal(err)
	}
	if traces, err = json.Marshal(b.traces); err != nil {
		tb.Fatal(err)
	}
	return block, receipts, traces
}

// hold decodes and checks a block as After does. Without traces its transactions are untraced.
func hold(tb testing.TB, rules *Rules, block, receipts, traces []byte) *delivered {
	d := &delivered{}
	if err := decode(block, &d.block); err != nil {
		tb.Fatal(err)
	}
	if err := d.check(1); err != nil {
		tb.Fatal(err)
	}
	l := &receiptList{rules: rules}
	if err := l.ReadResult(reading(receipts)); err != nil {
		tb.Fatal(err)
	}
	if err := d.checkReceipts(l.list, &l.bloom); err != nil {
		tb.Fatal(err)
	}
	d.receipts = l.list
	if traces == nil {
		d.untraced = span{0, len(d.Txs)}
		return d
	}
	var calls callStream
	if err := calls.ReadResult(reading(traces)); err != nil {
		tb.Fatal(err)
	}
	if err := calls.settle(d); err != nil {
		tb.Fatal(err)
	}
	return d
}

func BenchmarkDecodeBlock(b *testing.B) {
	block, receipts, traces := busyBlock(b)
	rules := rulesOf(b, 1, fakeToken)
	b.SetBytes(int64(len(block) + len(receipts) + len(traces)))
	b.ReportAllocs()
	for b.Loop() {
		hold(b, rules, block, receipts, traces)
	}
}

func BenchmarkScanBlock(b *testing.B) {
	block, receipts, traces := busyBlock(b)
	c := &Chain{Rules: rulesOf(b, 1, fakeToken), nodes: &chain.Nodes{Log: slog.New(slog.DiscardHandler)}}
	d := hold(b, c.Rules, block, receipts, traces)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.scan(b.Context(), source{}, d, nobody{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMentions(b *testing.B) {
	block, receipts, _ := busyBlock(b)
	d := hold(b, rulesOf(b, 1, fakeToken), block, receipts, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := newScanner(d, nobody{}, nil).mentioned(nil); err != nil {
			b.Fatal(err)
		}
	}
}
