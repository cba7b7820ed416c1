package evm

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/bursar/bursar/chain"
)

// FuzzBlock decodes possible answers of a node about a block and reads it as After does. It must not panic, and a
// failed transaction must deliver nothing.
func FuzzBlock(f *testing.F) {
	node := newFake(f)
	for _, test := range append(append(nativeCases(), contractCases()...), tokenCases()...) {
		b := node.add(test.txs...)
		f.Add(marshal(f, b.block), marshal(f, b.receipts), marshal(f, b.traces), marshal(f, b.flat))
	}
	f.Fuzz(func(t *testing.T, rawBlock, rawReceipts, rawTraces, rawFlat []byte) {
		c := &Chain{Rules: rulesOf(t, 1, fakeToken), nodes: &chain.Nodes{Log: slog.New(slog.DiscardHandler)}}
		d := &delivered{}
		if decode(rawBlock, &d.block) != nil || d.check(uint64(d.Number)) != nil {
			return
		}
		l := &receiptList{rules: c.Rules}
		if l.ReadResult(reading(rawReceipts)) != nil || d.checkReceipts(l.list, &l.bloom) != nil {
			return
		}
		d.receipts = l.list
		calls, flat := &callStream{}, &flatStream{block: d.Hash}
		if calls.ReadResult(reading(rawTraces)) != nil || calls.settle(d) != nil {
			d.frames, d.untraced = nil, span{}
			if flat.ReadResult(reading(rawFlat)) != nil || flat.settle(d) != nil {
				d.frames, d.untraced = nil, span{}
			}
		}
		untraced := *d
		untraced.untraced = span{0, len(d.Txs)}
		if _, err := newScanner(&untraced, everybody{}, nil).mentioned(nil); err != nil {
			t.Logf("mentions: %v", err)
		}
		block, err := c.scan(t.Context(), source{}, d, everybody{})
		if err != nil {
			return
		}
		failed := map[string]bool{}
		for i := range d.receipts {
			if !d.receipts[i].succeeded() {
				failed[d.Txs[i].Hash.String()] = true
			}
		}
		for _, transfer := range block.Transfers {
			if failed[transfer.TxID] || transfer.Amount.IsZero() {
				t.Fatalf("transfer %+v", transfer)
			}
		}
	})
}

func reading(raw []byte) *jsontext.Decoder { return jsontext.NewDecoder(bytes.NewReader(raw)) }

func marshal(f *testing.F, value any) []byte {
	raw, err := json.Marshal(value)
	if err != nil {
		f.Fatal(err)
	}
	return raw
}

// everybody watches all addresses.
type everybody struct{ chain.Watch }

func (everybody) Pays(string) bool { return true }
func (everybody) Sent(string) bool { return false }

// FuzzTransferEvent reads logs: only the one valid form is taken for a transfer.
func FuzzTransferEvent(f *testing.F) {
	f.Add(marshal(f, transferLog(fakeOurs, 5)))
	f.Add([]byte(`{"topics":[],"data":"0x"}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e event
		if e.read(reading(raw)) != nil {
			return
		}
		from, to, amount, ok := e.transfer()
		if !ok {
			return
		}
		value := wordOf(amount)
		data, err := e.Data.bytes(nil)
		if err != nil || !bytes.Equal(data, value[:]) || !bytes.Equal(e.Topics[1][12:], from[:]) ||
			!bytes.Equal(e.Topics[2][12:], to[:]) || len(e.Topics) != 3 {
			t.Fatalf("%s is taken for %s to %s, want %x and %x and %x and 3 of them", raw, amount, to, value[:], from[:], to[:])
		}
	})
}

// FuzzParseAddress: every accepted text has one canonical form, which is accepted again.
func FuzzParseAddress(f *testing.F) {
	for _, seed := range []string{fakeOurs, base(fakeOurs), "0X" + fakeOurs[2:], "", "0x", strings.ToUpper(fakeOurs)} {
		f.Add(seed)
	}
	r := rulesOf(f, 1, "")
	f.Fuzz(func(t *testing.T, text string) {
		got, err := r.ParseAddress(text)
		if err != nil {
			return
		}
		again, err := r.ParseAddress(got.Base)
		if err != nil || again != got || !strings.EqualFold(got.Base, text) {
			t.Fatalf("%q becomes %q, then %q, %v", text, got.Base, again.Base, err)
		}
	})
}

// FuzzInspect: everything that Inspect accepts is in its only encoding, so no other bytes have the same digest.
func FuzzInspect(f *testing.F) {
	r := rulesOf(f, 1, fakeToken)
	source := chain.Source{Key: chain.Hot("evm"), Base: base(fakeOurs)}
	for _, p := range soundPayloads() {
		unsigned, err := r.pack(p, source)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(unsigned)
	}
	f.Fuzz(func(t *testing.T, unsigned []byte) {
		contents, err := r.Inspect(unsigned)
		if err != nil {
			return
		}
		_, p, err := r.unpack(unsigned)
		if err != nil {
			t.Fatal(err)
		}
		again, err := r.pack(p, contents.Inputs[0].Source)
		if err != nil || !bytes.Equal(again, unsigned) {
			t.Fatalf("%x is also %x, %v, want %x", unsigned, again, err, unsigned)
		}
		payment := contents.Payments[0]
		if payment.Contract == "" && payment.Amount.Big().Cmp(p.Value) != 0 || payment.Contract != "" && p.Value.Sign() != 0 {
			t.Fatalf("%+v is paid with %s", payment, p.Value)
		}
	})
}
