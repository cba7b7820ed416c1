package recovery_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/unattributed"
)

// sendsARefund has a refund signed and sent, guarded by the marks in a file, and makes a backup before its request.
func sendsARefund(r *bursartest.OneChain) (d bursar.Deposit, n bursar.Resolution, before, file string) {
	r.T.Helper()
	file = filepath.Join(r.T.TempDir(), "seed.marks")
	r.Guarded(file)
	r.Prepare()
	d = r.Astray()
	r.Settle()
	before = r.Backup()
	r.SendBack(d, "sender")
	r.Step()
	if n = r.Resolution(d); n.TxID == "" {
		r.T.Fatal("nothing was sent")
	}
	return d, n, before, file
}

// refundedTwice has a refund made, restores a database from before it was requested, resumes the chain with a loss, has
// the refund requested again for another address or the same, by an operator who says that the first one paid something
// else, and puts the first one back.
func refundedTwice(r *bursartest.OneChain, to string) (d bursar.Deposit, first bursar.Resolution) {
	r.T.Helper()
	d, first, before, file := sendsARefund(r)
	r.Chain.Mine(4)
	r.Restore(before)
	r.Halt(byAnn)
	r.Follower.Current = func() bool { return true }
	r.CatchUp()
	taken, err := r.SettleExternal()
	r.Must(err)
	_, err = r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named(to),
		Note: taken[0].TxID + " was not for it"})
	r.Must(err)
	r.Guarded(file)
	r.Follower.Wait = bursartest.LongWait
	r.Resume(byAnn)
	r.Step()
	return d, first
}

// A refund was made, and forgotten with its request. The operator bears a loss and requests it again, before the
// journal says that it was made: the payment counts for the second request, and is not made again.
func TestTheJournalLinksARefundThatWasRequestedAgain(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		d, first := refundedTwice(r, "sender")
		r.Settle()
		if got := r.Resolution(d); got.Status != bursar.ResolutionDone || got.TxID != first.TxID {
			t.Errorf("the refund is %s by %s, want %s by %s", got.Status, got.TxID, bursar.ResolutionDone, first.TxID)
		}
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != first.Amount {
			t.Errorf("the sender holds %s, want %s", got, first.Amount)
		}
		if lost := losses(r); !lost.IsZero() {
			t.Errorf("%s is booked as lost, want 0", lost)
		}
		r.Must(r.Audit())
		r.Must(r.Reconcile())
	})
}

// The same with another address in the second request. It cannot count as the payment, and does not pay a second time;
// once it is cancelled, the operator keeps the deposit, and may neither refund nor assign it.
func TestARefundThatTheJournalHasIsNotMadeToAnotherAddress(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		d, first := refundedTwice(r, "other")
		for range 12 {
			r.Step()
			r.Chain.Mine(1)
		}
		if got := r.Chain.Balance(r.Chain.Named("other"), ""); !got.IsZero() {
			t.Errorf("it was made again: %s", got)
		}
		if lost := losses(r); lost.Less(first.Amount) {
			t.Errorf("%s is booked as lost, want the first refund of %s", lost, first.Amount)
		}
		_, err := r.Unattributed().Cancel(ctx, d.ID, "")
		r.Must(err)
		r.Step()
		_, err = r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("other")})
		if !errors.Is(err, unattributed.ErrTooLate) {
			t.Errorf("to refund it gives %v, want %v", err, unattributed.ErrTooLate)
		}
		if _, err := r.Unattributed().AssignToAccount(ctx, d.ID, r.Accounts[0], ""); !errors.Is(err,
			unattributed.ErrTooLate) {
			t.Errorf("to assign it gives %v, want %v", err, unattributed.ErrTooLate)
		}
		_, err = r.Unattributed().Keep(ctx, d.ID, "")
		r.Must(err)
		r.Settle()
		r.Must(r.Audit())
		r.Must(r.Reconcile())
	})
}

// A refund is in no block yet, and was forgotten with its request. The journal puts it back for the request of it that
// was made since.
func TestARefundThatWasRequestedAgainIsPutBack(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		d := r.Astray()
		r.Settle()
		before := r.Backup()
		r.SendBack(d, "sender")
		r.Step()
		first := r.Resolution(d)
		r.Chain.Forget()
		r.Restore(before)
		r.SendBack(d, "sender")
		r.Guarded(file)
		r.Follower.Wait = bursartest.LongWait
		r.Step()
		r.Settle()
		if got := r.Resolution(d); got.Status != bursar.ResolutionDone || first.TxID == "" || got.TxID != first.TxID {
			t.Errorf("the refund is %s by %s, want %s by %s", got.Status, got.TxID, bursar.ResolutionDone, first.TxID)
		}
		if got := r.Chain.Balance(r.Chain.Named("sender"), ""); got != first.Amount {
			t.Errorf("the sender holds %s, want %s", got, first.Amount)
		}
		r.WantAlarms()
		r.Must(r.Audit())
		r.Must(r.Reconcile())
	})
}
