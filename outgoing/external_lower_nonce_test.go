package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// An external spend takes the nonce of a payment, and the payment after that one is included. A third one expires, so
// that nothing is open, and the next payment asks the chain for its nonce. Once an operator has settled the external
// spend, the next payment has the nonce after all that are used, not the one after the external spend's: that one would
// be found used, and the chain would be halted again.
func TestTheNextNonceIsNotOneOfOursAboveAnExternalSpends(t *testing.T) {
	each(t, bursartest.Expiring, func(t *testing.T, r *harness) {
		r.Prepare()
		paid := map[string]bursar.Withdrawal{}
		order := func(name string) {
			to := r.Chain.Named(name)
			paid[to] = r.Order(100_000_000, to)
		}
		order("beaten")
		order("included")
		r.Step()
		r.Chain.ExternalSpend(r.Hot.Base, chain.Payment{Address: bursar.Address{Base: r.Chain.Named("elsewhere")},
			Amount: bursar.Units(1_000_000)})
		r.Chain.FailBroadcasts(sim.LostSilently, 1000)
		order("lost")
		r.Lose(12)
		r.NothingOpen()
		taken, err := r.SettleExternal()
		r.Must(err)
		if len(taken) != 1 {
			t.Fatalf("settled are %+v, want one external spend", taken)
		}
		r.Blocks(12)
		for to, w := range paid {
			if got := r.Now(w); got.Status != bursar.WithdrawalConfirmed || r.Chain.Balance(to, "") != w.Amount {
				t.Errorf("%s holds %s, and the withdrawal is %+v, want %s and %v", to, r.Chain.Balance(to, ""), got, w.Amount,
					bursar.WithdrawalConfirmed)
			}
		}
		if r.Halted() {
			t.Error("the chain is halted again")
		}
	})
}
