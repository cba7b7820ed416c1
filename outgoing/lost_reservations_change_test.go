package outgoing_test

import (
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/outgoing"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// merged lets two UTXOs be consolidated, and returns the transaction's ID.
func (r *harness) merged() string {
	r.T.Helper()
	r.Step()
	r.hold(2, 400_000_000)
	r.Sender.ConsolidateAbove = 2
	r.Step()
	list := r.consolidations()
	if len(list) != 1 {
		r.T.Fatalf("%d consolidations are in progress, want 1", len(list))
	}
	r.Sender.ConsolidateAbove = 0
	r.Settle()
	return r.spendNow(list[0].ID).TxID
}

// explainedAsLoss has an operator say of every unclear external spend that it is a loss.
func (r *harness) explainedAsLoss() {
	r.T.Helper()
	for _, x := range r.Unclear() {
		r.Must(r.Resolve(recovery.Answer{Item: x.Number, Rest: store.UsedUpAsLoss, Actor: "ann"}))
	}
}

// An older database has two versions of a payment as two transactions: one that was adopted, and has the change of an
// adopted consolidation reserved, and one that was put back and has nothing reserved. Their blocks are replaced, and
// the consolidation is made void. Both end, because its change never exists.
func TestWhatWasPutBackEndsWithTheChangeThatAnotherVersionReserves(t *testing.T) {
	config := bursartest.UTXOModel
	config.BumpAfter = 3
	each(t, config, func(t *testing.T, r *harness) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		guard := r.Guarded(file)
		r.Step()
		before := r.Backup()
		made := r.merged()
		r.Must(guard.Compare(ctx)) // the journal has no bytes of what is final
		r.Must(guard.Compare(ctx))
		w := r.Order(300_000_000, r.Chain.Named("receiver"))
		r.Step()
		first := r.Now(w)
		r.Chain.SetRate(50) // no block includes it without a bump
		r.StepAndMine(4)
		second := r.Now(w).TxID
		if second == first.TxID || first.TxID == "" {
			t.Fatalf("the fee of %s was not bumped: it is %s", first.TxID, second)
		}
		r.Chain.Mine(1)
		r.Revive(before, file)
		r.Trouble = true
		r.Step()
		r.explainedAsLoss()
		change, err := r.external(made)
		r.Must(err)
		if p := r.spendNow(first.OutgoingID); change.OutgoingID.IsZero() || p.Status != bursar.OutgoingSigned {
			t.Fatalf("the consolidation is %+v, and what the journal had is %s: %s", change, p.Status, p.Error)
		}
		r.Chain.SetRate(1)
		r.Undo(made, made, second)
		r.Chain.Forget()
		r.Blocks(2)
		_, err = r.Sender.Abandon(ctx, change.OutgoingID, outgoing.Abandonment{Reason: "nobody has it", Actor: "ann"})
		r.Must(err)
		r.Blocks(12)
		if p := r.spendNow(first.OutgoingID); p.Status != bursar.OutgoingAbandoned {
			t.Errorf("what was put back is %s, want %s: %s", p.Status, bursar.OutgoingAbandoned, p.Error)
		}
		r.NothingOpen()
		if got := r.Chain.Balance(w.Address.Base, ""); !got.IsZero() {
			t.Errorf("the receiver holds %s, want 0", got)
		}
		r.Must(r.Audit())
	})
}
