package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/outgoing"
)

// emptied puts a compromise order in force.
func emptied(r *bursartest.OneChain, to string) {
	e := func() outgoing.Emptying { return outgoing.Emptying{Order: "0a", To: to} }
	r.Sender.Emptying, r.Sweeper.Emptying = e, e
}

// Once a compromise order is in force, everything that the hot wallet and the deposit addresses hold goes to cold but
// for dust, withdrawals wait, and the books are the chain's. Once it has ended, withdrawals go on.
func TestACompromiseOrderEmptiesTheHotWallet(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold) // no ceiling: by itself nothing moves
		r.Step()
		r.Pay(r.Wallet(0).Address, 40_000_000)
		r.Pay(bursar.Address{Base: r.Hot.Base}, 70_000_000)
		r.Chain.Mine(6)
		r.CatchUp()
		emptied(r, cold)
		w := r.Order(1_000_000, r.Chain.Named("receiver"))
		r.Blocks(60)
		if got := r.Chain.Balance(r.Chain.Named("receiver"), ""); !got.IsZero() {
			t.Errorf("the receiver holds %s while the order is in force, want 0", got)
		}
		held := r.Chain.Balance(cold, "")
		if held.Less(bursar.Units(108_000_000)) {
			t.Errorf("the cold wallet holds %s of 110000000, want nearly all", held)
		}
		if got := r.Balance(ledger.CustodyCold, "COIN"); got != held {
			t.Errorf("by the books %s are cold, want %s", got, held)
		}
		if err := r.Reconcile(); err != nil {
			t.Error(err)
		}
		if err := r.Audit(); err != nil {
			t.Error(err)
		}
		r.Sender.Emptying, r.Sweeper.Emptying = nil, nil
		r.Pay(bursar.Address{Base: r.Hot.Base}, 70_000_000)
		r.Settle()
		r.Blocks(10)
		if got := r.Chain.Balance(r.Chain.Named("receiver"), ""); got != w.Amount {
			t.Errorf("the receiver holds %s after the order has ended, want %s", got, w.Amount)
		}
	})
}

// Tokens go first, from deposit addresses too, and the native asset stays behind for their fees, until it goes itself.
func TestACompromiseOrderMovesTokensFirst(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold)
		token := bursar.Currency{Code: "TOKEN", Chain: r.Chain.Capabilities().ID, Contract: r.Chain.Named("the contract"),
			Decimals: 6, Places: 2, Minimum: bursar.Units(1000)}
		r.Reconfigure(token)
		r.Step()
		hot := bursar.Address{Base: r.Hot.Base}
		r.Pay(hot, 900_000_000)
		r.Give("TOKEN", hot, 800)
		r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 80_000_000)
		r.Chain.Mine(6)
		r.CatchUp()
		emptied(r, cold)
		r.Blocks(90)
		if got := r.Chain.Balance(cold, token.Contract); got != bursar.Units(80_000_800) {
			t.Errorf("the cold wallet holds %s of the token, want 80000800", got)
		}
		if got := r.Chain.Balance(cold, ""); got.Less(bursar.Units(890_000_000)) {
			t.Errorf("the cold wallet holds %s of 900000000, want nearly all; %s are hot, %s at the deposit address", got,
				r.Chain.Balance(r.Hot.Base, ""), r.Chain.Balance(r.WalletOf(0, "TOKEN").Address.Base, ""))
		}
		if err := r.Reconcile(); err != nil {
			t.Error(err)
		}
	})
}

// What is not moved has an alarm that says why: the order may name no cold wallet of the chain, or one that the service
// does not follow.
func TestWhatACompromiseOrderDoesNotMoveIsSaid(t *testing.T) {
	bursartest.OnBoth(t, func(t *testing.T, r *bursartest.OneChain) {
		r.Vault(0, 0, r.Chain.Named("cold"))
		r.Step()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 7_000_000)
		r.Chain.Mine(6)
		r.CatchUp()
		for to, says := range map[string]string{
			"": "names no cold wallet of this chain", r.Chain.Named("other"): "does not list",
		} {
			emptied(r, to)
			r.Blocks(2)
			if list := alarmsOf(r, "cold_move_failed"); len(list) != 1 || !strings.Contains(list[0].Message, says) {
				t.Errorf("to %q: the alarms are %+v, want one that says %q", to, list, says)
			}
		}
		if n := movesToCold(r); n != 0 {
			t.Errorf("%d moves, want none", n)
		}
		emptied(r, r.Chain.Named("cold"))
		r.Blocks(20)
		if list := alarmsOf(r, "cold_move_failed"); len(list) != 0 {
			t.Errorf("the alarms are %+v after everything was moved, want none", list)
		}
	})
}

// More outputs than a transaction may spend move in several.
func TestACompromiseOrderMovesInParts(t *testing.T) {
	few := sim.Config{ID: bursar.Bitcoin, Family: "bitcoin", Spending: chain.UTXOModel, Confirmations: 2, MaxInputs: 4}
	bursartest.On(t, few, func(t *testing.T, r *bursartest.OneChain) {
		cold := r.Chain.Named("cold")
		r.Vault(0, 0, cold)
		r.Step()
		for range 11 {
			r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000)
		}
		r.Chain.Mine(6)
		r.CatchUp()
		emptied(r, cold)
		r.Blocks(90)
		if got := r.Chain.Balance(cold, ""); got.Less(bursar.Units(10_500_000)) {
			t.Errorf("the cold wallet holds %s of 11000000, want nearly all", got)
		}
		if err := r.Reconcile(); err != nil {
			t.Error(err)
		}
	})
}
