package outgoing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// overdrawn has a sweep of 80,000 units of a token sent, and a deposit of 30,000 of them reorged out after that.
func (r *harness) overdrawn() (w bursar.Wallet, token bursar.Currency, sweep bursar.OutgoingTx) {
	r.t.Helper()
	r.withTokens().prepare()
	r.settle()
	token, err := r.registry.Get("TOKEN")
	r.must(err)
	w = r.walletOf(0, "TOKEN")
	r.give("TOKEN", w.Address, 50_000)
	r.chain.Mine(1)
	gone := r.chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(30_000)})
	for n := 0; n < 15 && sweep.Status != bursar.OutgoingSent; n++ {
		r.blocks(1)
		if open := r.open(); len(open) > 0 {
			sweep = open[0]
		}
	}
	if sweep.Kind != string(chain.KindSweep) {
		r.t.Fatalf("open are %+v", r.open())
	}
	r.chain.Forget()
	r.undo(gone, gone)
	r.trouble = true
	return w, token, sweep
}

// A signed sweep asks for more of a token than is left at its address: it would fail in its block. It is replaced by
// one of what is there, and its own bytes are not sent any more.
func TestASweepOfMoreThanIsLeftIsReplacedByOneOfLess(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		w, token, sweep := r.overdrawn()
		node := r.record()
		for range 15 {
			r.chain.Mine(1)
			r.step()
			for _, id := range node.sent {
				if id == sweep.TxID {
					t.Fatal("what asks for too much is sent again")
				}
			}
		}
		got := r.spendNow(sweep.ID)
		if got.Status != bursar.OutgoingFinal || got.Versions != 2 || got.Error != "" {
			t.Errorf("the sweep is %s with %d versions: %q", got.Status, got.Versions, got.Error)
		}
		hot, left := r.chain.Balance(r.hot.Base, token.Contract), r.holding(w.Address.Base, token.Contract)
		if hot != bursar.Units(50_000) || !left.IsZero() {
			t.Errorf("swept are %s, and the books say that %s are left", hot, left)
		}
		r.nothingOpen()
		r.must(r.reconcile())
	})
}

// Where there is gas for it, it is replaced in the very step that finds it out, and only the new one is sent.
func TestASweepOfMoreThanIsLeftIsReplacedAtOnce(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		w, _, sweep := r.overdrawn()
		r.pay(w.Address, 1_000_000)
		r.chain.Mine(1)
		r.catchUp()
		node := r.record()
		r.must(r.sender.Step(ctx, r.lease))
		got := r.spendNow(sweep.ID)
		if got.Versions != 2 || got.Error != "" || got.TxID == sweep.TxID {
			t.Errorf("it has %d versions: %q", got.Versions, got.Error)
		}
		node.wantSent(t, "in that step", got.TxID)
	})
}

// Where a node says that all of it is there, against the books, the sweep is sent as it is.
func TestASweepOfWhatANodeSaysIsThereIsSent(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		w, token, sweep := r.overdrawn()
		r.pay(w.Address, 1_000_000)        // gas for a bump
		r.give("TOKEN", w.Address, 30_000) // it comes again, and the books have not credited it
		r.chain.Mine(1)
		r.catchUp()
		node := &oracle{recorded: r.record(), held: func([]bursar.Amount) []bursar.Amount {
			return []bursar.Amount{bursar.Units(80_000)}
		}}
		r.sender.Chain = node
		r.must(r.sender.Step(ctx, r.lease))
		node.wantSent(t, "by the node's word", sweep.TxID)
		if got := r.spendNow(sweep.ID); got.Versions != 1 || got.Error != "" {
			t.Errorf("it has %d versions: %q", got.Versions, got.Error)
		}
		r.sender.Chain = r.chain
		r.blocks(15)
		if hot := r.chain.Balance(r.hot.Base, token.Contract); hot != bursar.Units(80_000) {
			t.Errorf("swept are %s", hot)
		}
	})
}

// Where it cannot be replaced now, it is neither sent nor given up: the operator reads why, and it goes on once that is
// over.
func TestASweepOfMoreThanIsLeftWaitsUntilItCanBeReplaced(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		_, token, sweep := r.overdrawn()
		r.blocks(1)
		node := r.record()
		node.build = func(chain.TxRequest, chain.UnsignedTx, error) (chain.UnsignedTx, error) {
			return chain.UnsignedTx{}, errors.New("no fees known")
		}
		r.blocks(4)
		if got := r.spendNow(sweep.ID); got.Status != bursar.OutgoingSent || !strings.Contains(got.Error, "no fees known") {
			t.Errorf("the sweep is %s: %q", got.Status, got.Error)
		}
		node.wantSent(t, "meanwhile")
		r.sender.Chain = r.chain
		r.blocks(15)
		if got := r.spendNow(sweep.ID); got.Status != bursar.OutgoingFinal {
			t.Errorf("in the end the sweep is %s: %q", got.Status, got.Error)
		}
		if hot := r.chain.Balance(r.hot.Base, token.Contract); hot != bursar.Units(50_000) {
			t.Errorf("swept are %s", hot)
		}
	})
}

// unsentSweep has a sweep of two deposits signed that no node was sent, and one of them reorged out.
func (r *harness) unsentSweep() (sweep bursar.OutgoingTx) {
	r.t.Helper()
	r.step()
	w := r.wallet(0)
	r.pay(w.Address, 400_000_000)
	r.chain.Mine(1)
	gone := r.pay(w.Address, 500_000_000)
	r.chain.Mine(3)
	r.trouble = true
	r.chain.Fail(sim.Broadcast, 2, errors.New("no peers"))
	r.step()
	r.step()
	sweep = r.only()
	if sweep.Status != bursar.OutgoingSigned || !strings.Contains(sweep.Error, "no peers") {
		r.t.Fatalf("the sweep is %s: %q", sweep.Status, sweep.Error)
	}
	r.chain.ClearFaults()
	r.undo(gone, gone)
	r.chain.Forget()
	return sweep
}

// A node refuses a sweep of more of the native asset than is there: one of what is there replaces it at once, which is
// no trouble.
func TestASweepThatANodeRefusesIsReplacedByOneOfLess(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		sweep := r.unsentSweep()
		node := r.record()
		r.catchUp()
		r.must(r.sender.Step(ctx, r.lease))
		got := r.only()
		node.wantSent(t, "when it is refused", sweep.TxID, got.TxID)
		if got.ID != sweep.ID || got.Versions != 2 || got.Error != "" {
			t.Errorf("it has %d versions: %q", got.Versions, got.Error)
		}
		r.settle()
		r.must(r.audit())
	})
}

// Where that cannot be made either, the operator reads both.
func TestASweepThatANodeRefusesAndNothingReplaces(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		sweep := r.unsentSweep()
		node := r.record()
		r.catchUp()
		node.build = func(chain.TxRequest, chain.UnsignedTx, error) (chain.UnsignedTx, error) {
			return chain.UnsignedTx{}, errors.New("no fees known")
		}
		r.must(r.sender.Step(ctx, r.lease))
		if got := r.only(); got.Versions != 1 || !strings.Contains(got.Error, "no fees known") ||
			!strings.Contains(got.Error, "broadcast "+sweep.TxID) {
			t.Errorf("it has %d versions: %q", got.Versions, got.Error)
		}
		r.sender.Chain = r.chain
		r.settle()
		r.must(r.audit())
	})
}

// A sweep that a node does not take for a reason of its own is sent again as it is, and the operator reads the reason.
func TestASweepThatNoNodeTakesIsSentAgain(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.step()
		r.pay(r.wallet(0).Address, 400_000_000)
		r.chain.Mine(3)
		r.trouble = true
		node := r.record()
		r.chain.Fail(sim.Broadcast, 2, errors.New("no peers"))
		r.step()
		r.step()
		r.step()
		first := r.only()
		if first.Versions != 1 || !strings.Contains(first.Error, "no peers") {
			t.Errorf("it has %d versions: %q", first.Versions, first.Error)
		}
		r.step()
		if got := r.only(); got.Versions != 1 || got.Status != bursar.OutgoingSent || got.Error != "" {
			t.Errorf("it is %s with %d versions: %q", got.Status, got.Versions, got.Error)
		}
		node.wantSent(t, "in three steps", first.TxID, first.TxID, first.TxID)
		r.settle()
	})
}

// A sweep that hangs is sent to nobody, and the operator reads what it waits for.
func TestASweepThatHangsIsNotSent(t *testing.T) {
	each(t, numbered, func(t *testing.T, r *harness) {
		r.hung()
		node := r.record()
		r.blocks(3)
		node.wantSent(t, "while it hangs")
		if got := r.only(); !strings.Contains(got.Error, "it goes on once money arrives at its address") {
			t.Errorf("the operator reads %q", got.Error)
		}
	})
}
