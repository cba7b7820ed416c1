package outgoing_test

import (
	"context"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/signer"
)

// full is a signer whose limits are used up until they are raised.
type full struct {
	outgoing.Signer
	asked  int
	raised bool
}

func (s *full) Sign(
	ctx context.Context, id bursar.ChainID, request chain.TxRequest, unsigned chain.UnsignedTx,
) (chain.SignedTx, error) {
	if request.Kind == chain.KindWithdrawal {
		s.asked++
	}
	if s.raised {
		return s.Signer.Sign(ctx, id, request, unsigned)
	}
	return chain.SignedTx{}, &signer.RefusalError{Chain: id, OutgoingID: request.ID, Reason: signer.ReasonQuota,
		Detail: "the week is used up"}
}

// A payment that a limit of a week holds back is not built again with every step: it waits longer each time, up to five
// minutes, and goes on within these once the limit allows it.
func TestAPaymentThatALimitHoldsBackIsNotBuiltAllTheTime(t *testing.T) {
	byClock(t, bursartest.Numbered, func(t *testing.T, r *harness, c *bursartest.Clock) {
		before, to := r.Prepare(), r.Chain.Named("outside")
		signs := &full{Signer: r.Sender.Signer}
		r.Sender.Signer = signs
		w := r.Order(300_000_000, to)
		r.Trouble = true
		for range 20 {
			r.Step()
		}
		if signs.asked != 2 {
			t.Errorf("the signer is asked %d times at once, want 2", signs.asked)
		}
		for range 60 {
			c.Advance(time.Minute)
			r.Step()
		}
		if signs.asked < 12 || signs.asked > 22 {
			t.Errorf("the signer is asked %d times within an hour, want about 17", signs.asked)
		}
		signs.raised = true
		c.Advance(5 * time.Minute)
		r.Step()
		r.Trouble = false
		r.Settle()
		r.Ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}
