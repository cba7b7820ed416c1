package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
)

// An older database finds a payment in a block before it is put back, so that it has another ID there. Its block is
// replaced while fees are high: its fee is bumped, since what the journal has is that payment itself. The entry leaves
// the journal once that is final.
func TestWhatABlockHadBeforeItWasPutBackIsBumped(t *testing.T) {
	onBumping(t, func(t *testing.T, r *harness) {
		file := filepath.Join(r.T.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		before := r.Backup()
		r.Step()
		first := r.Now(w)
		r.Chain.Mine(1)
		guard := r.Revive(before, file)
		r.Trouble = true
		r.withoutSigner(r.Step) // its block is recorded before it can be signed again
		r.Step()
		r.Step()
		if now := r.Now(w); now.TxID != first.TxID || now.OutgoingID == first.OutgoingID {
			t.Fatalf("the withdrawal is paid by %s, %s, want %s under another ID", now.OutgoingID, now.TxID, first.TxID)
		}
		r.Must(guard.Compare(ctx))
		r.Chain.SetRate(50)
		r.Chain.Reorg(1, first.TxID)
		r.StepAndMine(15)
		if p := r.spendNow(r.Now(w).OutgoingID); p.Status != bursar.OutgoingFinal || p.Versions < 2 {
			t.Errorf("it is %s with %d versions, want it final with a higher fee: %s", p.Status, p.Versions, p.Error)
		}
		r.holdsOnce(w)
		r.Must(guard.Compare(ctx))
		if n := len(guard.Kept().Journal); n > 0 {
			t.Errorf("the journal has %d entries, want none", n)
		}
		r.NothingOpen()
	})
}

// A replica with marks of its own leads, which lack what another one put back without its order: it does not bump the
// fee. An alarm says so, and an operator can have it made void.
func TestWhatTheLeadingMarksLackCanBeMadeVoid(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		lost, p := r.putBackWithoutOrder()
		r.Recovered()
		second := filepath.Join(r.T.TempDir(), "second")
		r.Must(r.Guard(second).Join(ctx))
		r.Restart()
		r.Guarded(second)
		r.Trouble = true
		r.StepAndMine(15)
		r.noted(p.ID, "its payments differ")
		if !r.alarmed("journal_differs") {
			t.Error("no alarm says so")
		}
		r.abandon(p.ID)
		next := r.Order(200_000_000, r.Chain.Named("next"))
		r.StepAndMine(15)
		if now := r.spendNow(p.ID); now.Status != bursar.OutgoingAbandoned {
			t.Errorf("it is %s, want %s: %s", now.Status, bursar.OutgoingAbandoned, now.Error)
		}
		if got := r.Chain.Balance(lost.Address.Base, ""); !got.IsZero() {
			t.Errorf("%s holds %s, want 0", lost.Address.Base, got)
		}
		r.wantNone("journal_differs")
		r.holdsOnce(next)
		r.NothingOpen()
	})
}
