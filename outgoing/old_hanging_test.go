package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
)

// A hanging sweep was given another asset to collect, and an epoch began before that was signed. Old keys sign for the
// old hot wallet only what they signed before, so the sweep collects for the present one.
func TestAHangingSweepCollectsForTheHotWalletOfThePresentEpoch(t *testing.T) {
	config := bursartest.Numbered
	config.BumpAfter = 1 << 40
	each(t, config, func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		token, err := r.Registry.Get("TOKEN")
		r.Must(err)
		w := r.WalletOf(0, "TOKEN")
		deposit := r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract,
			Amount: bursar.Units(2_000_000_000)})
		for n := 0; n < 20 && !r.sweeps(w, bursar.OutgoingSent); n++ {
			r.Chain.Mine(1)
			r.Step()
		}
		r.Chain.Forget()
		r.Undo(deposit, deposit)
		r.Chain.Forget()
		r.Trouble = true
		r.Blocks(5)
		if hang, _ := r.hanging(); hang != 1 {
			t.Fatalf("open are %+v, want 1", r.Open())
		}
		r.Pay(w.Address, 1_000_000_000)
		r.withoutSigner(func() { r.Blocks(8) })
		if hang, move := r.hanging(); hang != 0 || move == 0 {
			t.Fatalf("open are %+v, want the sweep with the other asset", r.Open())
		}
		r.Rotate()
		r.Trouble = true
		r.Blocks(12)
		if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(10_000_000)) {
			r.LogOpen(5)
			t.Errorf("%s was not swept", got)
		}
	})
}
