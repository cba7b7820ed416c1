package signer

import (
	"bytes"
	"errors"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A signature whose S is in the upper half verifies, and nodes do not relay it: BIP 146's LOW_S, Ethereum's EIP-2.
func TestASignatureWithAHighSNeverLeaves(t *testing.T) {
	t.Parallel()
	private, _ := btcec.PrivKeyFromBytes(bytes.Repeat([]byte{7}, 32))
	public := chain.PublicKey(private.PubKey().SerializeCompressed())
	compact := ecdsa.SignCompact(private, digest(5), true)
	if _, err := plain(compact, public, digest(5)); err != nil {
		t.Fatalf("the low form: %v", err)
	}
	var s btcec.ModNScalar
	s.SetByteSlice(compact[33:])
	high := s.Negate().Bytes()
	twin := slices.Concat([]byte{31 + ((compact[0] - 31) ^ 1)}, compact[1:33],
		high[:]) // the other half has the other recovery id
	recovered, _, err := ecdsa.RecoverCompact(twin, digest(5))
	if err != nil || !bytes.Equal(recovered.SerializeCompressed(), public) {
		t.Fatalf("the high form does not verify at all: %v", err)
	}
	if signature, err := plain(twin, public, digest(5)); !errors.Is(err, errBadSignature) || signature != nil {
		t.Fatalf("the high form: %x, %v, want %v and nil", signature, err, errBadSignature)
	}
}

func TestHighS(t *testing.T) {
	t.Parallel()
	half := []byte{ // (n-1)/2 of secp256k1, the highest S that is low
		0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
		0x5d, 0x57, 0x6e, 0x73, 0x57, 0xa4, 0x50, 0x1d, 0xdf, 0xe9, 0x2f, 0x46, 0x68, 0x1b, 0x20, 0xa0,
	}
	if highS(half) {
		t.Error("half the order is called high")
	}
	above := bytes.Clone(half)
	above[31]++
	if !highS(above) {
		t.Error("one above half the order is called low")
	}
	if !highS(bytes.Repeat([]byte{0xff}, 32)) {
		t.Error("a number above the order is called low")
	}
	order := []byte{
		0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe,
		0xba, 0xae, 0xdc, 0xe6, 0xaf, 0x48, 0xa0, 0x3b, 0xbf, 0xd2, 0x5e, 0x8c, 0xd0, 0x36, 0x41, 0x42,
	}
	if !highS(order) { // one above it, and 1 once it is reduced
		t.Error("a number that is low only once it is reduced is called low")
	}
}

func TestAnEd25519SignatureThatDoesNotVerifyNeverLeaves(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	ref := chain.KeyRef{Family: chain.FamilySolana, Branch: chain.OwnBranch}
	public, err := b.keys.Public(ref)
	if err != nil {
		t.Fatal(err)
	}
	signature, err := b.keys.sign(ref, []byte("a message"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := verified(public, []byte("a message"), signature); err != nil {
		t.Fatalf("a good one: %v", err)
	}
	signature[40] ^= 1
	if s, err := verified(public, []byte("a message"), signature); !errors.Is(err, errBadSignature) || s != nil {
		t.Fatalf("a bad one: %x, %v, want %v and nil", s, err, errBadSignature)
	}
}

// An invalid request is refused before one byte of the transaction is read: an adapter that reads wrongly cannot make
// up for it.
func TestAnInvalidRequestIsRefusedUnread(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	evaluate := func(r request) error {
		c := &check{bounds: b.signer.bounds[r.chain], keys: b.keys, request: r.request, bases: map[chain.KeyRef]string{}}
		return c.requestHolds()
	}
	for name, from := range map[string]func() request{"coins": b.withUTXOs, "nonce": b.withNonce, "sweep": b.sweep,
		"top-up": b.topUp} {
		if err := evaluate(from()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	for _, test := range []refusalTest{
		{"to the hot wallet", ReasonOwnAddress, b.withUTXOs, func(r *request) {
			r.request.Payments[1] = pay(r.request.Change.Base, 50)
		}},
		{"to the payer, who is not hot", ReasonOwnAddress, b.withNonce, func(r *request) {
			r.request.From = b.source(chain.FamilyEVM, chain.DepositBranch, 4)
			r.request.Payments[0].Address.Base = r.request.From.Base
		}},
		{"to the hot wallet from elsewhere", ReasonOwnAddress, b.withNonce, func(r *request) {
			r.request.Payments[0].Address.Base = r.request.From.Base
			r.request.From = b.source(chain.FamilyEVM, chain.DepositBranch, 4)
		}},
		{"a payer of another key", ReasonSource, b.withNonce, func(r *request) { r.request.From.Key.Index = 9 }},
		{"gas in two payments", ReasonRequest, b.topUp, func(r *request) {
			r.request.Payments = append(r.request.Payments, r.request.Payments[0])
		}},
		{"gas for our own branch", ReasonRequest, b.topUp, func(r *request) {
			r.request.From = b.source(chain.FamilyEVM, chain.DepositBranch, 4)
			r.request.Change = b.source(chain.FamilyEVM, chain.OwnBranch, 1)
			r.request.Payments[0].Address.Base = r.request.Change.Base
		}},
	} {
		r := test.from()
		test.spoil(&r)
		var refusal *RefusalError
		if err := evaluate(r); !errors.As(err, &refusal) || refusal.Reason != test.reason {
			t.Errorf("%s: %v, want %s", test.name, err, test.reason)
		}
	}
	several := newHarness(t, func(p *Bounds) { p.Capabilities.MaxPayments = 4 })
	r := several.topUp()
	r.request.Payments = append(r.request.Payments, r.request.Payments[0])
	r.contents.Payments = append(r.contents.Payments, r.contents.Payments[0])
	several.wantRefusals([]refusalTest{{"gas twice where many payments are allowed", ReasonRequest, func() request {
		return r
	}, func(*request) {}}})
}

// The limits themselves are allowed.
func TestLimitsAreInclusive(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	r := b.withUTXOs()
	r.unsigned.Bytes = append(marshal(t, r.contents),
		bytes.Repeat([]byte{' '}, maxUnsigned-len(marshal(t, r.contents)))...)
	if _, err := b.sign(r); err != nil {
		t.Errorf("as many bytes as are allowed: %v", err)
	}
	r.unsigned.Bytes = append(r.unsigned.Bytes, ' ')
	b.wantRefusals([]refusalTest{{"one byte more", ReasonTooLarge, func() request { return r }, func(*request) {}}})
	ed := b.sweepOnEd25519()
	message := bytes.Repeat([]byte{1}, maxMessage)
	for i := range ed.contents.Inputs {
		ed.contents.Inputs[i].Digest = message
	}
	if _, err := b.sign(ed); err != nil {
		t.Errorf("as long a message as is allowed: %v", err)
	}
}

// A signer does not modify its arguments: an adapter that writes into its argument does not change the caller's
// unsigned transaction.
func TestTheCallersUnsignedTransactionStaysAsItIs(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	r := b.withUTXOs()
	r.unsigned.Bytes = marshal(t, r.contents)
	before := bytes.Clone(r.unsigned.Bytes)
	if _, err := b.sign(r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(r.unsigned.Bytes, before) {
		t.Errorf("the fake adapter's bytes are in the caller's unsigned transaction, want %x", before)
	}
}

// A transaction that the adapter cannot read back is not the one that was inspected.
func TestASignedTransactionThatCannotBeReadIsRefused(t *testing.T) {
	t.Parallel()
	b := newHarness(t, func(p *Bounds) { p.Signable = unreadableChain{fakeChain{curve: p.Capabilities.Curve}} })
	b.wantRefusals([]refusalTest{{"unreadable", ReasonAltered, b.withUTXOs, func(*request) {}}})
}

type unreadableChain struct{ fakeChain }

func (unreadableChain) InspectSigned([]byte) (chain.Contents, error) {
	return chain.Contents{}, errors.New("no such transaction")
}

// A key without an address is not a source.
func TestAKeyWithoutAnAddressIsRefused(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	d := *b.signer.bounds[utxoChain]
	d.Signable = namelessChain{fakeChain{curve: chain.Secp256k1}}
	if base, err := d.baseOf(b.keys, chain.Hot(chain.FamilyBitcoin)); !errors.Is(err, ErrBadKeyRef) || base != "" {
		t.Fatalf("%q, %v, want %v and %q", base, err, ErrBadKeyRef, "")
	}
}

type namelessChain struct{ fakeChain }

func (namelessChain) Address(chain.PublicKey, uint32) (bursar.Address, error) {
	return bursar.Address{}, nil
}
