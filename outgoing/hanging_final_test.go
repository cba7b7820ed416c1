package outgoing_test

import (
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/outgoing"
)

// A hanging sweep that is included just when a new sweep is to use its nonce leaves the new one as it is.
func TestASweepIsNotGivenToOneThatHasJustBeenIncluded(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens()
		w := r.hung()
		hanging := r.Open()[0]
		bytes := r.version(hanging.TxID)
		r.Give("TOKEN", w.Address, 50_000)
		r.Chain.Mine(3)
		r.CatchUp()
		r.Trouble = true
		r.Check(r.Sweeper.Step(ctx, r.Lease))
		if len(r.Open()) != 2 {
			t.Fatalf("open are %+v, want 2 of them", r.Open())
		}
		r.between("waits_for = 'deposit' ORDER BY", func() {
			r.Pay(w.Address, 1_000_000_000)
			r.Chain.Mine(1)
			r.Must(r.Chain.Broadcast(ctx, bytes))
			r.Chain.Mine(1)
			r.CatchUp()
		})
		r.Check(r.Sender.Step(ctx, r.Lease))
		r.Check(r.Sender.Step(ctx, r.Lease))
		if now := r.spendNow(hanging.ID); now.Currency != "COIN" || now.Height == 0 || !r.sweeps(w, bursar.OutgoingNew) {
			t.Errorf("the one in a block is of %s; open are %d", now.Currency, len(r.Open()))
			r.LogOpen(5)
		}
	})
}

// A hanging sweep ends when its bytes expire; while no node knows whether they have, the error says so and the sweep
// stays.
func TestASweepThatHangsExpires(t *testing.T) {
	for name, config := range map[string]sim.Config{"with nonces": bursartest.Expiring, "without": bursartest.Unnumbered} {
		config.Confirmations = 3
		t.Run(name, func(t *testing.T) {
			each(t, config, func(t *testing.T, r *harness) {
				w := r.hung()
				r.Trouble = true
				r.Chain.Fail(sim.Expired, 1, nil)
				r.Step()
				if list := r.Open(); len(list) != 1 || !strings.Contains(list[0].Error, "find out whether it expired") {
					t.Errorf("open are %+v, want 1 of them and %q in it", list, "find out whether it expired")
				}
				r.Step()
				if list := r.Open(); len(list) == 1 &&
					!strings.Contains(list[0].Error, "the deposit that it collects was reorged out") {
					t.Errorf("the sweep that hangs says %q", list[0].Error)
				}
				r.Blocks(10)
				r.NothingOpen()
				r.Trouble = false
				r.Pay(w.Address, 700_000_000)
				r.Settle()
				if got := r.Chain.Balance(w.Address.Base, ""); !got.Less(bursar.Units(10_000_000)) {
					t.Errorf("%s was not swept", got)
				}
				r.Must(r.Audit())
			})
		})
	}
}

// A hanging sweep that is given another request keeps its own ID in it: the signer and the journal know it by that ID.
func TestAHangingSweepKeepsItsOwnID(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.WithTokens()
		w := r.hung()
		hanging := r.Open()[0]
		r.Give("TOKEN", w.Address, 50_000)
		r.Trouble = true
		for range 12 {
			r.Blocks(1)
			now := r.spendNow(hanging.ID)
			request, err := outgoing.DecodeRequest(now)
			r.Must(err)
			if request.ID != hanging.ID {
				t.Fatalf("the sweep %s has the request of %s", hanging.ID, request.ID)
			}
			if now.Currency == "TOKEN" {
				return
			}
		}
		t.Error("it was given nothing else to collect")
	})
}
