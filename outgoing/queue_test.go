package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/store"
)

// If each withdrawal has a transaction of its own, one step assigns all that have a place, and no more.
func TestAStepAssignsAllThatHaveAPlace(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		var orders []bursar.Withdrawal
		for range 12 {
			orders = append(orders, r.Order(1_000_000, r.Chain.Named("outside")))
		}
		r.Step()
		taken := 0
		for _, w := range orders {
			if !r.Now(w).OutgoingID.IsZero() {
				taken++
			}
		}
		if taken != 7 { // of ten places two are kept for gas and one for refunds
			t.Errorf("%d of %d withdrawals are taken up in one step, want 7", taken, len(orders))
		}
		r.Settle()
		if got := r.Chain.Balance(r.Chain.Named("outside"), ""); got != bursar.Units(12_000_000) {
			t.Errorf("%s is paid, want %s", got, bursar.Units(12_000_000))
		}
	})
}

// While no withdrawal can be taken up, hints wait for a moment; otherwise they are followed at once.
func TestHintsWaitWhileNothingCanBeTaken(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		steps := func(what string, waits bool) {
			t.Helper()
			r.Step()
			if got := r.Sender.Rest(); (got > 0) != waits {
				t.Errorf("%s: hints wait for %s, want %v", what, got, waits)
			}
		}
		steps("with nothing to do", false)
		for range 12 {
			r.Order(1_000_000, r.Chain.Named("outside"))
		}
		steps("with places for some", false)
		steps("with no place left", true)
		r.Settle()
		steps("once all are paid", false)
		r.Do(func(tx *store.Tx) error {
			return tx.Halts().Put(ctx, store.Halt{Scope: store.HaltAll, Kind: store.HaltByOperator, Reason: "a test"})
		})
		steps("with payments halted", true)
	})
}

// If the native asset is removed from the configuration while payments of it are in progress, none is booked without
// its fee, each step returns the error, and once the asset is back everything is settled.
func TestNothingIsSettledWithoutItsFee(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		r.Settle()
		w := r.Order(100_000_000, r.Chain.Named("outside"))
		r.Step()
		r.Chain.Mine(4)
		r.CatchUp()
		known := r.Sender.Registry
		others, err := bursar.NewRegistry(nil)
		r.Must(err)
		r.Sender.Registry = others
		for range 2 {
			if err := r.Sender.Step(ctx, r.Lease); err == nil ||
				!strings.Contains(err.Error(), "no currency is configured for the native asset") {
				t.Errorf("the step returned %v, want an error and %q in it", err, "no currency is configured for the native asset")
			}
			if got := r.Now(w).Status; got != bursar.WithdrawalBroadcast {
				t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalBroadcast)
			}
		}
		r.Sender.Registry = known
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("in the end the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.Must(r.Audit())
	})
}
