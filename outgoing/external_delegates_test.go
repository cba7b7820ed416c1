package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// A thief who has the key of the hot wallet gives code control of it while a lost nonce is being used up, by an
// authorization with exactly that nonce: in a transaction that fails, which changes nothing about that, or in one that
// pays a deposit address, as gas of ours does. It halts the chain before anything is taken by that code.
func TestAnAuthorizationWithALostNonceHalts(t *testing.T) {
	for name, fails := range map[string]bool{"failed": true, "": false} {
		t.Run(name, func(t *testing.T) {
			each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
				r.hasTheKeyMeanwhile()
				r.Chain.ExternalDelegation(r.Hot.Base, fails, chain.Payment{Address: r.Wallet(1).Address,
					Amount: bursar.Units(1)})
				r.haltsForTheft()
			})
		})
	}
}

// The authorization has the nonce of a payment of ours that is in no block, in a transaction that fails: it is no
// version of that payment. Once the chain is resumed, the payment is made.
func TestAnAuthorizationWithTheNonceOfAPaymentHalts(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Step()
		first := r.Now(w)
		r.Chain.ExternalDelegation(r.Hot.Base, true)
		r.haltsForTheft()
		if now := r.Now(w); first.TxID == "" || !now.CompletedAt.IsZero() {
			t.Errorf("the withdrawal, which %q was to pay, is %s, want it to wait", first.TxID, now.Status)
		}
		r.Chain.ClearFaults()
		r.Trouble = false
		r.Chain.Mine(8)
		r.CatchUp()
		_, err := r.SettleExternal()
		r.Must(err)
		r.Settle()
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s once", got, w.Amount)
		}
		if now := r.Now(w); now.Status != bursar.WithdrawalConfirmed || now.TxID == first.TxID {
			t.Errorf("the withdrawal is %s by %s, want it paid by another transaction", now.Status, now.TxID)
		}
		r.Must(r.Reconcile())
	})
}
