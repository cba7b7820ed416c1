package outgoing_test

import (
	"errors"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/signer"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// What was taken up and cannot be signed, as with one above the signer's limit, is called back like any other that is
// not signed; who shared its transaction is paid all the same.
func TestAWithdrawalThatWaitsIsCalledBack(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		limit := map[string]bursar.Amount{"": bursar.Units(1_000_000)}
		var err error
		r.signer, err = signer.New(r.keys.Keys,
			map[bursar.ChainID]signer.Policy{r.chain.Capabilities().ID: {Capabilities: r.chain.Capabilities(), Signable: r.chain,
				MaxFee: bursar.Units(1 << 30), Hourly: limit}})
		r.must(err)
		r.restart()
		r.fund()
		had := r.available(0)
		held, err := r.withdraw(0, 1_000_001, r.chain.Named("held"))
		r.must(err)
		paid, err := r.withdraw(0, 300_000, r.chain.Named("paid"))
		r.must(err)
		r.trouble = true // what is refused is an error of the step
		for range 3 {    // together first, where a transaction can pay both, then alone
			r.step()
		}
		r.trouble = false
		if w, err := r.withdrawals.Cancel(ctx, held.ID); err != nil || w.Status != bursar.WithdrawalCancelled {
			t.Fatalf("%s, %v", w.Status, err)
		}
		if w, err := r.withdrawals.Cancel(ctx, held.ID); !errors.Is(err, withdrawal.ErrTooLate) {
			t.Errorf("cancelled twice: %s, %v", w.Status, err)
		}
		r.settle()
		if got := r.chain.Balance(r.chain.Named("held"), ""); !got.IsZero() {
			t.Errorf("%s was paid of what is cancelled", got)
		}
		if got := r.chain.Balance(r.chain.Named("paid"), ""); got != paid.Amount {
			t.Errorf("%s was paid of the other", got)
		}
		spent, _ := paid.Amount.Add(paid.Fee)
		if want, _ := had.Sub(spent); r.available(0) != want {
			t.Errorf("available is %s, want %s", r.available(0), want)
		}
		r.view(func(tx *store.Tx) error {
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) != 0 {
				t.Errorf("alarms stay open: %+v", alarms)
			}
			return err
		})
		r.must(r.audit())
	})
}

// Anyone who cancels while the spender is at it gets the money back or is too late, and never both.
func TestCancellingRacesWithSigning(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.fund()
		had := r.available(0)
		for range 12 {
			w, err := r.withdraw(0, 300_000, r.chain.Named("outside"))
			r.must(err)
			var cancelled error
			var both sync.WaitGroup
			both.Go(func() { _, cancelled = r.withdrawals.Cancel(ctx, w.ID) })
			both.Go(func() { _ = r.sender.Step(ctx, r.lease) }) // one that loses the race notes it and goes on
			both.Wait()
			switch {
			case cancelled == nil: // nothing left
			case errors.Is(cancelled, withdrawal.ErrTooLate):
				spent, _ := w.Amount.Add(w.Fee)
				had, _ = had.Sub(spent)
			default:
				t.Fatal(cancelled)
			}
			r.settle()
			if r.available(0) != had {
				t.Fatalf("available is %s, want %s", r.available(0), had)
			}
		}
		r.must(r.audit())
	})
}

// fund gives the first account and the operator money enough for many drafts at once.
func (r *harness) fund() {
	r.t.Helper()
	r.step()
	for range 3 {
		r.pay(r.wallet(0).Address, 1_000_000_000)
		r.pay(bursar.Address{Base: r.hot.Base}, 1_000_000_000)
	}
	r.chain.Mine(3)
	r.step()
}
