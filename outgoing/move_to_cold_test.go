package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// movesToCold returns the moves to cold wallets that were ever requested.
func movesToCold(r *bursartest.OneChain) (n int) {
	r.View(func(tx *store.Tx) (err error) {
		n, err = tx.Cold().Moves(ctx, r.Chain.Capabilities().ID)
		return err
	})
	return n
}

func TestWhatExceedsTheCeilingGoesToColdOnce(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(3_000_000, 2_000_000, cold)
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 3_000_000)
		r.Blocks(8)
		if n := movesToCold(r); n != 0 {
			t.Fatalf("%d moves at the ceiling, want none", n)
		}
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1)
		r.Blocks(12)
		if n := movesToCold(r); n != 1 {
			t.Fatalf("%d moves above the ceiling, want 1", n)
		}
		if got := r.Chain.Balance(cold, ""); got != bursar.Units(1_000_001) {
			t.Errorf("the cold wallet holds %s, want 1000001", got)
		}
		wantCold(t, r, "1000001", "3000001", "0")
		list, err := r.Chain.Head(ctx)
		r.Must(err)
		r.Chain.Reorg(int(min(list.Latest.Height-1, 9)))
		r.Step()
		r.Blocks(12)
		if n := movesToCold(r); n != 1 {
			t.Errorf("%d moves after a reorg, want 1", n)
		}
		wantCold(t, r, "1000001", "3000001", "0")
	})
}

// Payments that are queued are paid, whatever exceeds the ceiling without them.
func TestTheCeilingStarvesNoWithdrawal(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(1_500_000, 1_000_000, cold)
		r.Step()
		r.Pay(r.Wallet(0).Address, 6_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_400_000)
		r.Chain.Mine(6)
		r.CatchUp()
		w := r.Order(5_000_000, r.Chain.Named("receiver"))
		r.Settle()
		r.Blocks(10)
		if got := r.Chain.Balance(r.Chain.Named("receiver"), ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		if err := r.Audit(); err != nil {
			t.Error(err)
		}
		hot := r.Balance(ledger.Custody, "COIN")
		if bursar.Units(1_500_000).Less(hot) {
			t.Errorf("the hot wallet keeps %s, want at most the ceiling", hot)
		}
	})
}

func TestEachMoveGoesToANewAddressOfADescriptor(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		first, second := r.Chain.Named("cold1"), r.Chain.Named("cold2")
		r.Vault(1_000_000, 500_000, first, second)
		r.Step()
		for range 3 {
			r.Pay(bursar.Address{Base: r.Hot.Base}, 2_000_000)
			r.Blocks(12)
		}
		if a, b := r.Chain.Balance(first, ""), r.Chain.Balance(second, ""); a != bursar.Units(1_500_000) ||
			b.Less(bursar.Units(3_000_000)) {
			t.Errorf("the addresses hold %s and %s, want 1500000 and the rest", a, b)
		}
		if err := r.Audit(); err != nil {
			t.Error(err)
		}
	})
}

// A withdrawal that only a cold wallet can pay waits with an alarm, and goes on by itself after the refill.
func TestAWithdrawalWaitsForARefill(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(1_500_000, 1_000_000, cold)
		r.Step()
		r.Pay(r.Wallet(0).Address, 9_000_000)
		r.Blocks(16)
		w := r.Order(4_000_000, r.Chain.Named("receiver"))
		r.Blocks(2)
		list := alarmsOf(r, "refill_needed")
		if len(list) != 1 || !strings.Contains(list[0].Message, "1 payment") {
			t.Fatalf("the alarms are %+v, want one about 1 payment", list)
		}
		refill := chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: bursar.Units(5_000_000)}
		r.Chain.ExternalSpend(cold, refill)
		r.Settle()
		r.Blocks(8)
		if got := r.Chain.Balance(r.Chain.Named("receiver"), ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		if list := alarmsOf(r, "refill_needed"); len(list) != 0 {
			t.Errorf("the alarms are %+v after the refill, want none", list)
		}
		if err := r.Audit(); err != nil {
			t.Error(err)
		}
	})
}
