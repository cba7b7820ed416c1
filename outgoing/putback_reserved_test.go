package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
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

// The signer was asked for a refund and did not answer, an operator called the refund back, and the process ended
// before the journal had it that nothing was signed. The next process cannot know that: the refund may be out, and goes
// on.
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

// The process ended between the count of a signature and the signature, and an operator halted the currency before the
// next one took over: what was reserved and may never have been signed is not signed during the halt.
func TestWhatMayNeverHaveBeenSignedWaitsForItsCurrency(t *testing.T) {
	onModels(t, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Trouble = true
		r.withoutSigner(r.Step)
		p := r.spendNow(r.Now(w).OutgoingID)
		if p.Status != bursar.OutgoingReserved {
			t.Fatalf("the outgoing transaction is %s, want %s", p.Status, bursar.OutgoingReserved)
		}
		r.Halt(byAnn(store.HaltCurrency(w.Currency)))
		r.Restart()
		r.Guarded(file)
		sign := &observed{Signer: r.Signer, outgoingID: p.ID}
		r.Sender.Signer = sign
		r.Step()
		r.Step()
		if now := r.spendNow(p.ID); sign.asked > 0 || now.Status != bursar.OutgoingReserved {
			t.Errorf("it was signed %d times and is %s, want 0 and %s", sign.asked, now.Status, bursar.OutgoingReserved)
		}
		r.Trouble = false
		r.Resume(byAnn(store.HaltCurrency(w.Currency)))
		r.Settle()
		r.holdsOnce(w)
	})
}
