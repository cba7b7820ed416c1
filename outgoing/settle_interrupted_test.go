package outgoing_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// What others do between two database transactions of one step.

// atEachMoment repeats a scenario: the function that set returns runs after the first database transaction of the
// sender's step, then after its second and so on, until there are no more. evaluate checks each result.
func atEachMoment(t *testing.T, config sim.Config, set func(r *harness) (meanwhile func()), evaluate func(r *harness)) {
	t.Helper()
	searches(t)
	ended := 0
	for at := 1; ended >= at-1 && !t.Failed(); at++ {
		t.Run(fmt.Sprint(at), func(t *testing.T) {
			ended = atOneMoment(newHarness(t, storetest.Open(t, storetest.Reused(t)), config), at, set, evaluate)
		})
	}
}

// atOneMoment returns how many transactions the step had.
func atOneMoment(r *harness, at int, set func(r *harness) (meanwhile func()), evaluate func(r *harness)) (ended int) {
	meanwhile := set(r)
	r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, point store.Point, _ string) error {
		if point == store.Ended {
			if ended++; ended == at {
				meanwhile()
			}
		}
		return nil
	}})
	r.Must(r.Sender.Step(ctx, r.Lease))
	r.Sender.DB = r.DB
	evaluate(r)
	return ended
}

// A refund to a sender is called back while a step assigns it, builds it and has it signed. Either it is too late for
// that and the refund is paid, or nobody is paid and the journal keeps no signature.
func TestARefundMayBeCalledBackAtAnyMoment(t *testing.T) {
	for name, config := range map[string]sim.Config{"coins": bursartest.UTXOModel, "shared": memoed} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d bursar.Deposit
			var called error
			evaluated := map[bursar.ResolutionStatus]int{}
			atEachMoment(t, config, func(r *harness) func() {
				r.Guarded(filepath.Join(t.TempDir(), "seed.marks"))
				d, called = r.Astray(), nil
				r.SendBack(d, "sender")
				return func() { _, called = r.Unattributed().Cancel(ctx, d.ID, "") }
			}, func(r *harness) {
				taken := r.Resolution(d).OutgoingID
				r.Settle()
				n := r.Resolution(d)
				if called != nil || n.Status == bursar.ResolutionDone {
					r.wantSender("sender", n.Amount.String())
					r.WantBooks("0", "0", "0")
				} else {
					r.wantSender("sender", "0")
					r.WantBooks("80000000", "0", "0")
					r.WantAlarms("unattributed")
					if !taken.IsZero() && r.Sender.Marks.Signed(r.Chain.Capabilities().ID, taken) {
						t.Error("the journal keeps a signature")
					}
				}
				evaluated[n.Status]++
				r.Must(r.Audit())
			})
			if evaluated[bursar.ResolutionDone] == 0 || evaluated[bursar.ResolutionFailed] < 3 {
				t.Errorf("they ended %v, want not 0 and at least 3", evaluated)
			}
		})
	}
}

// A payment's final block is reorged out while it is settled, and no node has its transaction any more. It is sent
// again and paid once: a transaction that is in no final block is not settled.
func TestABlockMayBeReorgedOutAtAnyMomentOfItsSettlement(t *testing.T) {
	for name, config := range bursartest.Models {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var w bursar.Withdrawal
			var before bursar.Amount
			atEachMoment(t, config, func(r *harness) func() {
				before = r.Prepare()
				r.Settle()
				w = r.Order(300_000_000, r.Chain.Named("outside"))
				r.Step()
				r.Chain.Mine(4)
				r.CatchUp()
				sent := r.Now(w).TxID
				return func() {
					r.Undo(sent, sent)
					r.Chain.Forget()
					r.CatchUp()
				}
			}, func(r *harness) {
				r.Settle()
				r.Ends(w, r.Chain.Named("outside"), bursar.WithdrawalConfirmed, before)
			})
		})
	}
}

// If a sweep and the deposits that it collected are final at once and not all of the deposits are booked yet, the sweep
// is settled after them; otherwise the books would say that they are still at their address.
func TestASweepIsSettledAfterItsDeposits(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		w, first := r.Wallet(1), ""
		for range 250 { // more than are booked at once
			first = r.Pay(w.Address, 1_000_000)
		}
		r.Settle()
		if got := r.Holding(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) {
			t.Fatalf("the books say that %s are left at the address", got)
		}
		r.Undo(first)
		for more := true; more; {
			var err error
			more, err = r.Follower.Step(ctx, r.Lease)
			r.Must(err)
			r.Must(r.Sender.Step(ctx, r.Lease))
		}
		r.Settle()
		if got := r.Holding(w.Address.Base, ""); !got.Less(bursar.Units(1_000_000)) {
			t.Errorf("settled again, the books say that %s are left at the address", got)
		}
		r.Must(r.Audit())
	})
}
