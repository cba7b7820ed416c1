package outgoing_test

import (
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

// tokenVault is a harness whose hot wallet holds more of a token than its ceiling, and gas.
func tokenVault(r *bursartest.OneChain, cold string) bursar.Currency {
	token := bursar.Currency{Code: "TOKEN", Chain: r.Chain.Capabilities().ID, Contract: r.Chain.Named("the contract"),
		Decimals: 6, Places: 2, Minimum: bursar.Units(1000), HotCeiling: bursar.Units(5_000_000),
		HotTarget: bursar.Units(1_000_000)}
	r.Vault(0, 0, cold)
	r.Reconfigure(token)
	r.Sender.GasFromCustomers = true
	r.Step()
	r.Pay(bursar.Address{Base: r.Hot.Base}, 50_000_000)
	return token
}

// What a token keeps of a move to cold is the operator's loss, and the currency is halted, as after a sweep: books and
// chain agree, after a reorg too.
func TestWhatATokenKeepsOfAMoveToColdIsALoss(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		token := tokenVault(r, cold)
		r.Chain.SetManners(token.Contract, sim.Manners{Fee: 10_000})
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 10_000_000) // of which 9,900,000 arrive
		r.Blocks(14)
		const arrived = 8_900_000 - 89_000
		if got := r.Chain.Balance(cold, token.Contract); got != bursar.Units(arrived) {
			t.Fatalf("the cold wallet holds %s, want %d", got, arrived)
		}
		if got := r.Balance("losses", "TOKEN"); got != bursar.Units(89_000) {
			t.Errorf("the losses are %s, want 89000", got)
		}
		r.WantAlarms("payout_short")
		r.Must(r.Reconcile())
		r.Chain.Reorg(12)
		r.Step()
		r.Blocks(14)
		if got := r.Balance("losses", "TOKEN"); got != bursar.Units(89_000) {
			t.Errorf("after a reorg the losses are %s, want 89000", got)
		}
		r.Must(r.Reconcile())
	})
}

// A loss that was not booked is not undone: an earlier version booked none of a move to cold, and its block may be
// reorged out after the upgrade.
func TestALossThatWasNotBookedIsNotUndone(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		token := tokenVault(r, r.Chain.Named("cold"))
		r.Chain.SetManners(token.Contract, sim.Manners{Fee: 10_000})
		r.Give("TOKEN", bursar.Address{Base: r.Hot.Base}, 10_000_000)
		r.Blocks(14)
		moved := alarmsOf(r, "payout_short")[0].Ref
		r.Do(func(tx *store.Tx) error { // as if it had not been booked
			return tx.Ledger().Post(t.Context(), ledger.SweepShortUndone(moved, 1, "TOKEN", bursar.Units(89_000), tx.Now()))
		})
		r.Chain.Reorg(12)
		r.Step()
		r.Blocks(14)
		if got := r.Balance("losses", "TOKEN"); got != bursar.Units(89_000) {
			t.Errorf("after a reorg the losses are %s, want 89000", got)
		}
		r.Must(r.Reconcile())
	})
}

// The alarm about a move that failed closes when there is nothing to move any more.
func TestTheAlarmOfAMoveClosesBelowTheCeiling(t *testing.T) {
	bursartest.OnClock(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain, clock *bursartest.Clock) {
		cold := r.Chain.Named("cold")
		r.Chain.RequireMemo(cold)
		r.Vault(2_000_000, 1_000_000, cold)
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 5_000_000)
		r.Blocks(12)
		if list := alarmsOf(r, "cold_move_failed"); len(list) != 1 {
			t.Fatalf("the alarms are %+v, want one", list)
		}
		r.Restart()
		r.Step()
		if list := alarmsOf(r, "cold_move_failed"); len(list) != 1 {
			t.Errorf("after a restart the alarms are %+v, want one: the hot wallet exceeds its ceiling still", list)
		}
		r.Currency.HotCeiling, r.Currency.HotTarget = bursar.Units(9_000_000), bursar.Units(1_000_000)
		r.Reconfigure()
		clock.Advance(11 * time.Minute)
		r.Blocks(2)
		if list := alarmsOf(r, "cold_move_failed"); len(list) != 0 {
			t.Errorf("below the ceiling the alarms are %+v, want none", list)
		}
	})
}
