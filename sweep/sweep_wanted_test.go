package sweep_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
)

// A holding that is not worth its fee stays where it is, also of tokens, until payments lack that very asset; then as
// much is collected as they lack, and nothing of any other asset.
func TestOnlyAssetsThatPaymentsLackAreSweptAtALoss(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.WithTokens().Prepare()
		r.Settle()
		for range 10 { // a sweep of the native asset costs 420,000, of tokens more; 20 times the minimum of a token is 200
			r.Pay(r.Wallet(0).Address, 1_000_000)
			r.Give("TOKEN", r.WalletOf(0, "TOKEN").Address, 100)
			r.Give("OTHER", r.WalletOf(0, "OTHER").Address, 100)
		}
		r.Blocks(6)
		if got := r.Swept(); got["COIN"]+got["TOKEN"]+got["OTHER"] != 0 {
			t.Fatalf("dust is swept: %v, want 0", got)
		}
		w := r.OrderOf(0, "TOKEN", 250, r.Chain.Named("outside"))
		r.Chain.Mine(1)
		r.Step()
		if got := r.Swept(); got["COIN"] != 0 || got["TOKEN"] != 3 || got["OTHER"] != 0 {
			t.Errorf("2.50 TOKEN are lacking, and swept are %v, want 0 and 3", got)
		}
		r.Settle()
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("the withdrawal is %s, want %s", got, bursar.WithdrawalConfirmed)
		}
		if err := r.Chain.Check(); err != nil {
			t.Error(err)
		}
	})
}

// A sweep takes what the final chain holds: a deposit that is not final may be reorged out, and would leave the sweep
// without funds.
func TestASweepTakesFinalDepositsOnly(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 1_000_000_000)
		r.Chain.Mine(3)
		late := r.Pay(w.Address, 700_000_000)
		r.Chain.Mine(1)
		r.Step() // the first is final, the second is in a block: the sweep is requested
		r.Step() // and signed
		ours := r.Swept()
		if ours["COIN"] != 1 {
			t.Fatalf("the sweeps are %v, want 1", ours)
		}
		r.Undo(late, late)
		r.Settle()
		if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) {
			t.Errorf("the sweep was not included: the address holds %s", got)
		}
	})
}

// An address whose tokens cannot be moved, because its issuer has frozen them, stops neither other sweeps nor the
// withdrawals that wait for them.
func TestFrozenAddressesStopNoOtherSweep(t *testing.T) {
	bursartest.On(t, bursartest.Numbered, func(t *testing.T, r *bursartest.OneChain) {
		r.WithTokens().Prepare()
		r.Settle()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		for range 40 {
			w := r.WalletOf(1, "TOKEN")
			r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(10_000)})
			r.Chain.FreezeToken(token.Contract, w.Address.Base, true)
		}
		good := r.WalletOf(0, "TOKEN")
		r.Give("TOKEN", good.Address, 5_000)
		r.Blocks(5)
		w := r.OrderOf(0, "TOKEN", 4_000, r.Chain.Named("outside"))
		r.Blocks(25)
		if got := r.Now(w).Status; got != bursar.WithdrawalConfirmed {
			t.Errorf("behind 40 frozen addresses the withdrawal is %s, want %v", got, bursar.WithdrawalConfirmed)
			r.LogOpen(3)
		}
	})
}
