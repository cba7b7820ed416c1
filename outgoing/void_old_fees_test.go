package outgoing_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar/bursartest"
)

// What uses up a nonce of an old hot wallet was sent with exactly the funds that it lacked, and then fees rise: the
// present hot wallet sends the rest of a higher fee too, or it would never be final, and hold up all payments.
func TestWhatUsesUpANonceOfAnOldHotWalletIsBumped(t *testing.T) {
	byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 2_000_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		w := r.sentAndUndone(900_000_000)
		r.Rotate()
		for range 16 {
			if len(r.fillers()) > 0 && r.fillers()[0].TxID != "" {
				break
			}
			c.Advance(2 * time.Minute)
			r.Blocks(1)
		}
		r.Sender.GasFromCustomers = true
		r.Chain.SetRate(50) // no block includes it without a bump
		for range 20 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if got := r.Chain.Balance(r.Chain.Named("somebody"), ""); got != w.Amount {
			t.Errorf("%s were paid, want %s once", got, w.Amount)
			r.LogOpen(10)
		}
		r.NothingOpen()
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}
