package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A payment that has waited too long and has nothing left for a higher fee is sent again as it is: the node may have
// forgotten it.
func TestWhatCannotBeBumpedIsSentAgain(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		in, out := uint64(10_000), uint64(8_500) // what is left of the coin goes to the fee
		if r.chain.Capabilities().Model == chain.AccountModel {
			in, out = 4_000_000, 3_540_000
		}
		r.step()
		r.pay(r.wallet(0).Address, in)
		r.chain.Mine(3)
		r.step()
		to := r.chain.Named("outside")
		_, err := r.withdraw(0, out, to)
		r.must(err)
		r.step()
		r.chain.SetRate(100_000) // it waits outside of blocks
		r.chain.Mine(1 + int(r.chain.Capabilities().BumpAfter))
		r.chain.Forget()
		r.chain.SetRate(10)
		r.settle()
		if got := r.chain.Balance(to, ""); got != bursar.Units(out) {
			t.Errorf("the receiver got %s", got)
		}
		r.must(r.audit())
	})
}
