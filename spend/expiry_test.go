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
