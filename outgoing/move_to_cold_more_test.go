package outgoing_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
)

// A token moves to cold, comes back, and leaves as the native asset does; the fee of each is the native asset's.
func TestATokenMovesToColdAndBack(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold)
		token := bursar.Currency{Code: "TOKEN", Chain: r.Chain.Capabilities().ID, Contract: r.Chain.Named("the contract"),
			Decimals: 6, Places: 2, Minimum: bursar.Units(1000), HotCeiling: bursar.Units(500), HotTarget: bursar.Units(100)}
		r.Reconfigure(token)
		r.Step()
		hot := bursar.Address{Base: r.Hot.Base}
		r.Pay(hot, 900_000_000)
		r.Pay(bursar.Address{Base: cold}, 1_000_000)
		r.Give("TOKEN", hot, 800)
		r.Blocks(14)
		want := func(when string, custody, frozen, lost uint64) {
			t.Helper()
			h, c := r.Balance(ledger.Custody, "TOKEN"), r.Balance(ledger.CustodyCold, "TOKEN")
			l := r.Balance(ledger.Losses, "TOKEN")
			if h != bursar.Units(custody) || c != bursar.Units(frozen) || l != bursar.Units(lost) {
				t.Errorf("%s: %s are hot, %s cold and %s lost; want %d, %d and %d", when, h, c, l, custody, frozen, lost)
			}
			if err := r.Reconcile(); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		want("above the ceiling", 100, 700, 0)
		r.Chain.ExternalSpend(cold, chain.Payment{Address: hot, Contract: token.Contract, Amount: bursar.Units(200)})
		r.Blocks(8)
		want("after a refill", 300, 500, 0)
		r.Pay(bursar.Address{Base: cold}, 1_000_000) // the spend before took all of it as its fee
		r.Blocks(8)
		thief := bursar.Address{Base: r.Chain.Named("thief")}
		id := r.Chain.ExternalSpend(cold, chain.Payment{Address: thief, Contract: token.Contract, Amount: bursar.Units(50)})
		r.Blocks(8)
		want("after a theft", 300, 450, 50)
		if list := alarmsOf(r, "cold_spend"); len(list) != 1 || list[0].Ref != id {
			t.Errorf("the alarms are %+v, want one of %s", list, id)
		}
	})
}

// Where wallets share the hot address, a refill has no memo: it is no deposit that belongs to no wallet.
func TestASharedAddressMovesToColdAndIsRefilled(t *testing.T) {
	shared := sim.Config{ID: bursar.XRPL, Family: "xrpl", Spending: chain.AccountModel, Confirmations: 3,
		SharedAddress: true}
	bursartest.On(t, shared, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(2_000_000, 1_000_000, cold)
		r.Step()
		r.Pay(r.Wallet(0).Address, 5_000_000)
		r.Blocks(14)
		if got := r.Chain.Balance(cold, ""); got != bursar.Units(4_000_000) {
			t.Fatalf("the cold wallet holds %s, want 4000000", got)
		}
		refill := chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: bursar.Units(500_000)}
		r.Chain.ExternalSpend(cold, refill)
		r.Blocks(8)
		wantCold(t, r, r.Chain.Balance(cold, "").String(), "0", "0")
		if got := r.Book(ledger.Unattributed); got != "0" {
			t.Errorf("%s are unattributed, want 0", got)
		}
	})
}

// A move to cold that was signed before the books forgot it is one of ours after a reorg of its block.
func TestAMoveToColdThatIsReorgedOutIsSentAgain(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(2_000_000, 1_000_000, cold)
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 5_000_000)
		for range 12 {
			r.Blocks(1)
			if !r.Chain.Balance(cold, "").IsZero() {
				break
			}
		}
		open := r.Open()
		if len(open) != 1 || open[0].Kind != string(chain.KindToCold) || open[0].TxID == "" {
			t.Fatalf("open are %+v, want a signed move to cold", open)
		}
		r.Undo(open[0].TxID, open[0].TxID)
		r.Restart()
		r.Step()
		r.Blocks(12)
		if n := movesToCold(r); n != 1 {
			t.Errorf("%d moves, want 1", n)
		}
		wantCold(t, r, "4000000", "5000000", "0")
	})
}

// A move that the hot wallet cannot pay is not requested again with each step: each request leaves a row.
func TestAMoveToColdThatCannotBePaidRests(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.Vault(0, 0, r.Chain.Named("cold"))
		r.Reconfigure(bursar.Currency{Code: "TOKEN", Chain: r.Chain.Capabilities().ID,
			Contract: r.Chain.Named("the contract"), Decimals: 6, Places: 2, Minimum: bursar.Units(1000),
			HotCeiling: bursar.Units(500), HotTarget: bursar.Units(100)})
		r.Sender.GasFromCustomers = true
		r.Step()
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 800) // and nothing for gas
		r.Blocks(12)
		if n, open := movesToCold(r), r.Open(); n != 1 || len(open) != 0 {
			t.Errorf("%d moves were requested and %d are open, want 1 and none", n, len(open))
		}
		if list := alarmsOf(r, "cold_move_failed"); len(list) > 0 {
			t.Errorf("the alarms are %+v, want none: it only waits for funds", list)
		}
	})
}

// A move that the network or a contract refuses for good is not requested again with each step either: each request
// leaves a row, and takes the next address of the wallet.
func TestAMoveToColdThatIsRefusedRests(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Chain.RequireMemo(cold)
		r.Vault(2_000_000, 1_000_000, cold)
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 5_000_000)
		r.Blocks(12)
		if n, open := movesToCold(r), r.Open(); n != 1 || len(open) != 0 {
			t.Errorf("%d moves were requested and %d are open, want 1 and none", n, len(open))
		}
		if list := alarmsOf(r, "cold_move_failed"); len(list) != 1 {
			t.Errorf("the alarms are %+v, want one", list)
		}
	})
}

// A move that fails on the chain costs a fee each time, so it is not made again with each block; the alarm closes once
// a move succeeds.
func TestAMoveToColdThatFailsOnTheChainRests(t *testing.T) {
	bursartest.OnClock(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain, clock *bursartest.Clock) {
		cold := r.Chain.Named("cold")
		r.Chain.Close(cold)
		r.Vault(2_000_000, 1_000_000, cold)
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 5_000_000)
		r.Blocks(16)
		if n, list := movesToCold(r), alarmsOf(r, "cold_move_failed"); n != 1 || len(list) != 1 {
			t.Errorf("%d moves were made and the alarms are %+v, want one of each", n, list)
		}
		r.Chain.Open(cold)
		clock.Advance(11 * time.Minute)
		r.Blocks(16)
		if n, list := movesToCold(r), alarmsOf(r, "cold_move_failed"); n != 2 || len(list) != 0 {
			t.Errorf("after that %d moves were made and the alarms are %+v, want 2 and none", n, list)
		}
	})
}
