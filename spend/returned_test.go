package spend_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/unattributed"
)

// Returns before and after a reorganisation deeper than finality.

var memoed = sim.Config{ID: bursar.XRPL, Family: "xrpl", Spending: chain.ByNonce, Confirmations: 3, SharedAddress: true}

func (r *rig) wantSender(name, want string) {
	r.t.Helper()
	if got := r.chain.Balance(r.chain.Named(name), ""); got.String() != want {
		r.t.Errorf("%s holds %s, want %s", name, got, want)
	}
}

// stepUntilOpen has the follower take back blocks until the return of a deposit is in none.
func (r *rig) stepUntilOpen(d bursar.Deposit) {
	r.t.Helper()
	for range 50 {
		_, err := r.follower.Step(ctx, r.lease)
		r.must(err)
		open := false
		r.view(func(tx *store.Tx) error {
			open, err = tx.OpenReturn(ctx, d.ID, 0)
			return err
		})
		if open {
			return
		}
	}
	r.t.Fatal("its block is still on the chain")
}

// A return that was paid and fails on the branch that follows is unattributed again, and is paid when that branch goes as well.
func TestAPaidReturnThatFailsAfterAll(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *rig) {
		d := r.astray()
		n := r.sendBack(d, "sender")
		r.settle()
		r.wantSender("sender", n.Amount.String())
		r.wantBooks("0", "0", "0")
		r.chain.Close(r.chain.Named("sender"))
		r.undo(r.decision(d).TxID)
		r.stepUntilOpen(d)
		if got := r.decision(d); got.Status != bursar.DecisionSigned || !got.CompletedAt.IsZero() {
			t.Errorf("while no block is final, the decision is %+v", got)
		}
		r.wantBooks("0", "80000000", "0")
		r.settle()
		if got := r.decision(d); got.Status != bursar.DecisionFailed {
			t.Errorf("the decision is %+v", got)
		}
		r.wantBooks("80000000", "0", "0")
		r.wantAlarms("unattributed", "deep_reorganisation")
		r.must(r.audit())
		r.chain.Open(r.chain.Named("sender"))
		r.undo(r.decision(d).TxID)
		r.step()
		r.settle()
		r.wantBooks("0", "0", "0")
		r.wantSender("sender", n.Amount.String())
		if got := r.decision(d); got.Status != bursar.DecisionDone {
			t.Errorf("the decision is %+v", got)
		}
		r.must(r.audit())
		r.chain.Close(r.chain.Named("sender"))
		r.undo(r.decision(d).TxID)
		r.step()
		r.settle()
		r.wantBooks("80000000", "0", "0")
		r.must(r.audit())
	})
}

// failedReturn is a return whose transaction is final and has failed.
func (r *rig) failedReturn() (bursar.Deposit, bursar.Decision) {
	r.t.Helper()
	d := r.astray()
	r.chain.Close(r.chain.Named("sender"))
	r.sendBack(d, "sender")
	r.settle()
	r.wantBooks("80000000", "0", "0")
	n := r.decision(d)
	r.chain.Open(r.chain.Named("sender"))
	return d, n
}

// A failed return that was decided about again waits until its block is final again: nothing is decided or signed meanwhile
// that would pay the same value twice.
func TestAFailedReturnThatPaysAfterAllIsNotPaidTwice(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *rig) {
		d, first := r.failedReturn()
		r.holdBack(sim.Draft)
		r.sendBack(d, "somebody else")
		r.undo(first.TxID)
		r.step()
		r.chain.ClearFaults()
		r.trouble = false
		for range 12 {
			r.chain.Mine(1)
			r.step()
		}
		r.settle()
		r.wantSender("sender", first.Amount.String())
		r.wantSender("somebody else", "0")
		r.wantBooks("0", "0", "0")
		r.must(r.audit())
	})
}

// While an earlier return of it may be paid, value is not decided about.
func TestNothingIsDecidedWhileAnEarlierReturnMayBePaid(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *rig) {
		d, first := r.failedReturn()
		r.undo(first.TxID)
		r.stepUntilOpen(d)
		if _, err := r.undecided().Keep(ctx, d.ID, "mine"); !errors.Is(err, unattributed.ErrNotFinal) {
			t.Fatalf("it was decided: %v", err)
		}
		r.settle()
		r.wantSender("sender", first.Amount.String())
		r.wantBooks("0", "0", "0")
		if _, err := r.undecided().Keep(ctx, d.ID, "mine"); err == nil {
			t.Error("what was paid back was kept as well")
		}
		r.must(r.audit())
	})
}

// Value that was kept, and then paid back by the earlier return after all, is the operator's loss, and is told of; on the next
// branch, where that fails again, it is none.
func TestWhatIsGivenTwiceIsALoss(t *testing.T) {
	each(t, memoed, func(t *testing.T, r *rig) {
		d, first := r.failedReturn()
		if _, err := r.undecided().Keep(ctx, d.ID, "mine"); err != nil {
			t.Fatal(err)
		}
		r.undo(first.TxID)
		r.step()
		r.settle()
		r.wantBooks("0", "0", first.Amount.String())
		r.wantAlarms("return_paid_twice", "deep_reorganisation")
		r.must(r.audit())
		r.chain.Close(r.chain.Named("sender"))
		r.undo(first.TxID)
		r.step()
		r.settle()
		r.wantBooks("0", "0", "0")
		r.must(r.audit())
	})
}
