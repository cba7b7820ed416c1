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
	_, err := h.Chain.Build(t.Context(), d.request(payment))
	if missing := needsFunds(err); missing.Less(d.unit) {
		t.Fatalf("building from an empty address gives %v with %s missing, want a unit or more", err, missing)
	}
	d.fund(d.hot().Base, d.times(d.unit, 2))
	payment.Amount = d.times(d.unit, 10)
	_, err = h.Chain.Build(t.Context(), d.request(payment))
	if missing := needsFunds(err); missing.Less(d.times(d.unit, 8)) {
		t.Fatalf("building a payment of ten units from two gives %v with %s missing, want eight units or more", err, missing)
	}
}

// needsFunds returns how much of the native asset is missing by a NeedsFundsError, and zero for any other error.
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
	request := d.request(chain.Payment{Address: d.outsider(), Amount: d.unit})
	request.MaxFee = bursar.Units(1)
	unsigned, err := h.Chain.Build(t.Context(), request)
	var dear *chain.FeeLimitError
	if !errors.As(err, &dear) || !dear.Limit.Less(dear.Fee) {
		t.Fatalf("built with a fee of %s and the error %v, want a FeeLimitError over a limit of 1", unsigned.Fee, err)
	}
}

func testRefusedPayments(t *testing.T, h Harness) {
	node := h.Node.(Refusing)
	for _, refusal := range node.Refusals(t) {
		_, err := h.Chain.Quote(t.Context(), refusal.Payment)
		var refused *chain.RefusedError
		if !errors.As(err, &refused) {
			t.Fatalf("quote of %+v gives %v, want a RefusedError", refusal.Payment, err)
		}
		if refused.Below != refusal.Below || refused.Reason == "" {
			t.Fatalf("%+v is refused with %+v, want a reason and Below %v", refusal.Payment, refused, refusal.Below)
		}
	}
}

func testWrongSignaturesAreRefused(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 3))
	unsigned := d.build(d.request(chain.Payment{Address: d.outsider(), Amount: d.unit}))
	right := d.signatures(unsigned)
	inputs := d.inspect(unsigned.Bytes).Inputs
	another := chain.KeyRef{Family: d.capabilities.Family, Branch: 7, Index: 7}

	byAnother, flipped, short := slices.Clone(right), slices.Clone(right), slices.Clone(right)
	byAnother[0] = d.keys.Sign(another, inputs[0].Digest)
	flipped[0] = slices.Clone(right[0])
	flipped[0][10] ^= 1
	short[0] = right[0][:40]
	other := slices.Clone(right)
	other[0] = d.keys.Sign(inputs[0].Source.Key, slices.Repeat([]byte{7}, 32))
	wrong := map[string][][]byte{
		"another key": byAnother, "a flipped bit": flipped, "a short one": short, "another digest": other,
		"none": nil, "one too many": append(slices.Clone(right), right[0]),
	}
	if d.capabilities.Curve == chain.Secp256k1 {
		wrong["a high S"] = append([][]byte{highS(right[0])}, right[1:]...)
	}
	for name, signatures := range wrong {
		if tx, err := h.Chain.Assemble(unsigned, signatures); err == nil {
			t.Fatalf("%s: assembled into %s, want an error", name, tx.TxID)
		}
	}
	first, second := d.sign(unsigned), d.sign(unsigned)
	if !reflect.DeepEqual(first, second) {
		t.Fatalf("assembled twice into %+v and %+v, want the same", first, second)
	}
}

// highS returns the other valid signature by the same key, which Bitcoin (BIP 146) does not relay and Ethereum (EIP-2)
// does not accept.
func highS(signature []byte) []byte {
	var s btcec.ModNScalar
	s.SetByteSlice(signature[32:64])
	negated := s.Negate().Bytes()
	return slices.Concat(signature[:32], negated[:], []byte{signature[64] ^ 1})
}

// testDigestsBindContents flips bits of the unsigned bytes and cuts them short. Bytes with the same digests must show
// the same payments and the same fee, or a signature for one payment would be valid for another.
func testDigestsBindContents(t *testing.T, h Harness) {
	d := newHarness(t, h)
	d.fund(d.hot().Base, d.times(d.unit, 3))
	unsigned := d.build(d.request(chain.Payment{Address: d.outsider(), Amount: d.unit})).Bytes
	want := d.inspect(unsigned)
	if again := d.inspect(unsigned); !reflect.DeepEqual(again, want) {
		t.Fatalf("inspected twice as %+v and %+v, want the same", want, again)
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
		d.t.Fatalf("the digests of %x are unchanged, but the contents\n%+v became\n%+v", unsigned, want, got)
	}
}

func sameDigest(a, b chain.Input) bool { return slices.Equal(a.Digest, b.Digest) }

// testFailedTransactionCostsItsFee pays an address that starts to refuse payments after the transaction was built: the
// fee is spent, the amount is not.
func testFailedTransactionCostsItsFee(t *testing.T, h Harness) {
	node := h.Node.(Failing)
	d := newHarness(t, h)
	hot := d.hot().Base
	d.fund(hot, d.times(d.unit, 3))
	payment := chain.Payment{Address: d.outsider(), Amount: d.unit}
	tx := d.sign(d.build(d.request(payment)))
	before := d.balance(hot)
	node.Close(t, payment.Address.Base)
	d.broadcast(tx)
	h.Node.Mine(t, 1)
	inclusion, _ := d.wantIncluded(d.read(), tx.TxID)
	if !inclusion.Failed || inclusion.Fee.IsZero() {
		t.Fatalf("the inclusion is %+v, want a failed one with a fee", inclusion)
	}
	d.wantAmount("cost to the hot wallet", d.minus(before, d.balance(hot)), inclusion.Fee)
	d.wantAmount("the outsider's gain", d.balance(payment.Address.Base), bursar.Amount{})
}
