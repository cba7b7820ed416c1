package recovery_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/withdrawal"
)

// lossInNoBlock restores a database from before a payment, has it taken for a loss, has its block reorged out, and puts
// it back while no node accepts it.
func lossInNoBlock(r *bursartest.OneChain, file, before, txID string) []store.ExternalSpend {
	r.T.Helper()
	r.Restore(before)
	r.Halt(byAnn)
	r.Follower.Current = func() bool { return true }
	r.CatchUp()
	taken, err := r.SettleExternal()
	r.Must(err)
	r.Undo(txID, txID)
	r.CatchUp()
	r.Guarded(file)
	r.Follower.Wait = bursartest.LongWait
	r.Resume(byAnn)
	r.Trouble = true
	r.Chain.FailBroadcasts(sim.LostSilently, 1000)
	r.Recovered()
	return taken
}

// What a transaction paid was booked as a loss, its block is reorged out, and then it is put back: it is sent again,
// and will pay, or its replacement at a higher fee. The money of the withdrawal that it pays is not given back
// meanwhile. Once it is in a block it is linked; if it expires instead, another one pays.
func TestWhatTheJournalSaysIsPaidIsNotGivenBackAfterAReorg(t *testing.T) {
	bursartest.OnModels(t, func(t *testing.T, r *bursartest.OneChain) {
		file := filepath.Join(t.TempDir(), "seed.marks")
		r.Guarded(file)
		paid, waits, before := equals(r, 1, false)
		taken := lossInNoBlock(r, file, before, paid.TxID)
		if _, err := r.Withdrawals.Cancel(ctx, paid.ID); !errors.Is(err, withdrawal.ErrTooLate) {
			t.Errorf("to cancel it while it is in no block gives %v, want %v", err, withdrawal.ErrTooLate)
		}
		r.Chain.ClearFaults()
		for range 6 {
			r.Step()
			r.Chain.Mine(1)
		}
		r.Trouble = false
		r.Step()
		expired := !r.Chain.Capabilities().Lifetime.IsZero()
		if !expired {
			r.Must(r.Resolve(recovery.Answer{Item: taken[0].Number, Withdrawals: []bursar.ID{paid.ID}, Actor: "ann"}))
		}
		r.Settle()
		now := r.Now(paid)
		if !expired && now.OutgoingID != taken[0].OutgoingID {
			t.Errorf("it is paid by outgoing transaction %s, want a version of %s", now.OutgoingID, taken[0].OutgoingID)
		}
		paid = now // with a nonce its fee was bumped meanwhile
		bothPaid(r, paid, waits)
	})
}
