package tron

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/bursar/bursar/chain"
)

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

// FuzzBlock decodes possible answers of a node about a block and reads it as After does. It must not panic, and a
// failed transaction must deliver nothing.
func FuzzBlock(f *testing.F) {
	node := newFake(f)
	for _, test := range append(nativeCases(), tokenCases()...) {
		b := node.add(test.tx)
		f.Add(marshal(f, b.block), marshal(f, b.infos))
	}
	f.Fuzz(func(t *testing.T, rawBlock, rawInfos []byte) {
		c := &Chain{Rules: rulesOf(t, fakeToken.String()), nodes: &chain.Nodes{Log: slog.New(slog.DiscardHandler)}}
		d := &delivered{}
		if jsonv2.Unmarshal(rawBlock, &d.block) != nil || d.check(d.height()) != nil {
			return
		}
		var list []execution
		if jsonv2.Unmarshal(rawInfos, &list) != nil {
			return
		}
		var err error
		if d.executions, err = d.join(list); err != nil {
			return
		}
		block, err := c.scan(d, everybody{})
		if err != nil {
			return
		}
		failed := map[string]bool{}
		for i := range d.Txs {
			failed[d.Txs[i].ID.String()] = !d.Txs[i].succeeded()
		}
		for _, transfer := range block.Transfers {
			if failed[transfer.TxID] || transfer.Amount.IsZero() {
				t.Fatalf("transfer %+v", transfer)
			}
		}
	})
}

// FuzzParseAddress: every accepted text has one canonical form, which is accepted again.
func FuzzParseAddress(f *testing.F) {
	for _, seed := range []string{fakeOurs.String(), fakeOurs.hex(), upper(fakeOurs), "", "T", "0x" + fakeOurs.hex()} {
		f.Add(seed)
	}
	r := rulesOf(f)
	f.Fuzz(func(t *testing.T, text string) {
		got, err := r.ParseAddress(text)
		if err != nil {
			return
		}
		again, err := r.ParseAddress(got.Base)
		if err != nil || again != got || got.Base != text &&
			addressFrom(t, got.Base).hex() != strings.TrimPrefix(strings.ToLower(text), "0x") {
			t.Fatalf("%q becomes %q, then %q, %v", text, got.Base, again.Base, err)
		}
	})
}

// FuzzInspect: everything that Inspect accepts is in its only encoding, so no other bytes have the same digest.
func FuzzInspect(f *testing.F) {
	r := rulesOf(f, fakeToken.String())
	for _, p := range soundPayloads() {
		f.Add(envelopeOf(f, p))
	}
	f.Fuzz(func(t *testing.T, unsigned []byte) {
		contents, err := r.Inspect(unsigned)
		if err != nil {
			return
		}
		_, p, err := unpack(unsigned)
		if err != nil {
			t.Fatal(err)
		}
		again, err := pack(&p, contents.Inputs[0].Source.Key)
		if err != nil || !bytes.Equal(again, unsigned) {
			t.Fatalf("%x is also %x, %v, want %x", unsigned, again, err, unsigned)
		}
		if payment := contents.Payments[0]; payment.Contract == "" && p.Data != nil ||
			payment.Contract != "" && p.Amount != 0 {
			t.Fatalf("%+v is paid by %+v", payment, p)
		}
	})
}

// FuzzTransferEvent reads logs: only the one valid form is taken for a transfer.
func FuzzTransferEvent(f *testing.F) {
	f.Add(marshal(f, transferLog(fakeToken, fakeOutsider, fakeOurs, 5)))
	f.Add([]byte(`{"topics":[]}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var e event
		if jsonv2.Unmarshal(raw, &e) != nil {
			return
		}
		_, to, amount, ok := e.transfer()
		if !ok {
			return
		}
		value, receiver := wordOf(amount), wordOfAddress(to)
		word, err1 := parseWord(e.Data)
		topic, err2 := parseWord(e.Topics[2])
		if err1 != nil || err2 != nil || word != value || topic != receiver || len(e.Topics) != 3 {
			t.Fatalf("%s is taken for %s to %s, want %v and %v and 3 of them", raw, amount, to, value, receiver)
		}
	})
}
