package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// A service without a signer accepts withdrawals, builds and reserves nothing, and pays once it has a signer.
func TestNothingIsBuiltWithoutASigner(t *testing.T) {
	both(t, func(t *testing.T, r *harness) {
		r.Fund()
		watched := &asked{Chain: r.Chain}
		r.Sender.Chain, r.Sender.Unsignable, r.Trouble = watched, true, true
		to := r.Chain.Named("customer")
		_, err := r.Withdraw(0, 10_000_000, to)
		r.Must(err)
		r.StepAndMine(3)
		if watched.builds > 0 || watched.sent > 0 || !r.Chain.Balance(to, "").IsZero() {
			t.Errorf("without a signer there are %d builds and %d broadcasts, want none", watched.builds, watched.sent)
		}
		r.Sender.Unsignable, r.Trouble = false, false
		r.Settle()
		if got, want := r.Chain.Balance(to, ""), bursar.Units(10_000_000); got != want {
			t.Errorf("with a signer %s is paid, want %s", got, want)
		}
	})
}
