package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// onBumping runs a test on both models, on chains where nothing expires and a fee is bumped after three blocks.
func onBumping(t *testing.T, test func(t *testing.T, r *harness)) {
	t.Parallel()
	for name, config := range map[string]sim.Config{"utxos": bursartest.UTXOModel, "nonce": bursartest.Numbered} {
		config.BumpAfter = 3
		t.Run(name, func(t *testing.T) { each(t, config, test) })
	}
}

// besidePutBack has an older database adopt the second version of a payment that it has lost from a block, as a loss,
// while the journal has the first version put back. Then that block is replaced by one with the first version.
func (r *harness) besidePutBack() (w, first bursar.Withdrawal, adopted bursar.ID) {
	r.T.Helper()
	file := filepath.Join(r.T.TempDir(), "seed.marks")
	r.Guarded(file)
	r.Prepare()
	if r.Chain.Capabilities().Model == chain.AccountModel {
		r.Pay(bursar.Address{Base: r.Hot.Base}, 1_000_000_000)
	}
	r.Settle()
	before := r.Backup()
	w = r.Order(300_000_000, r.Chain.Named("receiver"))
	r.Step()
	first = r.Now(w)
	bytes := r.version(first.TxID)
	r.Chain.SetRate(50) // no block includes it without a bump
	r.StepAndMine(4)
	second := r.Now(w).TxID
	if second == first.TxID || first.TxID == "" {
		r.T.Fatalf("the fee of %s was not bumped: it is %s", first.TxID, second)
	}
	r.Chain.Mine(1)
	r.Revive(before, file)
	r.Trouble = true
	r.Step()
	for _, x := range r.Unclear() {
		_ = r.Resolve(recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"})
		if x.OutgoingID != first.OutgoingID {
			adopted = x.OutgoingID
		}
	}
	if p := r.spendNow(first.OutgoingID); adopted.IsZero() || p.Status != bursar.OutgoingSigned {
		r.T.Fatalf("adopted is %s, and what the journal had is %s: %s", adopted, p.Status, p.Error)
	}
	r.Chain.SetRate(1)
	r.Chain.Reorg(2, second)
	r.Chain.Forget()
	r.Must(r.Chain.Broadcast(ctx, bytes))
	r.Chain.Mine(1)
	return w, first, adopted
}

// Of two versions that an older database has as two transactions, one is adopted from a block that is replaced, and
// the other one, which was put back, is included instead. The adopted one ends once that is final.
func TestAnAdoptedTransactionEndsOnceItsOtherVersionIsFinal(t *testing.T) {
	onBumping(t, func(t *testing.T, r *harness) {
		w, first, adopted := r.besidePutBack()
		for range 20 {
			r.Step()
			for _, x := range r.Unclear() {
				_ = r.Resolve(recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"})
			}
			r.Chain.Mine(1)
		}
		if p := r.spendNow(first.OutgoingID); p.Status != bursar.OutgoingFinal {
			t.Fatalf("what was put back is %s, want %s: %s", p.Status, bursar.OutgoingFinal, p.Error)
		}
		if p := r.spendNow(adopted); p.Status != bursar.OutgoingAbandoned {
			t.Errorf("the adopted one is %s, want %s: %s", p.Status, bursar.OutgoingAbandoned, p.Error)
		}
		r.NothingOpen()
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
		r.Must(r.Audit())
	})
}

// As above for a sweep, of which the database knows nothing either, and which no external spend stands for once it is
// put back.
func TestAnAdoptedSweepEndsOnceItsOtherVersionIsFinal(t *testing.T) {
	config := bursartest.Numbered
	config.BumpAfter = 3
	each(t, config, func(t *testing.T, r *harness) {
		file := filepath.Join(r.T.TempDir(), "seed.marks")
		r.Guarded(file)
		r.Step()
		wallet := r.Wallet(0).Address
		before := r.Backup()
		r.Pay(wallet, 1_000_000_000)
		for len(r.sweepsOf(wallet.Base)) == 0 {
			r.Chain.Mine(1)
			r.Step()
		}
		first := r.sweepsOf(wallet.Base)[0]
		bytes := r.version(first.TxID)
		r.Chain.SetRate(50) // no block includes it without a bump
		for r.versionsOf(first.ID) == 1 {
			r.Chain.Mine(1)
			r.Step()
		}
		second := r.spendNow(first.ID).TxID
		r.Chain.Mine(1)
		r.Revive(before, file)
		r.Trouble = true
		r.Step()
		r.Step()
		found, err := r.external(second)
		if p := r.spendNow(first.ID); err != nil || p.Status != bursar.OutgoingSigned {
			t.Fatalf("the second version is %+v, and what the journal had is %s: %s", found, p.Status, p.Error)
		}
		r.Chain.SetRate(1)
		r.Chain.Reorg(2, second)
		r.Chain.Forget()
		r.Must(r.Chain.Broadcast(ctx, bytes))
		for range 20 {
			r.Chain.Mine(1)
			r.Step()
		}
		if p := r.spendNow(first.ID); p.Status != bursar.OutgoingFinal {
			t.Fatalf("what was put back is %s, want %s: %s", p.Status, bursar.OutgoingFinal, p.Error)
		}
		if p := r.spendNow(found.OutgoingID); p.Status != bursar.OutgoingAbandoned {
			t.Errorf("the adopted one is %s, want %s: %s", p.Status, bursar.OutgoingAbandoned, p.Error)
		}
		r.NothingOpen()
		r.Must(r.Audit())
	})
}

// external returns the external spend of a transaction.
func (r *harness) external(txID string) (x store.ExternalSpend, err error) {
	r.T.Helper()
	r.View(func(tx *store.Tx) error {
		x, err = tx.ExternalSpends().ByTx(ctx, r.Chain.Capabilities().ID, txID)
		return nil
	})
	return x, err
}

// sweepsOf returns the signed sweeps of an address.
func (r *harness) sweepsOf(base string) (list []bursar.OutgoingTx) {
	for _, p := range r.Open() {
		if p.Kind == string(chain.KindSweep) && p.Base == base && p.TxID != "" {
			list = append(list, p)
		}
	}
	return list
}
