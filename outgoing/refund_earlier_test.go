package outgoing_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
)

// A refund to a sender that failed may be paid after all once its block is reorged out. A later refund of the same
// deposit is not signed before that is certain, whether it is unsigned or waits for its signature.

// reopenFirst reorgs out the block of a failed refund for good: no node has its transaction until it is sent again.
func (r *harness) reopenFirst(d bursar.Deposit, first bursar.Resolution) {
	r.T.Helper()
	r.Undo(first.TxID, first.TxID)
	r.stepUntilOpen(d)
	r.CatchUp()
}

func TestARefundWaitsWhileAnEarlierOneMayBePaid(t *testing.T) {
	for _, held := range []sim.Method{sim.Build, ""} {
		for name, failsAgain := range map[string]bool{"the earlier one is paid": false, "the earlier one fails again": true} {
			t.Run(name+" "+string(held), func(t *testing.T) {
				each(t, memoed, func(t *testing.T, r *harness) {
					d, first := r.failedRefund()
					second := r.SendBack(d, "somebody else")
					real := r.Sender.Signer
					r.HoldBack(held)
					r.Chain.ClearFaults()
					r.Sender.Signer = real
					if failsAgain {
						r.Chain.Close(r.Chain.Named("sender"))
					}
					r.reopenFirst(d, first)
					for _, when := range []string{"in no block", "in a block"} {
						r.Step()
						if n := r.Resolution(d); n.Status != bursar.ResolutionQueued || n.TxID != "" {
							t.Errorf("with the earlier one %s the later one is %s by %q, want %s and \"\"",
								when, n.Status, n.TxID, bursar.ResolutionQueued)
						}
						r.Chain.Mine(1)
					}
					r.Step()
					const why = "an earlier refund of the same deposit is no longer in a final block"
					if text := r.errors(); !strings.Contains(text, why) {
						t.Errorf("its error is %q, want one with %q", text, why)
					}
					r.Settle()
					if failsAgain {
						r.wantSender("sender", "0")
						r.wantSender("somebody else", second.Amount.String())
					} else {
						r.wantSender("sender", first.Amount.String())
						r.wantSender("somebody else", "0")
						const why = "an earlier refund of the deposit was paid after all"
						if n := r.Resolution(d); n.Status != bursar.ResolutionFailed || n.Error != why {
							t.Errorf("the later one is %s: %s, want %s and %s", n.Status, n.Error, bursar.ResolutionFailed, why)
						}
					}
					r.WantBooks("0", "0", "0")
					r.WantAlarms("deep_reorg")
					r.Must(r.Audit())
				})
			})
		}
	}
}

// If the earlier refund's block is reorged out while the later refund is signed, that signature is neither stored nor
// sent, and the journal does not keep it, which would have it signed again after a restore.
func TestARefundSignedWhileAnEarlierOneBecameOpenIsDropped(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *harness) {
		guard := r.Guarded(filepath.Join(t.TempDir(), "seed.marks"))
		d, first := r.failedRefund()
		second := r.SendBack(d, "somebody else")
		once := false
		r.Sender.Signer = busy{r.Sender.Signer, func() {
			if !once {
				once = true
				r.reopenFirst(d, first)
			}
		}}
		r.Step()
		n, text := r.Resolution(d), r.errors()
		if !once || n.Status != bursar.ResolutionQueued || !strings.Contains(text, "an earlier refund of the same deposit") {
			t.Errorf("signed %v, the later one is %s, its error is %q", once, n.Status, text)
		}
		if guard.Signed(r.Chain.Capabilities().ID, n.OutgoingID) {
			t.Error("the journal keeps what was dropped")
		}
		r.Settle()
		r.wantSender("sender", first.Amount.String())
		r.wantSender("somebody else", "0")
		if n := r.Resolution(d); n.Status != bursar.ResolutionFailed || n.ID != second.ID {
			t.Errorf("the later one is %s, want %v and %v", n.Status, bursar.ResolutionFailed, second.ID)
		}
		r.WantBooks("0", "0", "0")
		r.Must(r.Audit())
	})
}
