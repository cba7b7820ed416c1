package withdrawal_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// A withdrawal that is assigned and cannot be signed, such as one above the signer's limit, can be cancelled like any
// other that is not signed; the others in its batch are paid.
func TestAnAssignedWithdrawalThatIsNotSignedCanBeCancelled(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		limit := map[string]signer.Limits{"": {Hour: bursar.Units(1_000_000)}}
		var err error
		r.Signer, err = signer.New(r.Keys.Keys,
			map[bursar.ChainID]signer.Bounds{r.Chain.Capabilities().ID: {Capabilities: r.Chain.Capabilities(), Signable: r.Chain,
				MaxFee: bursar.Units(1 << 30), Payments: limit}})
		r.Must(err)
		r.Restart()
		r.Fund()
		had := r.Available(0)
		held, err := r.Withdraw(0, 1_000_001, r.Chain.Named("held"))
		r.Must(err)
		paid, err := r.Withdraw(0, 300_000, r.Chain.Named("paid"))
		r.Must(err)
		r.Trouble = true // the refusal is an error of the step
		for range 3 {    // together first, where a transaction can pay both, then alone
			r.Step()
		}
		r.Trouble = false
		if w, err := r.Withdrawals.Cancel(ctx, held.ID); err != nil || w.Status != bursar.WithdrawalCancelled {
			t.Fatalf("%s, %v, want %s", w.Status, err, bursar.WithdrawalCancelled)
		}
		if w, err := r.Withdrawals.Cancel(ctx, held.ID); !errors.Is(err, withdrawal.ErrTooLate) {
			t.Errorf("cancelled twice: %s, %v, want %v", w.Status, err, withdrawal.ErrTooLate)
		}
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("held"), ""); !got.IsZero() {
			t.Errorf("%s was paid of what is cancelled, want 0", got)
		}
		if got := r.Chain.Balance(r.Chain.Named("paid"), ""); got != paid.Amount {
			t.Errorf("%s was paid of the other, want %s", got, paid.Amount)
		}
		spent, _ := paid.Amount.Add(paid.Fee)
		if want, _ := had.Sub(spent); r.Available(0) != want {
			t.Errorf("available is %s, want %s", r.Available(0), want)
		}
		r.View(func(tx *store.Tx) error {
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) != 0 {
				t.Errorf("alarms stay open: %+v, want none", alarms)
			}
			return err
		})
		r.Must(r.Audit())
	})
}

// A customer who cancels while the sender pays gets the money back or is too late, and never both.
func TestCancellingRacesWithSigning(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Fund()
		had := r.Available(0)
		for range 12 {
			w, err := r.Withdraw(0, 300_000, r.Chain.Named("outside"))
			r.Must(err)
			var cancelled error
			var both sync.WaitGroup
			both.Go(func() { _, cancelled = r.Withdrawals.Cancel(ctx, w.ID) })
			both.Go(func() { _ = r.Sender.Step(ctx, r.Lease) }) // the process that loses the race records it and goes on
			both.Wait()
			switch {
			case cancelled == nil: // nothing left
			case errors.Is(cancelled, withdrawal.ErrTooLate):
				spent, _ := w.Amount.Add(w.Fee)
				had, _ = had.Sub(spent)
			default:
				t.Fatal(cancelled)
			}
			r.Settle()
			if r.Available(0) != had {
				t.Fatalf("available is %s, want %s", r.Available(0), had)
			}
		}
		r.Must(r.Audit())
	})
}
