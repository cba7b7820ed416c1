package outgoing_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/store/storetest"
)

// finalSweeps has so many addresses paid and swept. The sweeps are final on the chain and not settled.
func (r *harness) finalSweeps(n int) (swept []bursar.OutgoingTx) {
	r.T.Helper()
	for range n {
		r.Pay(r.Wallet(1).Address, 80_000_000)
	}
	r.Chain.Mine(3)
	r.CatchUp()
	r.Must(r.Sweeper.Step(ctx, r.Lease))
	r.Must(r.Sender.Step(ctx, r.Lease))
	r.Chain.Mine(4)
	r.CatchUp()
	for _, p := range r.Open() {
		if p.Kind == string(chain.KindSweep) {
			swept = append(swept, p)
		}
	}
	if len(swept) != n {
		r.T.Fatalf("%d sweeps are open, want %d", len(swept), n)
	}
	return swept
}

// The sweeps of a block are settled in as many database transactions as one is, and the books agree with the chain.
func TestTheSweepsOfABlockAreSettledTogether(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Prepare()
		r.Settle()
		commits := func(sweeps int) (made int) {
			swept := r.finalSweeps(sweeps)
			untouched := r.Sender.DB
			defer func() { r.Sender.DB = untouched }()
			r.Sender.DB = r.DB.As(r.DB.Now, store.Hooks{Before: func(_ context.Context, at store.Point, _ string) error {
				if at == store.Committing {
					made++
				}
				return nil
			}})
			r.Must(r.Sender.Step(ctx, r.Lease))
			for _, p := range swept {
				if now := r.Outgoing(p.ID); now.Status != bursar.OutgoingFinal {
					t.Errorf("sweep of %s is %s, want %s", p.Base, now.Status, bursar.OutgoingFinal)
				}
				if held, books := r.Chain.Balance(p.Base, ""), r.Holding(p.Base, ""); held != books {
					t.Errorf("%s holds %s, by the books %s", p.Base, held, books)
				}
			}
			return made
		}
		if one, many := commits(1), commits(7); one != many || one == 0 {
			t.Errorf("one sweep was settled in %d commits, 7 in %d, want as many", one, many)
		}
		r.Must(r.Audit())
	})
}

// A sweep that cannot be settled says why, and those in whose group it is are settled without it.
func TestASweepThatCannotBeSettledHoldsUpNoOther(t *testing.T) {
	storetest.Each(t, func(t *testing.T, db *store.DB) {
		r := newHarness(t, db, bursartest.Numbered)
		r.Forged = true
		attack := intruder(t, db)
		r.Prepare()
		r.Settle()
		swept := r.finalSweeps(4)
		broken := swept[2]
		attack(`DELETE FROM outgoing_versions WHERE outgoing_id = $1`, broken.ID)
		err := r.Sender.Step(ctx, r.Lease)
		if err == nil || strings.Count(err.Error(), "has no stored version") != 1 {
			t.Errorf("the step returned %v, want an error of the one that has no stored version, once", err)
		}
		for _, p := range swept {
			want := bursar.OutgoingFinal
			if p.ID == broken.ID {
				want = bursar.OutgoingSent
			}
			if now := r.Outgoing(p.ID); now.Status != want {
				t.Errorf("the sweep of %s is %s, want %s", p.Base, now.Status, want)
			}
			held, books := r.Chain.Balance(p.Base, ""), r.Holding(p.Base, "")
			if settled := held == books; settled != (p.ID != broken.ID) {
				t.Errorf("%s holds %s, by the books %s", p.Base, held, books)
			}
		}
	})
}

// The block of several sweeps is reorged out at any moment of their settlement: each is settled once it is final again,
// and costs its fee once.
func TestTheBlockOfSweepsMayBeReorgedOutAtAnyMoment(t *testing.T) {
	var swept []bursar.OutgoingTx
	atEachMoment(t, bursartest.Numbered, func(r *harness) func() {
		r.Prepare()
		r.Settle()
		swept = r.finalSweeps(3)
		return func() {
			r.Undo(swept[0].TxID, swept[1].TxID)
			r.CatchUp()
		}
	}, func(r *harness) {
		r.Settle()
		for _, p := range swept {
			if now := r.Outgoing(p.ID); now.Status != bursar.OutgoingFinal {
				t.Errorf("the sweep of %s is %s, want %s", p.Base, now.Status, bursar.OutgoingFinal)
			}
		}
		r.Must(r.Audit())
		r.Must(r.Reconcile())
	})
}
