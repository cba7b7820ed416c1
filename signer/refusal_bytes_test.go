package signer

import (
	"math"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// TestRefusesOverflow sums outputs past 128 bits, which only a broken adapter could read from a transaction.
func TestRefusesOverflow(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	half, err := bursar.Units(math.MaxUint64).Mul(1 << 63)
	if err != nil {
		t.Fatal(err)
	}
	b.wantRefusals([]refusalTest{{"an overflowing sweep", ReasonExternal, b.withUTXOs, func(r *request) {
		p := pay(r.request.Change.Base, 1)
		p.Amount = half
		r.request.Kind, r.request.Payments = chain.KindSweep, []chain.Payment{p}
		r.contents.Payments = []chain.Payment{p, p, p}
	}}})
}

func TestRefusesAlteredTransactions(t *testing.T) {
	t.Parallel()
	tests := map[string]func(*chain.SignedTx){
		"no id":                         func(tx *chain.SignedTx) { tx.TxID = "" },
		"no bytes":                      func(tx *chain.SignedTx) { tx.Raw = nil },
		"change to an external address": func(tx *chain.SignedTx) { tx.Change[0].Source.Base = "mallory" },
		"change by another key":         func(tx *chain.SignedTx) { tx.Change[0].Source.Key.Index = 5 },
		"more change":                   func(tx *chain.SignedTx) { tx.Change[0].Amount = bursar.Units(51) },
		"the same change once more":     func(tx *chain.SignedTx) { tx.Change = append(tx.Change, tx.Change[0]) },
	}
	for name, alter := range tests {
		b := newHarness(t, func(p *Bounds) { p.Signable = fakeChain{curve: p.Capabilities.Curve, alter: alter} })
		b.wantRefusals([]refusalTest{{name, ReasonAltered, b.withUTXOs, func(*request) {}}})
	}
	rereads := map[string]func(*chain.Contents){
		"reads otherwise":      func(c *chain.Contents) { c.Payments[0].Address.Base = "mallory" },
		"reads one more":       func(c *chain.Contents) { c.Payments = append(c.Payments, pay("mallory", 1)) },
		"reads another fee":    func(c *chain.Contents) { c.Fee = bursar.Units(801) },
		"reads in other order": func(c *chain.Contents) { c.Payments[0], c.Payments[1] = c.Payments[1], c.Payments[0] },
	}
	for name, reread := range rereads {
		b := newHarness(t, func(p *Bounds) { p.Signable = readingChain{fakeChain{curve: p.Capabilities.Curve}, reread} })
		b.wantRefusals([]refusalTest{{name, ReasonAltered, b.withUTXOs, func(*request) {}}})
	}
	b := newHarness(t, func(p *Bounds) {
		p.Signable = readingChain{fakeChain{curve: p.Capabilities.Curve}, func(c *chain.Contents) {
			c.Inputs, c.Weight = nil, 0
		}}
	})
	if _, err := b.sign(b.withUTXOs()); err != nil {
		t.Errorf("a transaction that reads the same: %v", err)
	}
}

// TestRefusesBadHardware signs with a key that no longer fits its public half.
func TestRefusesBadHardware(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	b.keys.secret.open().private[chain.FamilyBitcoin][chain.OwnBranch].SetInt(7)
	b.wantRefusals([]refusalTest{{"a broken key", ReasonSignature, b.withUTXOs, func(*request) {}}})
}
