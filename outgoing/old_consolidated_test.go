package outgoing_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// A payment of the old hot wallet that is in no block has reserved the only output of an earlier epoch. Nothing is
// consolidated for that: it would cost a fee with every block, and merge nothing.
func TestAReservedOldOutputIsNotConsolidated(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 900_000_000)
		r.Chain.Mine(3)
		r.Step()
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Chain.FailBroadcasts(sim.LostSilently, 1000)
		r.Step()
		if r.Now(w).TxID == "" {
			t.Fatal("nothing was signed")
		}
		r.Rotate()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 700_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.nothingIsConsolidated()
		r.Chain.ClearFaults()
		r.Settle()
		if got := r.Chain.Balance(w.Address.Base, ""); got != w.Amount {
			t.Errorf("the receiver holds %s, want %s", got, w.Amount)
		}
	})
}

// nothingIsConsolidated checks that in four blocks.
func (r *harness) nothingIsConsolidated() {
	r.T.Helper()
	for range 4 {
		r.Step()
		r.Chain.Mine(1)
		if list := r.consolidations(); len(list) > 0 {
			r.T.Fatalf("%v are consolidated, want nothing", r.resources(list[0]))
		}
	}
}

// forgetPrevious has neither the database nor a node know the transaction that made an output.
func (r *harness) forgetPrevious(txID string) {
	r.T.Helper()
	id, outpoint := r.Chain.Capabilities().ID, []string{txID + ":0"}
	r.Do(func(tx *store.Tx) error {
		return errors.Join(tx.UTXOs().SetSpent(ctx, id, outpoint, true), tx.UTXOs().DropPrevious(ctx, id, []string{txID}),
			tx.UTXOs().SetSpent(ctx, id, outpoint, false))
	})
	r.Chain.Fail(sim.Previous, 1000, chain.ErrNoPrevious)
}

// An output of an earlier epoch that no node can prove cannot be spent. Those of the hot wallet are not consolidated in
// its place.
func TestNothingIsConsolidatedForAnOldOutputThatNobodyProves(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		old := r.Wallet(0).Address
		deposit := r.Pay(old, 900_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.forgetPrevious(deposit)
		r.Rotate()
		r.Pay(bursar.Address{Base: r.Hot.Base}, 700_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.nothingIsConsolidated()
		if !r.alarmed(recovery.AlarmUnproven) {
			t.Error("no alarm says so")
		}
		r.Chain.ClearFaults()
		r.Blocks(40)
		if got := r.Chain.Balance(old.Base, ""); !got.IsZero() || len(r.consolidations()) > 0 {
			t.Errorf("once it is proven, the old address holds %s, and %d consolidations are open, want none", got,
				len(r.consolidations()))
		}
	})
}

// So many outputs of the hot wallet are larger than one of an earlier epoch that a build does not look at it among
// them. It is brought to the hot wallet all the same.
func TestAnOldOutputIsConsolidatedBesideManyLargerOnes(t *testing.T) {
	each(t, bursartest.UTXOModel, func(t *testing.T, r *harness) {
		r.Step()
		old := r.Wallet(0).Address
		r.Pay(old, 1_000_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.Rotate()
		r.Sender.ConsolidateAbove = 1 << 20
		r.Chain.Pay(slices.Repeat([]chain.Payment{{Address: bursar.Address{Base: r.Hot.Base},
			Amount: bursar.Units(2_000_000)}}, 2001)...)
		r.Chain.Mine(3)
		r.CatchUp()
		r.Blocks(2)
		if got := r.Chain.Balance(old.Base, ""); !got.IsZero() {
			t.Errorf("the old address holds %s, want it emptied", got)
		}
	})
}
