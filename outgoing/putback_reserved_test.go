package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
)

// The older database has a transaction that was reserved and not signed yet, and its block is recognised before it is
// put back. On a chain without nonces the two share nothing that shows it, so the journal says it: the reserved one
// ends, and is not signed again for ever.
func TestAReservedTransactionEndsOnceItsBlockIsRecognised(t *testing.T) {
	each(t, bursartest.Unnumbered, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Step()
		r.Pay(r.Wallet(0).Address, 1_000_000_000)
		r.Chain.Mine(3)
		r.Trouble = true
		r.withoutSigner(func() {
			r.Step()
			r.Step()
		})
		r.Trouble = false
		open := r.Open()
		if len(open) != 1 || open[0].Status != bursar.OutgoingReserved {
			t.Fatalf("open are %+v, want a reserved sweep", open)
		}
		before := r.Backup()
		r.Step()
		r.Chain.Mine(1)
		r.Revive(before, file)
		r.Settle()
		r.NothingOpen()
		if got := r.spendNow(open[0].ID); got.Status != bursar.OutgoingAbandoned {
			t.Errorf("the reserved one is %s: %s, want %s", got.Status, got.Error, bursar.OutgoingAbandoned)
		}
		r.Must(r.Reconcile())
		r.Must(r.Audit())
	})
}

// The signer was asked for a refund and did not answer, an operator called the refund back, and the process ended before
// the journal had it that nothing was signed. The next process cannot know that: the refund may be out, and goes on.
func TestARefundThatIsCalledBackAndMayBeOutGoesOn(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		d := r.Astray()
		r.SendBack(d, "sender")
		r.Trouble = true
		r.withoutSigner(r.Step)
		r.Trouble = false
		_, err := r.Unattributed().Cancel(ctx, d.ID, "")
		r.Must(err)
		r.Restart()
		r.Guarded(file)
		r.Settle()
		r.NothingOpen()
		n := r.Resolution(d)
		if n.Status != bursar.ResolutionDone {
			t.Errorf("the refund is %s: %s, want %s", n.Status, n.Error, bursar.ResolutionDone)
		}
		r.wantSender("sender", n.Amount.String())
		r.Must(r.Reconcile())
		r.Must(r.Audit())
	})
}
