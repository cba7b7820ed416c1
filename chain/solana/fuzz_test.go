package solana

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// FuzzAddress checks that the parser accepts one spelling of every address.
func FuzzAddress(f *testing.F) {
	for _, v := range readVectors(f).Addresses {
		f.Add(v.Address)
	}
	r := rulesOf(f)
	f.Fuzz(func(t *testing.T, s string) {
		parsed, err := r.ParseAddress(s)
		if err == nil && parsed != (bursar.Address{Base: s}) {
			t.Fatalf("%q parses to %s", s, parsed)
		}
	})
}

// FuzzBase58 encodes and decodes any 32 and 64 bytes.
func FuzzBase58(f *testing.F) {
	f.Add(make([]byte, 64))
	f.Add(bytes.Repeat([]byte{255}, 64))
	f.Fuzz(func(t *testing.T, data []byte) {
		var k key
		copy(k[:], data)
		if back, err := parseKey(k.String()); err != nil || back != k {
			t.Fatalf("%x becomes %s, %x, %v", k, k, back, err)
		}
		var s signature
		copy(s[:], data)
		if back, err := parseSignature(s.String()); err != nil || back != s {
			t.Fatalf("%x becomes %s, %x, %v", s, s, back, err)
		}
	})
}

// FuzzInspect checks that a readable unsigned transaction pays what its digest covers: the same message gives the same
// contents.
func FuzzInspect(f *testing.F) {
	for _, v := range readVectors(f).Transactions {
		raw, err := base64.StdEncoding.DecodeString(v.Raw)
		if err != nil {
			f.Fatal(err)
		}
		f.Add((&envelope{index: 7, slot: 100, lastHeight: 250, message: raw[65:]}).pack())
	}
	m := &message{format: v1, payer: mustKey(other), limit: 1500, priority: 150,
		transfers: []transfer{{mustKey(ours), 77}}}
	f.Add((&envelope{index: 7, slot: 100, lastHeight: 250, message: m.encode()}).pack())
	r := rulesOf(f)
	f.Fuzz(func(t *testing.T, unsigned []byte) {
		contents, err := r.Inspect(unsigned)
		if err != nil {
			return
		}
		m, err := decodeMessage(contents.Inputs[0].Digest)
		if err != nil || !bytes.Equal(m.encode(), contents.Inputs[0].Digest) || len(m.transfers) != len(contents.Payments) {
			t.Fatalf("%x is %+v, %v, want %x and %v of them", unsigned, m, err, contents.Inputs[0].Digest,
				len(contents.Payments))
		}
		if contents.Inputs[0].Source.Base != m.payer.String() || contents.Weight == 0 ||
			contents.Fee.Less(bursar.Units(lamportsPerSignature)) {
			t.Fatalf("%x is %+v", unsigned, contents)
		}
	})
}

// FuzzBlock decodes possible answers of a node about a block and scans them. It must not panic, a failed transaction
// must deliver nothing, and nothing must be delivered twice.
func FuzzBlock(f *testing.F) {
	for _, test := range scanCases() {
		test.tx.name = test.name
		for _, tx := range []object{test.tx.object(), inAccounts(test.tx.object())} {
			raw, err := json.Marshal(object{"blockhash": hashOf("b"), "previousBlockhash": hashOf("a"), "parentSlot": 99,
				"blockTime":    1,
				"transactions": []object{tx}})
			if err != nil {
				f.Fatal(err)
			}
			f.Add(raw)
		}
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var b block
		if jsonv2.Unmarshal(raw, &b) != nil || b.checkWhole(100) != nil {
			return
		}
		out, err := held{100, &b}.scan(everybody{})
		if err != nil {
			return
		}
		failed := map[string]bool{}
		for i := range b.Txs {
			failed[b.Txs[i].id] = b.Txs[i].failed
		}
		for _, tr := range out.Transfers {
			if tr.Amount.IsZero() || failed[tr.TxID] && countID(&b, tr.TxID) == 1 {
				t.Fatalf("unexpected transfer %+v", tr)
			}
		}
	})
}

func countID(b *block, id string) (n int) {
	for i := range b.Txs {
		if b.Txs[i].id == id {
			n++
		}
	}
	return n
}

// everybody watches every address and has sent no transaction.
type everybody struct{ chain.Watch }

func (everybody) Pays(string) bool { return true }
func (everybody) Sent(string) bool { return false }

// A cold wallet's transaction comes from the machine that faces the network. Whatever is read is written the same.
func FuzzCold(f *testing.F) {
	honest := &coldTx{nonce: coldNonce, message: message{format: v0, payer: key{1}, blockhash: key{9}, limit: 2000,
		price: 100, transfers: []transfer{{key{2}, 5}}}}
	f.Add(honest.bytes())
	f.Fuzz(func(t *testing.T, raw []byte) {
		if tx, err := parseCold(raw); err == nil && !bytes.Equal(tx.bytes(), raw) {
			t.Errorf("%x was read, and is written as %x", raw, tx.bytes())
		}
	})
}
