package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
)

// swept counts the sweeps that were ever ordered, by currency.
func (r *harness) swept() map[bursar.CurrencyCode]int {
	r.t.Helper()
	counts := map[bursar.CurrencyCode]int{}
	r.view(func(tx *store.Tx) error {
		for _, code := range []bursar.CurrencyCode{"COIN", "TOKEN", "OTHER"} {
			open, err := tx.Outgoing().OpenSweeps(ctx, r.chain.Capabilities().ID, code, 1000)
			if err != nil {
				return err
			}
			counts[code] = len(open)
		}
		return nil
	})
	return counts
}

// What is not worth its fee stays where it is, tokens too, until payments lack that very asset; then as much is
// collected as they lack, and nothing of any other asset.
func TestOnlyWhatPaymentsLackIsSweptAtALoss(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		for range 10 { // a sweep of the native asset costs 420,000, of tokens more; 20 times the minimum of a token is 200
			r.pay(r.wallet(0).Address, 1_000_000)
			r.give("TOKEN", r.walletOf(0, "TOKEN").Address, 100)
			r.give("OTHER", r.walletOf(0, "OTHER").Address, 100)
		}
		r.blocks(6)
		if got := r.swept(); got["COIN"]+got["TOKEN"]+got["OTHER"] != 0 {
			t.Fatalf("dust is swept: %v", got)
		}
		w := r.orderOf(0, "TOKEN", 250, r.chain.Named("outside"))
		r.chain.Mine(1)
		r.step()
		if got := r.swept(); got["COIN"] != 0 || got["TOKEN"] != 3 || got["OTHER"] != 0 {
			t.Errorf("2.50 TOKEN are lacking, and swept are %v", got)
		}
		r.settle()
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s", got)
		}
		if err := r.chain.Check(); err != nil {
			t.Error(err)
		}
	})
}

// A sweep takes what the final chain holds: what is not final may leave again, and would leave the sweep without an
// end.
func TestASweepTakesFinalDepositsOnly(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		w := r.wallet(0)
		r.pay(w.Address, 1_000_000_000)
		r.chain.Mine(3)
		late := r.pay(w.Address, 700_000_000)
		r.chain.Mine(1)
		r.step() // the first is final, the second is in a block: the sweep is ordered
		r.step() // and signed
		ours := r.swept()
		if ours["COIN"] != 1 {
			t.Fatalf("the sweeps are %v", ours)
		}
		r.undo(late, late)
		r.settle()
		if got := r.chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) {
			t.Errorf("the sweep was not included: the address holds %s", got)
		}
	})
}

// An address whose tokens cannot be moved, by its issuer's will, stops neither other sweeps nor the withdrawals that
// wait for them.
func TestFrozenAddressesStopNoOtherSweep(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.withTokens().prepare()
		r.settle()
		token, err := r.registry.Get("TOKEN")
		r.must(err)
		for range 40 {
			w := r.walletOf(1, "TOKEN")
			r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(10_000)})
			r.chain.FreezeToken(token.Contract, w.Address.Base, true)
		}
		good := r.walletOf(0, "TOKEN")
		r.give("TOKEN", good.Address, 5_000)
		r.blocks(5)
		w := r.orderOf(0, "TOKEN", 4_000, r.chain.Named("outside"))
		r.blocks(25)
		if got := r.now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("behind 40 frozen addresses the withdrawal is %s", got)
			r.logOpen(3)
		}
	})
}
