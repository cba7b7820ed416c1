package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// A payment that has waited too long and has nothing left for a higher fee is sent again unchanged: the node may have
// forgotten it.
func TestAPaymentWithoutFundsForABumpIsSentAgain(t *testing.T) {
	unswept(t, func(t *testing.T, r *harness) {
		in, out := uint64(10_000), uint64(8_500) // the rest of the UTXO goes to the fee
		if r.Chain.Capabilities().Model == chain.AccountModel {
			in, out = 4_000_000, 3_540_000
		}
		r.Step()
		r.Pay(r.Wallet(0).Address, in)
		r.Chain.Mine(3)
		r.Step()
		to := r.Chain.Named("outside")
		_, err := r.Withdraw(0, out, to)
		r.Must(err)
		r.Step()
		r.Chain.SetRate(100_000) // it stays unconfirmed
		r.Chain.Mine(1 + int(r.Chain.Capabilities().BumpAfter))
		r.Chain.Forget()
		r.Chain.SetRate(10)
		r.Settle()
		if got := r.Chain.Balance(to, ""); got != bursar.Units(out) {
			t.Errorf("the receiver got %s, want %s", got, bursar.Units(out))
		}
		r.Must(r.Audit())
	})
}
