package signer

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func TestSigns(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	utxoRequest, nonce, sweep, topUp, ed := b.withUTXOs, b.withNonce, b.sweep, b.topUp, b.sweepOnEd25519
	tests := []struct {
		name   string
		from   func() request
		change func(*request)
	}{
		{"two payments and change", utxoRequest, nil},
		{"without change", utxoRequest, func(r *request) { r.contents.Payments = r.contents.Payments[:2] }},
		{"the same payment twice", utxoRequest, func(r *request) {
			r.request.Payments = append(r.request.Payments, r.request.Payments[0])
			r.contents.Payments = append(r.contents.Payments, r.request.Payments[0])
		}},
		{"one address twice, other amounts", utxoRequest, func(r *request) {
			r.request.Payments[1].Address = r.request.Payments[0].Address
			r.contents.Payments[0].Address = r.request.Payments[0].Address
		}},
		{"a fee at every limit", utxoRequest, func(r *request) {
			r.request.MaxFee, r.unsigned.Fee, r.contents.Fee, r.contents.Weight = bursar.Units(1000), bursar.Units(1000),
				bursar.Units(1000), 200
		}},
		{"three inputs", utxoRequest, func(r *request) {
			r.unsigned.Reservations = append(r.unsigned.Reservations, "c:0")
			r.contents.Inputs = append(r.contents.Inputs, spent(in(r.request.Change, digest(3)), "c:0", 1))
		}},
		{"coins collected", utxoRequest, func(r *request) {
			r.request.Kind, r.request.Payments = chain.KindSweep, []chain.Payment{pay(r.request.Change.Base, 1000)}
			r.contents.Payments = []chain.Payment{pay(r.request.Change.Base, 950)}
		}},
		{"tokens withdrawn", nonce, nil},
		{"a memo", nonce, func(r *request) {
			r.request.Payments[0].Address.Memo, r.request.Payments[0].Address.HasMemo = 9, true
			r.contents.Payments[0] = r.request.Payments[0]
		}},
		{"coin swept", sweep, nil},
		{"all of it", sweep, func(r *request) { r.contents.Payments[0].Amount = bursar.Units(500) }},
		{"tokens swept", sweep, func(r *request) {
			r.request.Payments[0].Contract = "token"
			r.contents.Payments = r.request.Payments
		}},
		{"gas", topUp, nil},
		{"two signatures", ed, nil},
		{"the hot key alone", ed, func(r *request) {
			r.request.Kind, r.request.From, r.request.Payments = chain.KindWithdrawal, r.contents.Inputs[0].Source,
				[]chain.Payment{pay("alice", 1)}
			r.contents.Payments, r.contents.Inputs = r.request.Payments, r.contents.Inputs[:1]
		}},
	}
	for _, test := range tests {
		r := test.from()
		if test.change != nil {
			test.change(&r)
		}
		tx, err := b.sign(r)
		if err != nil || tx.TxID != "tx" {
			t.Errorf("%s: %v, want %q", test.name, err, "tx")
			continue
		}
		if again, err := b.sign(r); err != nil || !reflect.DeepEqual(again, tx) {
			t.Errorf("%s: signed again it is %+v, %v", test.name, again, err)
		}
	}
}

// TestSignsOnlyTheRequest builds arbitrary small transactions for arbitrary requests, most of them nearly right:
// exactly those are signed that make the request's payments to external addresses and return the rest to the hot wallet
// in one output.
func TestSignsOnlyTheRequest(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	base := b.withUTXOs()
	hot, source := base.request.Change.Base, base.contents.Inputs[0].Source.Base
	payment := rapid.Custom(func(t *rapid.T) chain.Payment {
		to := rapid.SampledFrom([]string{"alice", "alice", "bob", "bob", "carol", hot, source}).Draw(t, "to")
		return pay(to, rapid.SampledFrom([]uint64{1, 1, 2, 2, 3, 0}).Draw(t, "amount"))
	})
	rapid.Check(t, func(t *rapid.T) {
		r := b.withUTXOs()
		r.request.Payments = rapid.SliceOfN(payment, 0, 5).Draw(t, "order")
		outputs := append(slices.Clone(r.request.Payments), rapid.SliceOfN(payment, 0, 1).Draw(t, "more")...)
		outputs = outputs[rapid.SampledFrom([]int{0, 0, 0, min(1, len(outputs))}).Draw(t, "dropped"):]
		if rapid.Bool().Draw(t, "change") {
			outputs = append(outputs, pay(hot, 9))
		}
		r.contents.Payments = rapid.Permutation(outputs).Draw(t, "outputs")
		_, err := b.sign(r)
		var refusal *RefusalError
		if err != nil && !errors.As(err, &refusal) {
			t.Fatal(err)
		}
		if want := fits(r, hot, source); want != (err == nil) {
			t.Fatalf("signed with %v, and that it fits is %v: order %v, outputs %v", err, want, r.request.Payments,
				r.contents.Payments)
		}
	})
}

// fits is an independent implementation of what the signer has to check.
func fits(r request, hot, source string) bool {
	count, back := map[chain.Payment]int{}, 0
	for _, p := range r.request.Payments {
		if p.Address.Base == hot || p.Address.Base == source || p.Amount.IsZero() {
			return false
		}
		count[p]++
	}
	for _, p := range r.contents.Payments {
		if p.Address.Base == hot {
			back++
		} else {
			count[p]--
		}
	}
	for _, n := range count {
		if n != 0 {
			return false
		}
	}
	return back <= 1 && len(r.request.Payments) > 0 && len(r.request.Payments) <= 4
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	keys := keysOf(t, legal, "", Mainnet)
	tests := map[string]func(*Bounds){
		"no adapter":         func(p *Bounds) { p.Signable = nil },
		"another chain":      func(p *Bounds) { p.Capabilities.ID = nonceChain },
		"unknown family":     func(p *Bounds) { p.Capabilities.Family = "dogecoin" },
		"the wrong curve":    func(p *Bounds) { p.Capabilities.Curve = chain.Ed25519 },
		"no way of spending": func(p *Bounds) { p.Capabilities.Model = "" },
		"no fee limit":       func(p *Bounds) { p.MaxFee = bursar.Amount{} },
		"negative inputs":    func(p *Bounds) { p.MaxInputs = -1 },
		"negative payments":  func(p *Bounds) { p.Capabilities.MaxPayments = -1 },
	}
	for name, spoil := range tests {
		p := boundsOf(keys, utxoChain)
		spoil(&p)
		if s, err := New(keys, map[bursar.ChainID]Bounds{utxoChain: p}); !errors.Is(err, ErrBadBounds) || s != nil {
			t.Errorf("%s: %v, want %v and nil", name, err, ErrBadBounds)
		}
	}
}

func TestSignStopsWithItsContext(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	r := b.withUTXOs()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r.unsigned.Bytes = []byte(`{}`)
	var refusal *RefusalError
	if _, err := b.signer.Sign(ctx, r.chain, r.request, r.unsigned); !errors.As(err, &refusal) {
		t.Errorf("a bad draft: %v", err)
	}
	good := b.withUTXOs()
	good.unsigned.Bytes, good.unsigned.Previous = marshal(t, good.contents), previous(good.contents)
	if tx, err := b.signer.Sign(ctx, good.chain, good.request, good.unsigned); !errors.Is(err, context.Canceled) ||
		tx.TxID != "" {
		t.Errorf("a good draft: %+v, %v, want %v and %q", tx, err, context.Canceled, "")
	}
}

// TestSignLeavesItsArguments matters because the service stores the unsigned transaction: the fake adapter overwrites
// what it is given.
func TestSignLeavesItsArguments(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	r := b.withUTXOs()
	r.unsigned.Bytes = marshal(t, r.contents)
	before := bytes.Clone(r.unsigned.Bytes)
	if _, err := b.sign(r); err != nil || !bytes.Equal(r.unsigned.Bytes, before) {
		t.Errorf("the draft was changed (%v), want %x", err, before)
	}
}

func TestSignerPassesThrough(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	ref := chain.Hot(chain.FamilyTron)
	if got := mustPublic(t, b.signer, ref); !bytes.Equal(got, mustPublic(t, b.keys, ref)) {
		t.Error("another public key")
	}
	if !bytes.Equal(b.signer.WebhookSecret(bursar.ID{1}, 2), b.keys.WebhookSecret(bursar.ID{1}, 2)) ||
		b.signer.Fingerprint() != b.keys.Fingerprint() {
		t.Error("another webhook secret or fingerprint")
	}
}

func TestRefusalText(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	r := b.withUTXOs()
	r.contents.Payments[0].Address.Base = "mallory"
	_, err := b.sign(r)
	var refusal *RefusalError
	if !errors.As(err, &refusal) || refusal.Chain != utxoChain || refusal.OutgoingID != r.request.ID ||
		!strings.Contains(err.Error(), "200") {
		t.Errorf("refused with %v", err)
	}
}

func BenchmarkSign(b *testing.B) {
	keys := keysOf(b, legal, "", Testnet)
	s, err := New(keys, map[bursar.ChainID]Bounds{utxoChain: boundsOf(keys, utxoChain)})
	if err != nil {
		b.Fatal(err)
	}
	r := (&harness{t: &testing.T{}, keys: keys, signer: s}).withUTXOs()
	r.unsigned.Bytes = marshal(b, r.contents)
	for b.Loop() {
		if _, err := s.Sign(b.Context(), r.chain, r.request, r.unsigned); err != nil {
			b.Fatal(err)
		}
	}
}
