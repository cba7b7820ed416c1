package reconcile_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
)

// A refund in a final block that is not settled yet explains the difference.
func TestReconciliationKnowsRefundsThatAreNotSettled(t *testing.T) {
	bursartest.OnUnswept(t, func(t *testing.T, r *bursartest.OneChain) {
		d := r.Astray()
		r.SendBack(d, "sender")
		r.Step()
		r.Chain.Mine(3)
		for more := true; more; {
			var err error
			more, err = r.Follower.Step(ctx, r.Lease)
			r.Must(err)
		}
		if n := r.Resolution(d); n.Status != bursar.ResolutionSigned ||
			r.Chain.Balance(r.Chain.Named("sender"), "").IsZero() {
			t.Fatalf("the decision is %+v", n)
		}
		r.Must(r.Reconcile())
		r.Settle()
		r.Must(r.Audit())
	})
}
