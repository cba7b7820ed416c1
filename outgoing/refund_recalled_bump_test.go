package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A refund that was called back and is out is sent, and fees have risen: its fee is bumped as that of any other.
// Otherwise nothing that has a later nonce could be paid.
func TestARefundThatWasCalledBackAndIsOutIsBumped(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		d := r.Astray()
		r.Settle()
		n := r.SendBack(d, "sender")
		r.losesTheBytes(func(chain.UnsignedTx) {})
		_, err := r.Unattributed().Cancel(ctx, d.ID, "")
		r.Must(err)
		r.Step()
		p := r.Outgoing(r.Resolution(d).OutgoingID)
		if p.Status != bursar.OutgoingSent {
			t.Fatalf("it is %s, want %s: %s", p.Status, bursar.OutgoingSent, p.Error)
		}
		r.Chain.SetRate(40)
		r.StepAndMine(20)
		if p = r.Outgoing(p.ID); p.Status != bursar.OutgoingFinal || p.Versions < 2 {
			t.Errorf("it is %s with %d versions, want it final with a higher fee: %s", p.Status, p.Versions, p.Error)
		}
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != n.Amount {
			t.Errorf("the sender holds %s, want %s once", got, n.Amount)
		}
	})
}
