package outgoing_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What others do between two database transactions of one step.

// atEachMoment repeats a scenario: the function that set returns runs after the first database transaction of the
// sender's step, then after its second and so on, until there are no more. judge checks each result.
func atEachMoment(t *testing.T, config sim.Config, set func(r *harness) (meanwhile func()), judge func(r *harness)) {
	t.Helper()
	for at := 1; ; at++ {
		r := newHarness(t, storetest.Open(t, storetest.SQLite(t)), config)
		meanwhile := set(r)
		ended := 0
		r.sender.DB = r.db.As(r.db.Now, store.Conduct{Before: func(_ context.Context, point store.Point, _ string) error {
			if point == store.Ended {
				if ended++; ended == at {
					meanwhile()
				}
			}
			return nil
		}})
		r.must(r.sender.Step(ctx, r.lease))
		r.sender.DB = r.db
		if judge(r); t.Failed() {
			t.Fatalf("after transaction %d of the step", at)
		}
		if ended < at {
			return
		}
	}
}

// A refund to a sender is called back while a step assigns it, builds it and has it signed. Either it is too late for
// that and the refund is paid, or nobody is paid and the journal keeps no signature.
func TestARefundMayBeCalledBackAtAnyMoment(t *testing.T) {
	for name, config := range map[string]sim.Config{"coins": utxoModel, "shared": memoed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d bursar.Deposit
			var called error
			judged := map[bursar.ResolutionStatus]int{}
			atEachMoment(t, config, func(r *harness) func() {
				r.guarded(filepath.Join(t.TempDir(), "seed.marks"))
				d, called = r.astray(), nil
				r.sendBack(d, "sender")
				return func() { _, called = r.unattributed().Cancel(ctx, d.ID, "") }
			}, func(r *harness) {
				taken := r.resolution(d).OutgoingID
				r.settle()
				n := r.resolution(d)
				if called != nil || n.Status == bursar.ResolutionDone {
					r.wantSender("sender", n.Amount.String())
					r.wantBooks("0", "0", "0")
				} else {
					r.wantSender("sender", "0")
					r.wantBooks("80000000", "0", "0")
					r.wantAlarms("unattributed")
					if !taken.IsZero() && r.sender.Marks.Signed(r.chain.Capabilities().ID, taken) {
						t.Error("the journal keeps a signature")
					}
				}
				judged[n.Status]++
				r.must(r.audit())
			})
			if judged[bursar.ResolutionDone] == 0 || judged[bursar.ResolutionFailed] < 3 {
				t.Errorf("they ended %v", judged)
			}
		})
	}
}

// A payment's final block is reorged out while it is settled, and no node has its transaction any more. It is sent
// again and paid once: a transaction that is in no final block is not settled.
func TestABlockMayBeReorgedOutAtAnyMomentOfItsSettlement(t *testing.T) {
	for name, config := range models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w bursar.Withdrawal
			var before bursar.Amount
			atEachMoment(t, config, func(r *harness) func() {
				before = r.prepare()
				r.settle()
				w = r.order(300_000_000, r.chain.Named("outside"))
				r.step()
				r.chain.Mine(4)
				r.catchUp()
				sent := r.now(w).TxID
				return func() {
					r.undo(sent, sent)
					r.chain.Forget()
					r.catchUp()
				}
			}, func(r *harness) {
				r.settle()
				r.ends(w, r.chain.Named("outside"), bursar.WithdrawalConfirmed, before)
			})
		})
	}
}

// If a sweep and the deposits that it collected are final at once and not all of the deposits are booked yet, the sweep
// is settled after them; otherwise the books would say that they are still at their address.
func TestASweepIsSettledAfterItsDeposits(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.prepare()
		r.settle()
		w, first := r.wallet(1), ""
		for range 250 { // more than are booked at once
			first = r.pay(w.Address, 1_000_000)
		}
		r.settle()
		if got := r.holding(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) {
			t.Fatalf("the books say that %s are left at the address", got)
		}
		r.undo(first)
		for more := true; more; {
			var err error
			more, err = r.follower.Step(ctx, r.lease)
			r.must(err)
			r.must(r.sender.Step(ctx, r.lease))
		}
		r.settle()
		if got := r.holding(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) {
			t.Errorf("settled again, the books say that %s are left at the address", got)
		}
		r.must(r.audit())
	})
}
