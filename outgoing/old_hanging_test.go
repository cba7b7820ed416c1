package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
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

// As above, but the token that the first version of the sweep collects comes back, and that version is included, which
// pays the hot wallet of the earlier epoch: nothing of it is lost.
func TestAHangingSweepWhoseEarlierVersionIsIncludedLosesNothing(t *testing.T) {
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
		first := r.sweepSent(w)
		r.Chain.Forget()
		r.Undo(deposit, deposit)
		r.Chain.Forget()
		r.Trouble = true
		r.Blocks(5)
		r.Pay(w.Address, 1_000_000_000)
		r.withoutSigner(func() { r.Blocks(8) })
		r.Rotate()
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Blocks(8)
		r.Chain.ClearFaults()
		r.Chain.ReorgBack(1, deposit)
		r.Chain.Mine(1)
		r.Must(r.Chain.Broadcast(ctx, first))
		r.Blocks(20)
		if r.alarmed("payout_short") {
			t.Error("an alarm says that a part of it was lost")
		}
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}

// sweepSent returns the bytes of the sweep of a wallet that is sent and in no block.
func (r *harness) sweepSent(w bursar.Wallet) chain.SignedTx {
	r.T.Helper()
	for _, p := range r.Open() {
		if p.Kind == string(chain.KindSweep) && p.Base == w.Address.Base && p.Status == bursar.OutgoingSent {
			return r.version(p.TxID)
		}
	}
	r.T.Fatal("no sweep is sent")
	return chain.SignedTx{}
}
