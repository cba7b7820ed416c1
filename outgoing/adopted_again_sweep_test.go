package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
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
