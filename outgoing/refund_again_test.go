package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// A refund to a sender that was final is reorged out and expires before it is included again: another transaction pays
// the sender.
func TestASettledRefundThatExpiresAfterAllIsMadeAgain(t *testing.T) {
	config := memoed
	config.Expiry = 5
	each(t, config, func(t *testing.T, r *harness) {
		d := r.Astray()
		n := r.SendBack(d, "sender")
		r.Settle()
		first := r.Resolution(d).TxID
		r.Undo(first, first)
		r.Lose(15)
		r.Settle()
		if now := r.Resolution(d); now.Status != bursar.ResolutionDone || now.TxID == first {
			t.Errorf("the return is %s by %s", now.Status, now.TxID)
		}
		r.wantSender("sender", n.Amount.String())
		r.Must(r.Audit())
	})
}
