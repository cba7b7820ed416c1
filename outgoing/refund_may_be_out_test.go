package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A refund is signed, and the commit that stores its bytes is lost. Then it is called back, or its deposit comes back
// with another amount. The bytes may be out: the same are stored and sent, and the refund counts as paid.
func TestARefundThatMayBeOutGoesOn(t *testing.T) {
	for name, recalls := range map[string]func(r *harness, d bursar.Deposit){
		"called back": func(r *harness, d bursar.Deposit) {
			_, err := r.Unattributed().Cancel(ctx, d.ID, "")
			r.Must(err)
		},
		"of another amount": func(r *harness, d bursar.Deposit) { r.ComesBack(d, 79_000_000) },
	} {
		t.Run(name, func(t *testing.T) {
			unswept(t, func(t *testing.T, r *harness) {
				d := r.Astray()
				r.Settle()
				n := r.SendBack(d, "sender")
				r.losesTheBytes(func(chain.UnsignedTx) {})
				recalls(r, d)
				r.Step()
				p := r.Outgoing(r.Resolution(d).OutgoingID)
				if p.Status != bursar.OutgoingSent {
					t.Errorf("it is %s, want %s: %s", p.Status, bursar.OutgoingSent, p.Error)
				}
				r.Settle()
				if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != n.Amount {
					t.Errorf("the sender holds %s, want %s", got, n.Amount)
				}
				if now := r.Resolution(d); now.Status != bursar.ResolutionDone || now.TxID != p.TxID {
					t.Errorf("the refund is %s by %q, want %s by %q", now.Status, now.TxID, bursar.ResolutionDone, p.TxID)
				}
			})
		})
	}
}
