package recovery_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/unattributed"
)

// finalRefundForgotten has a refund made that is final, so that it has left the journal, and restores a database from
// before it was requested.
func finalRefundForgotten(r *bursartest.OneChain) (d bursar.Deposit, first bursar.Resolution, txID string) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	guard := r.Guarded(file)
	r.Prepare()
	d = r.Astray()
	r.Settle()
	before := r.Backup()
	r.SendBack(d, "sender")
	r.Settle()
	if first = r.Resolution(d); first.Status != bursar.ResolutionDone {
		r.T.Fatalf("the refund is %s, want it made", first.Status)
	}
	r.Must(guard.Compare(ctx))
	if left := len(guard.Kept().Journal); left > 0 {
		r.T.Fatalf("the journal has %d entries, want none", left)
	}
	r.Revive(before, file)
	r.Follower.Wait = chain.Lifetime{Blocks: 3}
	r.CatchUp()
	r.Step()
	return d, first, first.TxID
}

// A refund was final when an older database was restored, so that the journal does not have it, and the operator says
// that it was a loss. Nobody may refund or assign the deposit again.
func TestAFinalRefundThatWasForgottenIsNotMadeAgain(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		d, first, _ := finalRefundForgotten(r)
		bearsTheLoss(r)
		onlyKept(r, d, first)
	})
}

// The same where it is requested again, for another address, before the operator has said that it was a loss. It is
// held until it is cancelled.
func TestAFinalRefundThatWasForgottenHoldsTheNextOne(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		d, first, _ := finalRefundForgotten(r)
		holdsTheNext(r, d, first)
	})
}

// The operator knows that the payment was another one, and names it: the deposit is resolved as always.
func TestANoteSaysThatAPaymentWasNoRefund(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		d, _, txID := finalRefundForgotten(r)
		bearsTheLoss(r)
		later := r.Astray()
		for _, note := range []string{"", "it was not that"} {
			_, err := r.Unattributed().AssignToAccount(ctx, d.ID, r.Accounts[0], note)
			if !errors.Is(err, unattributed.ErrTooLate) || !strings.Contains(err.Error(), txID) {
				t.Errorf("with the note %q it gives %v, want %v of %s", note, err, unattributed.ErrTooLate, txID)
			}
		}
		n, err := r.Unattributed().Refund(ctx, unattributed.RefundRequest{Deposit: d.ID, To: r.Chain.Named("other"),
			Note: "transaction " + txID + " was for something else"})
		r.Must(err)
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("other"), ""); got != n.Amount {
			t.Errorf("the other one holds %s, want %s", got, n.Amount)
		}
		if _, err := r.Unattributed().AssignToAccount(ctx, later.ID, r.Accounts[0], ""); err != nil {
			t.Errorf("to assign what came later gives %v", err)
		}
		r.Must(r.Audit())
	})
}

// The database lacks the deposit of a refund too, and reads it again under another ID. The journal has the refund by
// the transaction that the deposit came by: whatever a note says, it is not made again.
func TestARefundIsNotMadeAgainForADepositOfAnotherID(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Prepare()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 900_000_000) // operator funds for the fees
		w := r.Wallet(0)
		r.Settle()
		before := r.Backup()
		came := r.PayUnproven(w, 80_000_000)
		r.Settle()
		d := r.StrandedBy(came)
		r.SendBack(d, "sender")
		r.Step()
		first := r.Resolution(d)
		r.Chain.Forget()
		r.Revive(before, file)
		r.CatchUp()
		r.Step()
		again := r.StrandedBy(d.TxID)
		if first.TxID == "" || again.ID == d.ID {
			t.Fatalf("the refund is %q, and the deposit %s again, want it sent and another ID", first.TxID, again.ID)
		}
		note := "not " + first.TxID
		_, err := r.Unattributed().Refund(ctx,
			unattributed.RefundRequest{Deposit: again.ID, To: r.Chain.Named("other"), Note: note})
		r.Must(err)
		bearsTheLoss(r)
		for range 12 {
			r.Step()
			r.Chain.Mine(1)
		}
		if got := r.Chain.Balance(r.Chain.Named("other"), ""); !got.IsZero() {
			t.Errorf("it was refunded again: %s", got)
		}
		_, err = r.Unattributed().Cancel(ctx, again.ID, "")
		r.Must(err)
		r.Step()
		if _, err := r.Unattributed().AssignToAccount(ctx, again.ID, r.Accounts[0], note); !errors.Is(err,
			unattributed.ErrTooLate) {
			t.Errorf("to assign it gives %v, want %v", err, unattributed.ErrTooLate)
		}
		onlyKept(r, again, first)
	})
}
