package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// A voiding transaction needs no place, also where another top-up waits for one in front of it: what has the place may
// wait for the voiding transaction's nonce.
func TestATransactionIsVoidedThoughTopUpsWaitForAPlace(t *testing.T) {
	config := bumping()
	config.MaxPending = 6 // one place for top-ups
	each(t, config, func(t *testing.T, r *harness) {
		held := r.jammed(false)
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		for range 3 {
			r.Give("OTHER", r.WalletOf(0, "OTHER").Address, 100_000)
		}
		for range 6 {
			r.Chain.Mine(1)
			r.Step()
		}
		if n := r.underWay(chain.KindGasTopUp); n != 1 || len(r.fillers()) < 2 {
			t.Fatalf("%d top-ups of %d have a place, want 1 of 2 or more", n, len(r.fillers()))
		}
		r.Chain.ClearFaults()
		r.Halt(shortToken())
		w := r.Order(100_000_000, r.Chain.Named("coin"))
		r.Blocks(40)
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("behind a held payment the withdrawal of COIN is %s, want %s", got, bursar.WithdrawalConfirmed)
			r.LogOpen(10)
		}
		if now := r.Now(held); now.Status != bursar.WithdrawalQueued {
			t.Errorf("the held payment is %s, want %s", now.Status, bursar.WithdrawalQueued)
		}
		r.Resume(shortToken())
		r.Settle()
		if got := r.tokensOf("one who wants tokens"); got != held.Amount {
			t.Errorf("%s units of TOKEN were paid of %s", got, held.Amount)
		}
	})
}

// A voiding transaction's unit may go to an address that never had a deposit: the comparison with the chain finds it.
func TestTheUnitOfAVoidingTransactionIsFound(t *testing.T) {
	each(t, bumping(), func(t *testing.T, r *harness) {
		r.Step()
		payee := r.Wallet(2) // the first wallet, which nobody pays
		r.jammed(false)
		r.Halt(shortToken())
		r.Order(100_000_000, r.Chain.Named("coin"))
		r.Blocks(40)
		r.Resume(shortToken())
		r.Settle()
		if got := r.Chain.Balance(payee.Address.Base, ""); got != bursar.Units(1) {
			t.Fatalf("the first wallet holds %s, want the unit of the voiding transaction", got)
		}
		if err := r.Reconcile(); err != nil {
			t.Errorf("the books and the chain differ: %v", err)
		}
	})
}
