package chaintest

import (
	"errors"
	"reflect"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func testTooLittleFunds(t *testing.T, h Harness) {
	d := newHarness(t, h)
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	_, err := h.Chain.Build(t.Context(), d.order(payment))
	if missing := needsFunds(err); missing.Less(d.unit) {
		t.Fatalf("an empty address drafts with %v, missing %s", err, missing)
	}
	d.fund(d.hot().Base, d.times(d.unit, 2))
	payment.Amount = d.times(d.unit, 10)
	_, err = h.Chain.Build(t.Context(), d.order(payment))
	if missing := needsFunds(err); missing.Less(d.times(d.unit, 8)) {
		t.Fatalf("two units pay ten with %v, missing %s", err, missing)
	}
}

// needsFunds returns how much of the native asset an error says is missing, and zero for any other error.
func needsFunds(err error) bursar.Amount {
	var needs *chain.NeedsFundsError
	if errors.As(err, &needs) && needs.Contract == "" {
		return needs.Missing
	}
	return bursar.Amount{}
}

func testFeeLimitIsKept(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 2))
	order := d.order(chain.Payment{Address: d.outsider(), Amount: d.unit})
	order.MaxFee = bursar.Units(1)
	unsigned, err := h.Chain.Build(t.Context(), order)
	var dear *chain.TooDearError
	if !errors.As(err, &dear) || !dear.Limit.Less(dear.Fee) {
		t.Fatalf("where one unit was allowed, it is drafted with a fee of %s and %v", unsigned.Fee, err)
	}
}

func testRefusedPayments(t *testing.T, h Harness) {
	node, able := h.Node.(Refusing)
	if !able {
		return
	}
	for _, refusal := range node.Refusals(t) {
		_, err := h.Chain.Quote(t.Context(), refusal.Payment)
		var refused *chain.RefusedError
		if !errors.As(err, &refused) {
			t.Fatalf("%+v is quoted with %v", refusal.Payment, err)
		}
		if refused.Below != refusal.Below || refused.Reason == "" {
			t.Fatalf("%+v is refused with %+v, want below %v", refusal.Payment, refused, refusal.Below)
		}
	}
}

func testWrongSignaturesAreRefused(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 3))
	unsigned := d.build(d.order(chain.Payment{Address: d.outsider(), Amount: d.unit}))
	right := d.signatures(unsigned)
	inputs := d.inspect(unsigned.Bytes).Inputs
	stranger := chain.KeyRef{Family: d.capabilities.Family, Branch: 7, Index: 7}

	foreign, flipped, short := slices.Clone(right), slices.Clone(right), slices.Clone(right)
	foreign[0] = d.keys.Sign(stranger, inputs[0].Digest)
	flipped[0] = slices.Clone(right[0])
	flipped[0][10] ^= 1
	short[0] = right[0][:40]
	other := slices.Clone(right)
	other[0] = d.keys.Sign(inputs[0].Source.Key, slices.Repeat([]byte{7}, 32))
	wrong := map[string][][]byte{
		"another key": foreign, "a flipped bit": flipped, "a short one": short, "another digest": other,
		"none": nil, "one too many": append(slices.Clone(right), right[0]),
	}
	if d.capabilities.Curve == chain.Secp256k1 {
		wrong["a high S"] = append([][]byte{highS(right[0])}, right[1:]...)
	}
	for name, signatures := range wrong {
		if tx, err := h.Chain.Assemble(unsigned, signatures); err == nil {
			t.Fatalf("%s: assembled into %s", name, tx.TxID)
		}
	}
	first, second := d.sign(unsigned), d.sign(unsigned)
	if !reflect.DeepEqual(first, second) {
		t.Fatalf("assembled twice: %+v and %+v", first, second)
	}
}

// highS returns the other signature that the same key could have made, which Bitcoin (BIP 146) does not relay and
// Ethereum (EIP-2) does not take.
func highS(signature []byte) []byte {
	var s btcec.ModNScalar
	s.SetByteSlice(signature[32:64])
	negated := s.Negate().Bytes()
	return slices.Concat(signature[:32], negated[:], []byte{signature[64] ^ 1})
}

// testDigestsBindContents flips bits of the unsigned bytes and cuts them short. Anyone who signs the same digests must
// have seen the same payments and the same fee, or a signature could be had for other ones.
func testDigestsBindContents(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 3))
	unsigned := d.build(d.order(chain.Payment{Address: d.outsider(), Amount: d.unit})).Bytes
	want := d.inspect(unsigned)
	if again := d.inspect(unsigned); !reflect.DeepEqual(again, want) {
		t.Fatalf("inspected twice: %+v and %+v", want, again)
	}
	for i := range unsigned {
		d.wantBound(unsigned[:i], want)
		for bit := range 8 {
			flipped := slices.Clone(unsigned)
			flipped[i] ^= 1 << bit
			d.wantBound(flipped, want)
		}
	}
}

func (d *harness) wantBound(unsigned []byte, want chain.Contents) {
	d.t.Helper()
	got, err := d.chain.Inspect(unsigned)
	if err != nil || !slices.EqualFunc(got.Inputs, want.Inputs, sameDigest) {
		return
	}
	if !slices.Equal(got.Payments, want.Payments) || got.Fee != want.Fee {
		d.t.Fatalf("the digests of %x stay, but\n%+v becomes\n%+v", unsigned, want, got)
	}
}

func sameDigest(a, b chain.Input) bool { return slices.Equal(a.Digest, b.Digest) }

// testFailedSpend pays an address that begins to refuse money after the unsigned transaction: the fee is gone, the
// payment is not.
func testFailedSpend(t *testing.T, h Harness) {
	node, able := h.Node.(Failing)
	if !able {
		return
	}
	d := newHarness(t, h)
	hot := d.hot().Base
	d.fund(hot, d.times(d.unit, 3))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	tx := d.sign(d.build(d.order(payment)))
	before := d.balance(hot)
	node.Close(t, payment.Address.Base)
	d.broadcast(tx)
	h.Node.Mine(t, 1)
	inclusion, _ := d.wantIncluded(d.read(), tx.TxID)
	if !inclusion.Failed || inclusion.Fee.IsZero() {
		t.Fatalf("a failed spend is included as %+v", inclusion)
	}
	d.wantAmount("our cost", d.minus(before, d.balance(hot)), inclusion.Fee)
	d.wantAmount("the outsider's gain", d.balance(payment.Address.Base), bursar.Amount{})
}
