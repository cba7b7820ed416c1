package xrpl

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
)

// Every parsed address is canonical: its own text parses to the same address, and the bytes of an address have one
// text.
func FuzzParseAddress(f *testing.F) {
	v := loadVectors(f)
	for _, x := range v.XAddress {
		for _, text := range []string{x.Main, x.Test, x.Classic, x.Classic + ":0", x.Classic + ":4294967295"} {
			f.Add(text)
		}
	}
	f.Add(v.Invalid[0].X)
	f.Add("rrrrrrrrrrrrrrrrrrrrrhoLvTp")
	mainnet, testnet := rules(f, Mainnet, 0), rules(f, Testnet, 1)
	f.Fuzz(func(t *testing.T, text string) {
		for _, r := range []*Rules{mainnet, testnet} {
			a, err := r.ParseAddress(text)
			if err != nil {
				continue
			}
			if again, err := r.ParseAddress(a.String()); err != nil || again != a {
				t.Fatalf("%q parses to %v, which parses to %v (%v)", text, a, again, err)
			}
			if id, err := parseClassic(a.Base); err != nil || id.String() != a.Base {
				t.Fatalf("%q has base %s, which is %s (%v)", text, a.Base, id, err)
			}
		}
	})
}

// Every accepted unsigned transaction has one encoding, and its signature covers what Inspect shows.
func FuzzInspect(f *testing.F) {
	for _, v := range loadVectors(f).Payments {
		p, err := parsePayment(unhex(f, v.SignedBlob))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(unhex(f, v.SignedBlob))
		p.Signature = nil
		f.Add(envelope{Key: chain.Hot("xrpl"), Since: p.LastLedger - 60, Payload: p.encode()}.encode())
	}
	r := rules(f, Mainnet, 0)
	f.Fuzz(func(t *testing.T, raw []byte) {
		if p, err := parsePayment(raw); err == nil && !bytes.Equal(p.encode(), raw) {
			t.Fatalf("%X is encoded as %X", raw, p.encode())
		}
		contents, err := r.Inspect(raw)
		if err != nil {
			return
		}
		e, p, err := r.unpack(raw)
		if err != nil || !bytes.Equal(e.encode(), raw) {
			t.Fatalf("%X is packed as %X (%v), want %x", raw, e.encode(), err, raw)
		}
		paid := contents.Payments[0]
		if len(contents.Payments) != 1 || paid.Amount != bursar.Units(p.Amount) || p.Flags != fullyCanonical ||
			p.LastLedger == 0 {
			t.Fatalf("%X pays %+v, want 1 of them and %v and %v and not 0", raw, contents, bursar.Units(p.Amount),
				fullyCanonical)
		}
	})
}

// No ledger, however unusual, makes the scan panic, credit an amount of zero, or credit somebody else.
func FuzzLedger(f *testing.F) {
	node := newFake(f)
	for _, tx := range []object{
		pay(object{"DestinationTag": 0}, "7000000", root(ours, 20_000_000, 27_000_000)),
		pay(nil, usd(), root(ours, 20_000_000, 20_000_000)),
		of("EscrowFinish", nil, promised("Escrow", "DeletedNode", object{"DestinationTag": 8}), root(ours, 0, 7_000_000)),
	} {
		raw, err := json.Marshal(node.add(tx))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var l ledger
		if unmarshal(raw, &l) != nil || l.sort() != nil {
			return
		}
		watch := chaintest.NewWatch(ours)
		if err := watch.Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
		block, err := scan(&l, watch)
		if err != nil {
			return
		}
		for _, transfer := range block.Transfers {
			if transfer.Amount.IsZero() || transfer.Address.Base != ours || transfer.Output != 0 {
				t.Fatalf("credited %+v, want not zero and %v and 0", transfer, ours)
			}
		}
	})
}
