package remote_test

import (
	"context"
	"reflect"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/signer"
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
	return signer.PolicyText{Instance: "I", Text: "bursar-policy/1\n"}, nil
}

// The orders and approvals reach the signer as they were written, and its policy comes back.
func TestWhatPeopleSignedPassesThrough(t *testing.T) {
	t.Parallel()
	b, at := newBench(t), socket(t)
	r := &recorder{Signer: b.signer}
	b.server.Signer = r
	defer b.serve(at)()
	c := b.dial(at)
	want := b.unsigned
	want.Orders = []chain.Order{{Text: "bursar-order/1\n", Approvals: []chain.SignedText{{Text: "a\n<&>", Signature: "s"}}}}
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
