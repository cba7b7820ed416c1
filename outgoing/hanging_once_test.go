package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// between runs f once during the sender's next steps: after a read-only database transaction with a given query, and
// before its result is used.
func (r *harness) between(reads string, f func()) {
	db, seen, done := r.Sender.DB, false, false
	r.Sender.DB = db.As(db.Now, store.Hooks{Before: func(_ context.Context, at store.Point, what string) error {
		seen = seen || at == store.Running && strings.Contains(what, reads)
		if at == store.Ended && seen && !done {
			done = true
			f()
		}
		return nil
	}})
	r.T.Cleanup(func() {
		if !done {
			r.T.Errorf("nothing has read %q", reads)
		}
	})
}

// sweepOrdered has a sweep of 10 COIN requested and not signed, and returns its wallet and its deposit.
func (r *harness) sweepOrdered() (w bursar.Wallet, deposit string) {
	r.T.Helper()
	r.Step()
	w = r.Wallet(0)
	deposit = r.Pay(w.Address, 1_000_000_000)
	r.withoutSigner(func() { r.Blocks(4) })
	if list := r.Open(); len(list) != 1 || list[0].Status != bursar.OutgoingReserved {
		r.T.Fatalf("open are %+v", list)
	}
	return w, deposit
}

// The alarm about a sweep that the signer refused closes when the sweep ends because nothing is left to collect.
func TestTheAlarmOfARefusedSweepEndsWithIt(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		_, deposit := r.sweepOrdered()
		refuses := newFlakySigner(r, func() {})
		refuses.mood = stingy
		r.Sender.Signer = refuses
		r.Trouble = true
		r.Step()
		r.WantAlarms("signer_refused")
		r.Undo(deposit, deposit)
		r.CatchUp()
		r.Must(r.Sender.Step(ctx, r.Lease))
		r.NothingOpen()
		r.wantNone("signer_refused")
	})
}

// A deposit that arrives while a sweep is found to have nothing to collect keeps the sweep.
func TestASweepGoesOnWhenADepositArrivesInTime(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w, deposit := r.sweepOrdered()
		sweep := r.Open()[0]
		r.Undo(deposit, deposit)
		r.CatchUp()
		r.Pay(w.Address, 900_000_000)
		r.Chain.Mine(3)
		r.between("FROM holdings", r.CatchUp)
		r.Must(r.Sender.Step(ctx, r.Lease))
		if now := r.spendNow(sweep.ID); now.Status != bursar.OutgoingSigned {
			t.Errorf("the sweep is %s, want %s", now.Status, bursar.OutgoingSigned)
		}
		// It was signed for more than there is, and another version is made.
		if now := r.spendNow(sweep.ID); now.Versions != 2 || now.Error != "" {
			t.Errorf("it has %d versions: %q, want 2 and \"\"", now.Versions, now.Error)
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// A hanging sweep is recorded once, and so is one that waits for a node; nothing is written while nothing changes.
func TestASweepThatWaitsWritesNothing(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.hung()
		if n := r.written(); n != 0 {
			t.Errorf("%d transactions were written while a sweep hangs, want 0", n)
		}
	})
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.sweepOrdered()
		r.Trouble = true
		r.Chain.FailBroadcasts(sim.LostUnknown, 1000)
		r.Step()
		r.Step()
		if p := r.Open()[0]; p.Status != bursar.OutgoingSigned || p.Error == "" {
			t.Fatalf("the sweep is %s: %q, want %v and not %q", p.Status, p.Error, bursar.OutgoingSigned, "")
		}
		if n := r.written(); n != 0 {
			t.Errorf("%d transactions were written while a sweep waits for a node, want 0", n)
		}
	})
}

// A sweep that is included while it is found to have nothing to collect does not hang.
func TestASweepThatHasJustBeenIncludedDoesNotHang(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w, deposit := r.sweepOrdered()
		r.Step()
		sweep := r.Open()[0]
		bytes := r.version(sweep.TxID)
		r.Chain.Forget()
		r.Undo(deposit, deposit)
		r.Chain.Forget()
		r.CatchUp()
		r.Chain.Mine(1)
		r.CatchUp()
		r.between("FROM holdings", func() {
			r.Pay(w.Address, 1_000_000_000)
			r.Chain.Mine(1)
			r.Must(r.Chain.Broadcast(ctx, bytes))
			r.Chain.Mine(1)
			r.CatchUp()
		})
		r.Trouble = true
		r.Check(r.Sender.Step(ctx, r.Lease))
		if now := r.spendNow(sweep.ID); now.Height == 0 || now.WaitsFor != "" {
			t.Errorf("the sweep in block %d waits for %q, want not 0 and %q", now.Height, now.WaitsFor, "")
		}
	})
}

// A signed sweep whose deposit is included again while the sweep is found to have nothing to collect does not hang.
func TestASweepWhoseDepositIsIncludedAgainDoesNotHang(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w, deposit := r.sweepOrdered()
		r.Step()
		sweep := r.Open()[0]
		r.Chain.Forget()
		r.Undo(deposit, deposit)
		r.Chain.Forget()
		r.CatchUp()
		r.Pay(w.Address, 1_200_000_000)
		r.Chain.Mine(3)
		r.between("FROM holdings", r.CatchUp)
		r.Check(r.Sender.Step(ctx, r.Lease))
		if now := r.spendNow(sweep.ID); now.WaitsFor != "" || len(r.Chain.Waiting()) != 1 {
			t.Errorf("the sweep waits for %q, and %d transactions wait for a block, want \"\" and 1",
				now.WaitsFor, len(r.Chain.Waiting()))
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// A hanging sweep goes on once its deposit is final, and is not sent before.
func TestASweepThatHangsWaitsForFinality(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w := r.hung()
		r.Pay(w.Address, 1_000_000_000)
		node := r.sentOnly()
		r.Trouble = true
		r.Blocks(2)
		if hang, _ := r.hanging(); hang != 1 || node.sent != 0 || node.builds != 0 {
			t.Errorf("%d hang, %d were built and %d sent before the deposit is final, want 1 and 0", hang, node.builds,
				node.sent)
		}
		r.Blocks(1)
		if hang, move := r.hanging(); hang != 0 || move != 1 || node.sent == 0 {
			t.Errorf("with a final deposit %d hang, and %d were sent, want 0 and 1 and not 0", hang, node.sent)
		}
	})
}

// A sweep of everything that its address holds is sent as it was signed, and nothing else is built for it.
func TestASweepThatIsCoveredIsSentAsItIs(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.sweepOrdered()
		node := r.sentOnly()
		r.Step()
		if node.sent != 1 || node.builds != 0 {
			t.Errorf("%d were sent, and %d more built, want 1 and 0", node.sent, node.builds)
		}
	})
}

// A sweep is sent as it was signed while its address holds enough, even if not all of that is final any more.
func TestASweepIsSentAsItIsWhileThereIsEnough(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Step()
		w := r.Wallet(0)
		r.Pay(w.Address, 600_000_000)
		r.Chain.Mine(1)
		second := r.Pay(w.Address, 400_000_000)
		r.withoutSigner(func() { r.Blocks(5) })
		r.Chain.FailBroadcasts(sim.LostUnknown, 1)
		r.Trouble = true
		r.Check(r.Sender.Step(ctx, r.Lease))
		sweep := r.Open()[0]
		r.Undo(second, second)
		r.Pay(w.Address, 400_000_000)
		r.Chain.Mine(1)
		r.CatchUp()
		r.Check(r.Sender.Step(ctx, r.Lease))
		if now := r.spendNow(sweep.ID); now.Status != bursar.OutgoingSent || now.Versions != 1 {
			t.Errorf("the sweep is %s in %d versions: %q, want %s and 1",
				now.Status, now.Versions, now.Error, bursar.OutgoingSent)
		}
	})
}
