package outgoing_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
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

// What is to make a payment void is requested, and an epoch begins before it is signed. The signer would let no key of
// an earlier epoch pay the deposit address, nor return anything to the old hot wallet: it pays the present one instead.
func TestAVoidThatAnEpochOvertookPaysThePresentHotWallet(t *testing.T) {
	byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
		held := r.jammed(true)
		behind := r.Order(1_000_000, r.Chain.Named("behind"))
		r.Step()
		r.Halt(shortToken())
		r.Chain.Fail(sim.Build, 1000, nil)
		r.Chain.Mine(4)
		r.Step()
		if got := r.fillers(); len(got) != 1 || got[0].Status != bursar.OutgoingNew {
			t.Fatalf("%+v are to make it void, want one that is not built", got)
		}
		r.Rotate()
		r.Chain.ClearFaults()
		for range 8 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if got := r.Now(behind).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the payment behind it is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		r.Resume(shortToken())
		for range 8 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if got := r.tokensOf("one who wants tokens"); got != held.Amount {
			t.Errorf("after the halt %s units of TOKEN were paid, want %s once", got, held.Amount)
		}
		r.NothingOpen()
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}

// A reorganisation takes from the hot wallet what it was to pay a withdrawal with, and an epoch begins. Whatever comes
// in goes to the present hot wallet from then on, which pays the withdrawal: the old one would lack the funds for ever.
// If it lacks even the fee for what uses up the nonce, the present one sends it that.
func TestWhatAnOldHotWalletCanNoLongerPayIsPaidByThePresentOne(t *testing.T) {
	for name, left := range map[string]uint64{"a fee is left": 50_000_000, "nothing is left": 0} {
		t.Run(name, func(t *testing.T) {
			byClock(t, bumping(), func(t *testing.T, r *harness, c *bursartest.Clock) {
				r.Step()
				if left > 0 {
					r.Pay(bursar.Address{Base: r.Hot.Base}, left)
				}
				r.Pay(r.Wallet(0).Address, 2_000_000_000)
				r.Chain.Mine(3)
				r.CatchUp()
				w, before := r.sentAndUndone(900_000_000), r.Hot
				r.Rotate()
				for range 16 {
					c.Advance(2 * time.Minute)
					r.Blocks(6)
				}
				if got := r.Chain.Balance(r.Chain.Named("somebody"), ""); got != w.Amount {
					t.Errorf("%s were paid, want %s once", got, w.Amount)
				}
				if left := r.Chain.Balance(before.Base, ""); !left.Less(bursartest.UnspentFee) {
					t.Errorf("the old hot wallet holds %s, want it emptied", left)
				}
				r.NothingOpen()
				r.Must(r.Chain.Check())
				r.Must(r.Reconcile())
			})
		})
	}
}

// sentAndUndone sends a withdrawal with what a block brought to the hot wallet, and replaces that block by one that has
// neither. No deposit is swept meanwhile.
func (r *harness) sentAndUndone(units uint64) bursar.Withdrawal {
	r.T.Helper()
	r.Trouble = true
	r.Chain.HoldFinality(true)
	lost := r.Pay(bursar.Address{Base: r.Hot.Base}, units+100_000_000)
	r.Chain.Mine(1)
	w := r.Order(units, r.Chain.Named("somebody"))
	r.CatchUp()
	r.Must(r.Sender.Step(ctx, r.Lease)) // without the sweeper's step
	if r.Now(w).TxID == "" {
		r.T.Fatal("nothing was sent")
	}
	r.Undo(lost, lost, r.Now(w).TxID)
	r.Chain.HoldFinality(false)
	return w
}

// As before, on a chain with UTXOs, where an operator asked for it.
func TestAnAbandonmentThatAnEpochOvertookPaysThePresentHotWallet(t *testing.T) {
	config := bursartest.UTXOModel
	config.BumpAfter = 3
	byClock(t, config, func(t *testing.T, r *harness, c *bursartest.Clock) {
		r.Prepare()
		r.Settle()
		r.Trouble = true
		w := r.Order(300_000_000, r.Chain.Named("somebody"))
		r.Step()
		r.Chain.SetRate(50) // no block includes it without a bump
		_, err := r.Sender.Abandon(ctx, r.Now(w).OutgoingID, outgoing.Abandonment{Reason: "a test", Actor: "ann"})
		r.Must(err)
		r.Rotate()
		for range 8 {
			c.Advance(2 * time.Minute)
			r.Blocks(6)
		}
		if got := r.Chain.Balance(r.Chain.Named("somebody"), ""); got != w.Amount {
			t.Errorf("%s were paid, want %s once", got, w.Amount)
		}
		r.NothingOpen()
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}
