package outgoing_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
)

// A payment of the old hot wallet is held by the halt of its token, and the sweeps that empty that wallet wait behind
// its nonce: it is made void by a payment to the present hot wallet, and paid once, from there, after the halt.
func TestAHeldPaymentOfAnOldHotWalletHoldsUpNoSweep(t *testing.T) {
	byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
		held := r.jammed(false)
		before := r.Hot
		r.Halt(shortToken())
		r.Rotate()
		for range 8 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if left := r.Chain.Balance(before.Base, ""); !left.Less(bursartest.UnspentFee) {
			t.Errorf("the old hot wallet holds %s, want it emptied", left)
			r.LogOpen(10)
		}
		if got := r.tokensOf("one who wants tokens"); !got.IsZero() {
			t.Errorf("%s units of the halted TOKEN were paid, want 0", got)
		}
		if r.alarmed("nonce_blocked") {
			t.Error("an alarm says that nothing can make it void, want it void")
		}
		r.Resume(shortToken())
		for range 8 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if got := r.tokensOf("one who wants tokens"); got != held.Amount {
			t.Errorf("after the halt %s units of TOKEN were paid of %s", got, held.Amount)
		}
		r.NothingOpen()
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}

// The bytes of the held payment of the old hot wallet are with a node: if they are included before what was to make it
// void, they count, and nobody is paid twice.
func TestAHeldPaymentOfAnOldHotWalletThatIsIncludedCounts(t *testing.T) {
	byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
		held := r.jammed(false)
		out := r.version(r.Now(held).TxID)
		r.Halt(shortToken())
		r.Rotate()
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000) // no node gets what is to make it void
		for range 3 {
			c.Advance(2 * time.Minute)
			r.Step()
		}
		if got := len(r.fillers()); got != 1 {
			t.Fatalf("%d transactions are to make it void, want 1", got)
		}
		r.Chain.ClearFaults()
		r.Chain.Forget()
		r.Must(r.Chain.Broadcast(ctx, out))
		r.Chain.Mine(1)
		for range 8 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if got := r.tokensOf("one who wants tokens"); got != held.Amount || r.Now(held).Status != bursar.WithdrawalConfirmed {
			t.Errorf("%s units of TOKEN were paid, and the withdrawal is %s, want %s and %s",
				got, r.Now(held).Status, held.Amount, bursar.WithdrawalConfirmed)
		}
		r.Resume(shortToken())
		for range 4 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if got := r.tokensOf("one who wants tokens"); got != held.Amount {
			t.Errorf("after the halt %s units of TOKEN were paid, want %s once", got, held.Amount)
		}
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}
