package outgoing_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// adoptedForOld has a sweep to the hot wallet adopted from a block, which is replaced once an epoch has begun. It
// returns the swept address, the hash, and the outgoing transaction's ID.
func (r *harness) adoptedForOld() (swept bursar.Address, txID string, id bursar.ID) {
	r.T.Helper()
	r.Prepare()
	r.Settle()
	swept = r.Wallet(0).Address
	r.Do(func(tx *store.Tx) error {
		return tx.Recoveries().Begin(ctx, r.Chain.Capabilities().ID, "the database was restored")
	})
	r.Pay(swept, 1_000_000_000)
	r.Blocks(1)
	txID = r.Chain.ExternalSpend(swept.Base,
		chain.Payment{Address: bursar.Address{Base: r.Hot.Base}, Amount: bursar.Units(900_000_000)})
	r.Blocks(1)
	x := r.externalSpend(txID)
	if p := r.spendNow(x.OutgoingID); p.Kind != string(chain.KindSweep) || p.Failed {
		r.T.Fatalf("it was not adopted as a sweep: %+v", p)
	}
	r.Rotate()
	r.vanishes(txID)
	r.Recovered()
	return swept, txID, x.OutgoingID
}

// A sweep to the hot wallet was adopted, an epoch began, and its block was replaced. Keys of earlier epochs sign for
// the old hot wallet only what they signed before, so its next version collects for the present one.
func TestAnAdoptedSweepCollectsForTheHotWalletOfThePresentEpoch(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		swept, _, id := r.adoptedForOld()
		r.waitedFor(id)
		r.Blocks(20)
		if p := r.spendNow(id); p.Status != bursar.OutgoingFinal {
			t.Errorf("it is %s: %s, want %s", p.Status, p.Error, bursar.OutgoingFinal)
		}
		if got := r.Chain.Balance(swept.Base, ""); !got.Less(bursar.Units(10_000_000)) {
			t.Errorf("%s was not swept", got)
		}
		r.wantNone(alarmBytesUnknown)
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}

// As above, but the adopted version, which pays the old hot wallet, is included again after all: nothing of it is lost.
func TestAnAdoptedSweepToAnOldHotWalletThatComesBackCounts(t *testing.T) {
	each(t, bursartest.Models["nonce"], func(t *testing.T, r *harness) {
		_, txID, id := r.adoptedForOld()
		r.waitedFor(id)
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Blocks(4)
		if n := r.versionsOf(id); n < 2 {
			t.Fatalf("of it there are %d versions, want 2", n)
		}
		r.Chain.ClearFaults()
		r.Chain.Forget()
		r.Chain.Restore(txID)
		r.Blocks(20)
		if p := r.spendNow(id); p.Status != bursar.OutgoingFinal || p.TxID != txID {
			t.Errorf("it is %s by %s: %s, want %s by %s", p.Status, p.TxID, p.Error, bursar.OutgoingFinal, txID)
		}
		r.wantNone("payout_short")
		r.Must(r.Chain.Check())
		r.Must(r.Reconcile())
	})
}
