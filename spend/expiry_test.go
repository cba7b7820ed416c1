package spend_test

import (
	"testing"

	"github.com/bursar/bursar"
)

// A node took it, and no block ever did: once it is dead it is made anew and paid once.
func TestATransactionThatWasTakenAndLostIsMadeAnew(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *rig) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.lose(12)
		r.settle()
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}

// A payment that was final left the chain and died before it came back.
func TestASettledPaymentThatExpiresAfterAllIsMadeAnew(t *testing.T) {
	each(t, expiring, func(t *testing.T, r *rig) {
		before, to := r.prepare(), r.chain.Named("outside")
		w := r.order(300_000_000, to)
		r.settle()
		first := r.now(w).TxID
		r.undo(first, first)
		r.lose(15)
		r.settle()
		if r.now(w).TxID == first {
			t.Error("the same transaction came back after it expired")
		}
		r.ends(w, to, bursar.WithdrawalConfirmed, before)
	})
}
