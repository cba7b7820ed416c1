package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
)

// What a first move could not take, because a payment that was under way had it, bounds that move alone: all that
// arrives later is moved at once.
func TestAMoveThatWasTooLargeDoesNotBoundLaterOnes(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold)
		r.Step()
		r.Pay(r.Wallet(0).Address, 100_000_000)
		r.Chain.Mine(6)
		r.CatchUp()
		r.Settle() // swept
		r.Order(95_000_000, r.Chain.Named("receiver"))
		r.Step() // sent, and in no block
		emptied(r, cold)
		r.Step()
		r.Settle()
		first := movesToCold(r)
		before := r.Chain.Balance(cold, "")
		t.Logf("before: %d moves, %s cold", first, before)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 70_000_000)
		r.Chain.Mine(6)
		r.CatchUp()
		r.Blocks(60)
		got := r.Chain.Balance(cold, "").SubOrZero(before)
		if n := movesToCold(r) - first; n > 3 || got.Less(bursar.Units(69_000_000)) {
			t.Errorf("%d moves brought %s of 70000000 within 60 blocks, want one that brings nearly all", n, got)
		}
	})
}

// A move of everything that could not be made while the order was in force is not made once it has ended: withdrawals
// go on with what is there.
func TestAMoveOfEverythingEndsWithItsOrder(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold)
		r.Step()
		r.Pay(r.Wallet(0).Address, 40_000_000)
		r.Chain.Mine(6)
		r.CatchUp()
		r.Settle()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 10_000_000)
		r.Chain.Mine(6)
		r.CatchUp()
		r.Settle()
		w := r.Order(1_000_000, r.Chain.Named("receiver"))
		emptied(r, cold)
		r.Chain.Fail(sim.Build, 1000, nil)
		r.Step()
		r.Chain.ClearFaults()
		r.Sender.Emptying, r.Sweeper.Emptying = nil, nil
		r.Blocks(40)
		if got := r.Chain.Balance(cold, ""); !got.IsZero() {
			t.Errorf("the cold wallet holds %s after the order has ended, want 0", got)
		}
		if got := r.Chain.Balance(r.Chain.Named("receiver"), ""); got != w.Amount {
			t.Errorf("the receiver holds %s after the order has ended, want %s", got, w.Amount)
		}
	})
}

// While a compromise order is in force nobody is asked to bring money from a cold wallet to the hot wallet, whose seed
// somebody else may know, and where it would be moved back at once.
func TestACompromiseOrderAsksForNoRefill(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(1_500_000, 1_000_000, cold)
		r.Step()
		r.Pay(r.Wallet(0).Address, 9_000_000)
		r.Blocks(16)
		r.Order(4_000_000, r.Chain.Named("receiver"))
		r.Blocks(2)
		if list := alarmsOf(r, "refill_needed"); len(list) != 1 {
			t.Fatalf("the alarms are %+v before the order, want one", list)
		}
		emptied(r, cold)
		r.Blocks(2)
		if list := alarmsOf(r, "refill_needed"); len(list) != 0 {
			t.Errorf("the alarms are %+v while the order is in force, want none", list)
		}
		r.Sender.Emptying, r.Sweeper.Emptying = nil, nil
		r.Blocks(3)
		if list := alarmsOf(r, "refill_needed"); len(list) != 1 {
			t.Errorf("the alarms are %+v after the order has ended, want one", list)
		}
	})
}
