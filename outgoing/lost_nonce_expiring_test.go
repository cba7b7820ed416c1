package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar/bursartest"
)

// Where transactions expire, one that waits for a lost nonce does too, and so would whatever comes after it. Once
// nothing is open, the next one asks the chain for its nonce, which is the lost one.
func TestALostNonceIsTheNextOneWhereTransactionsExpire(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		g := r.losesANonce()
		r.Trouble = true
		r.Halt(r.FreezeOf(0)) // it would take the next nonce, and expire, in turn with the other
		r.Blocks(30)
		r.Resume(r.FreezeOf(0))
		r.Blocks(10)
		r.paidBothOnce(g)
	})
}
