package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/store"
)

// A sweep that failed in its block was adopted, and that block was reorged out for good. Nobody knows how much it was
// to collect: its next version, with the nonce that the sweeps after it wait for, collects what its address holds.
func TestAnAdoptedSweepThatFailedCollectsWhatThereIs(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w := r.Wallet(0)
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
		r.Pay(w.Address, 1_000_000_000)
		r.Blocks(1)
		failed := r.Chain.ExternalFailed(w.Address.Base,
			chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: bursar.Units(990_000_000)})
		r.Blocks(1)
		x := r.externalSpend(failed)
		if p := r.spendNow(x.OutgoingID); p.Kind != string(chain.KindSweep) || !p.Failed {
			t.Fatalf("it was not adopted as a sweep that failed: %+v", p)
		}
		r.vanishes(failed)
		r.Recovered()
		r.waitedFor(x.OutgoingID)
		r.Blocks(20)
		if p := r.spendNow(x.OutgoingID); p.Status != bursar.OutgoingFinal || p.Failed {
			t.Errorf("it is %s (failed: %v): %s, want %s", p.Status, p.Failed, p.Error, bursar.OutgoingFinal)
		}
		if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(10_000_000)) {
			r.LogOpen(5)
			t.Errorf("%s was not swept", got)
		}
		r.wantNone(alarmBytesUnknown)
		r.Must(r.Audit())
	})
}

// As above, where nothing is left at the address in the asset that it is taken for: it hangs, and a sweep of another
// asset goes on with its nonce.
func TestAnAdoptedSweepThatFailedHangsWhileThereIsNothing(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		w := r.WalletOf(0, "TOKEN")
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
		r.Give("TOKEN", w.Address, 100_000)
		r.Chain.Mine(1)
		gas := r.Pay(w.Address, 700_000)
		r.Blocks(1)
		failed := r.Chain.ExternalFailed(w.Address.Base)
		r.Blocks(1)
		x := r.externalSpend(failed)
		if p := r.spendNow(x.OutgoingID); p.Kind != string(chain.KindSweep) || !p.Failed {
			t.Fatalf("it was not adopted as a sweep that failed: %+v", p)
		}
		r.Undo(gas, gas, failed)
		r.Chain.Forget()
		r.Trouble = true
		r.Step()
		r.Recovered()
		r.waitedFor(x.OutgoingID)
		r.Blocks(30)
		if p := r.spendNow(x.OutgoingID); p.Status != bursar.OutgoingFinal || p.Failed || p.Currency != "TOKEN" {
			t.Errorf("it is %s of %s: %s, want %s", p.Status, p.Currency, p.Error, bursar.OutgoingFinal)
		}
		if got := r.Chain.Balance(w.Address.Base, r.tokenContract()); !got.IsZero() {
			r.LogOpen(5)
			t.Errorf("%s TOKEN were not swept", got)
		}
		r.wantNone(alarmBytesUnknown)
		r.Must(r.Reconcile())
	})
}

// As above, but what failed is included again after all, and collects a token there: it is settled by what it moved in
// that block, and not by what its next version would have collected.
func TestAnAdoptedSweepThatFailedIsSettledByWhatItMoved(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		r.WithTokens().Prepare()
		r.Settle()
		w := r.WalletOf(0, "TOKEN")
		r.Do(func(tx *store.Tx) error {
			return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
		})
		r.Give("TOKEN", w.Address, 100_000)
		r.Pay(w.Address, 30_000_000)
		r.Blocks(1)
		r.Chain.SetManners(r.tokenContract(), sim.Manners{Paused: true})
		failed := r.Chain.ExternalSpend(w.Address.Base, chain.Payment{Address: bursar.Address{Base: r.Hot.Base},
			Contract: r.tokenContract(), Amount: bursar.Units(100_000)})
		r.Blocks(1)
		x := r.externalSpend(failed)
		if p := r.spendNow(x.OutgoingID); p.Kind != string(chain.KindSweep) || !p.Failed {
			t.Fatalf("it was not adopted as a sweep that failed: %+v", p)
		}
		r.Undo(failed, failed)
		r.Trouble = true
		r.Step()
		r.Recovered()
		r.waitedFor(x.OutgoingID)
		r.Step()
		r.Chain.SetManners(r.tokenContract(), sim.Manners{})
		r.Chain.Forget()
		r.Chain.Restore(failed)
		r.Chain.Mine(1)
		r.Blocks(6)
		if p := r.spendNow(x.OutgoingID); p.Status != bursar.OutgoingFinal || p.Failed || p.TxID != failed {
			t.Fatalf("it is %s by %s (failed: %v): %s", p.Status, p.TxID, p.Failed, p.Error)
		}
		if got := r.Holding(w.Address.Base, r.tokenContract()); !got.IsZero() {
			t.Errorf("%s of the token are booked at the address, want 0", got)
		}
		r.wantNone(outgoing.AlarmShort)
		r.Must(r.Reconcile())
	})
}
