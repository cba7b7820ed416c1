package remote_test

import (
	"context"
	"errors"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/signer/memory"
)

// recorder is a signer that notes what it is asked to sign.
type recorder struct {
	*signer.Signer
	unsigned chain.UnsignedTx
}

func (r *recorder) Sign(
	_ context.Context, _ bursar.ChainID, _ chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	r.unsigned = unsigned
	return chain.SignedTx{TxID: "tx"}, nil
}

func (r *recorder) Policy(context.Context) (signer.PolicyText, error) {
	return signer.PolicyText{Instance: "I", Text: "bursar-policy/1\n", Lost: "it is"}, nil
}

// The orders and approvals reach the signer as they were written, and its policy comes back.
func TestWhatPeopleSignedPassesThrough(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	r := &recorder{Signer: b.signer}
	b.server.Signer = r
	defer b.serve(at)()
	c := b.dial(at)
	want := b.unsigned
	want.Orders = []chain.Order{{Text: "bursar-order/1\n",
		Approvals: []chain.SignedText{{Text: "a\n<&>", Signature: "s"}}}}
	_, err := c.Sign(t.Context(), bursar.Ethereum, b.order, want)
	b.must(err)
	if !reflect.DeepEqual(r.unsigned.Orders, want.Orders) {
		t.Errorf("got %+v, want %+v", r.unsigned.Orders, want.Orders)
	}
	p, err := c.Policy(t.Context())
	if want, _ := r.Policy(t.Context()); err != nil || p != want {
		t.Errorf("got %+v, %v, want %+v", p, err, want)
	}
}

// What a service has seen of the policy goes with each request, so that a signer whose state was lost signs nothing.
// What the signer never signed changes nothing.
func TestALostPolicyIsNoticedWithTheFirstRequest(t *testing.T) {
	t.Parallel()
	b, at := newHarness(t), socket(t)
	defer b.serve(at)()
	c := b.dial(at)
	_, err := c.Hello(t.Context())
	b.must(err)
	known := memory.KnownPolicy{Version: 4, Hash: "sha256:04"}
	forged := signer.PolicyClaim{KnownPolicy: known, Signature: "00"}
	if err := c.KnowPolicy(t.Context(), forged); !errors.Is(err, signer.ErrClaim) {
		t.Errorf("got %v, want %v", err, signer.ErrClaim)
	}
	if err := b.signer.KnowPolicy(t.Context(), forged); !errors.Is(err, signer.ErrClaim) {
		t.Errorf("at the signer: got %v, want %v", err, signer.ErrClaim)
	}
	// Another signer of the same seed said so, whose state this one does not have.
	keeper := memory.NewRAM()
	b.must(keeper.Do(t.Context(), func(tx memory.Tx) error { return tx.KnowPolicy(t.Context(), known) }))
	other, err := signer.NewWithMemory(t.Context(), b.keys, nil, keeper)
	b.must(err)
	p, err := other.Policy(t.Context())
	b.must(err)
	b.must(c.KnowPolicy(t.Context(), p.Claim))
	_, err = c.Sign(t.Context(), bursar.Ethereum, b.order, b.unsigned)
	var refused *signer.RefusalError
	if !errors.As(err, &refused) || refused.Reason != signer.ReasonLost {
		t.Errorf("got %v, want a refusal for %s", err, signer.ReasonLost)
	}
	if p, err = c.Policy(t.Context()); err != nil || p.Claim.Version != 4 || p.Lost == "" {
		t.Errorf("got %+v, %v, want the loss", p, err)
	}
}
