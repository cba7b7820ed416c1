package outgoing_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// overdrawn has a sweep of 80,000 units of a token sent, and a deposit of 30,000 of them reorged out after that.
func (r *harness) overdrawn() (w bursar.Wallet, token bursar.Currency, sweep bursar.OutgoingTx) {
	r.T.Helper()
	r.WithTokens().Prepare()
	r.Settle()
	token, err := r.Registry.Get("TOKEN")
	r.Must(err)
	w = r.WalletOf(0, "TOKEN")
	r.Give("TOKEN", w.Address, 50_000)
	r.Chain.Mine(1)
	gone := r.Chain.Pay(chain.Payment{Address: w.Address, Contract: token.Contract, Amount: bursar.Units(30_000)})
	for n := 0; n < 15 && sweep.Status != bursar.OutgoingSent; n++ {
		r.Blocks(1)
		if open := r.Open(); len(open) > 0 {
			sweep = open[0]
		}
	}
	if sweep.Kind != string(chain.KindSweep) {
		r.T.Fatalf("open are %+v", r.Open())
	}
	r.Chain.Forget()
	r.Undo(gone, gone)
	r.Trouble = true
	return w, token, sweep
}

// A signed sweep that moves more of a token than is left at its address would fail in its block. It is replaced by a
// sweep of what is there, and its own bytes are not sent any more.
func TestASweepOfMoreThanIsLeftIsReplacedByOneOfLess(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w, token, sweep := r.overdrawn()
		node := r.record()
		for range 15 {
			r.Chain.Mine(1)
			r.Step()
			for _, id := range node.sent {
				if id == sweep.TxID {
					t.Fatal("what asks for too much is sent again")
				}
			}
		}
		got := r.spendNow(sweep.ID)
		if got.Status != bursar.OutgoingFinal || got.Versions != 2 || got.Error != "" {
			t.Errorf("the sweep is %s with %d versions: %q, want %s, 2 and \"\"",
				got.Status, got.Versions, got.Error, bursar.OutgoingFinal)
		}
		hot, left := r.Chain.Balance(r.Hot.Base, token.Contract), r.Holding(w.Address.Base, token.Contract)
		if hot != bursar.Units(50_000) || !left.IsZero() {
			t.Errorf("swept are %s, and the books say that %s are left, want %s and 0", hot, left, bursar.Units(50_000))
		}
		r.NothingOpen()
		r.Must(r.Reconcile())
	})
}

// If there is gas for it, it is replaced in the same step that finds it out, and only the replacement is sent.
func TestASweepOfMoreThanIsLeftIsReplacedAtOnce(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w, _, sweep := r.overdrawn()
		r.Pay(w.Address, 1_000_000)
		r.Chain.Mine(1)
		r.CatchUp()
		node := r.record()
		r.Must(r.Sender.Step(ctx, r.Lease))
		got := r.spendNow(sweep.ID)
		if got.Versions != 2 || got.Error != "" || got.TxID == sweep.TxID {
			t.Errorf("it has %d versions: %q", got.Versions, got.Error)
		}
		node.wantSent(t, "in that step", got.TxID)
	})
}

// If a node says, against the books, that all of it is there, the sweep is sent unchanged.
func TestASweepThatANodeCoversIsSent(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		w, token, sweep := r.overdrawn()
		r.Pay(w.Address, 1_000_000)        // gas for a bump
		r.Give("TOKEN", w.Address, 30_000) // it is included again, and the books have not credited it
		r.Chain.Mine(1)
		r.CatchUp()
		node := &oracle{recorded: r.record(), held: func([]bursar.Amount) []bursar.Amount {
			return []bursar.Amount{bursar.Units(80_000)}
		}}
		r.Sender.Chain = node
		r.Must(r.Sender.Step(ctx, r.Lease))
		node.wantSent(t, "by the node's word", sweep.TxID)
		if got := r.spendNow(sweep.ID); got.Versions != 1 || got.Error != "" {
			t.Errorf("it has %d versions: %q, want 1 and \"\"", got.Versions, got.Error)
		}
		r.Sender.Chain = r.Chain
		r.Blocks(15)
		if hot := r.Chain.Balance(r.Hot.Base, token.Contract); hot != bursar.Units(80_000) {
			t.Errorf("swept are %s, want %s", hot, bursar.Units(80_000))
		}
	})
}

// If it cannot be replaced now, it is neither sent nor given up: its error says why, and it goes on once that is over.
func TestASweepOfMoreThanIsLeftWaitsUntilItCanBeReplaced(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		_, token, sweep := r.overdrawn()
		r.Blocks(1)
		node := r.record()
		node.build = func(chain.TxRequest, chain.UnsignedTx, error) (chain.UnsignedTx, error) {
			return chain.UnsignedTx{}, errors.New("no fees known")
		}
		r.Blocks(4)
		if got := r.spendNow(sweep.ID); got.Status != bursar.OutgoingSent || !strings.Contains(got.Error, "no fees known") {
			t.Errorf("the sweep is %s: %q, want %s and one with %q",
				got.Status, got.Error, bursar.OutgoingSent, "no fees known")
		}
		node.wantSent(t, "meanwhile")
		r.Sender.Chain = r.Chain
		r.Blocks(15)
		if got := r.spendNow(sweep.ID); got.Status != bursar.OutgoingFinal {
			t.Errorf("in the end the sweep is %s: %q, want %s", got.Status, got.Error, bursar.OutgoingFinal)
		}
		if hot := r.Chain.Balance(r.Hot.Base, token.Contract); hot != bursar.Units(50_000) {
			t.Errorf("swept are %s, want %s", hot, bursar.Units(50_000))
		}
	})
}

// unsentSweep has a sweep of two deposits signed that was sent to no node, and one of them reorged out.
func (r *harness) unsentSweep() (sweep bursar.OutgoingTx) {
	r.T.Helper()
	r.Step()
	w := r.Wallet(0)
	r.Pay(w.Address, 400_000_000)
	r.Chain.Mine(1)
	gone := r.Pay(w.Address, 500_000_000)
	r.Chain.Mine(3)
	r.Trouble = true
	r.Chain.Fail(sim.Broadcast, 2, errors.New("no peers"))
	r.Step()
	r.Step()
	sweep = r.only()
	if sweep.Status != bursar.OutgoingSigned || !strings.Contains(sweep.Error, "no peers") {
		r.T.Fatalf("the sweep is %s: %q, want %s and one with %q",
			sweep.Status, sweep.Error, bursar.OutgoingSigned, "no peers")
	}
	r.Chain.ClearFaults()
	r.Undo(gone, gone)
	r.Chain.Forget()
	return sweep
}

// If a node refuses a sweep of more of the native asset than is there, a sweep of what is there replaces it at once,
// without an error.
func TestASweepThatANodeRefusesIsReplacedByOneOfLess(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		sweep := r.unsentSweep()
		node := r.record()
		r.CatchUp()
		r.Must(r.Sender.Step(ctx, r.Lease))
		got := r.only()
		node.wantSent(t, "when it is refused", sweep.TxID, got.TxID)
		if got.ID != sweep.ID || got.Versions != 2 || got.Error != "" {
			t.Errorf("it has %d versions: %q, want %v and 2 and %q", got.Versions, got.Error, sweep.ID, "")
		}
		r.Settle()
		r.Must(r.Audit())
	})
}

// If that replacement cannot be built either, the error says both.
func TestASweepThatANodeRefusesAndNothingReplaces(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		sweep := r.unsentSweep()
		node := r.record()
		r.CatchUp()
		node.build = func(chain.TxRequest, chain.UnsignedTx, error) (chain.UnsignedTx, error) {
			return chain.UnsignedTx{}, errors.New("no fees known")
		}
		r.Must(r.Sender.Step(ctx, r.Lease))
		if got := r.only(); got.Versions != 1 || !strings.Contains(got.Error, "no fees known") ||
			!strings.Contains(got.Error, "broadcast "+sweep.TxID) {
			t.Errorf("it has %d versions: %q, want 1 and %q in it and %v in it", got.Versions, got.Error, "no fees known",
				"broadcast "+sweep.TxID)
		}
		r.Sender.Chain = r.Chain
		r.Settle()
		r.Must(r.Audit())
	})
}

// A sweep that a node refuses for a reason of its own is sent again unchanged, and its error has the reason.
func TestASweepThatNoNodeTakesIsSentAgain(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.Step()
		r.Pay(r.Wallet(0).Address, 400_000_000)
		r.Chain.Mine(3)
		r.Trouble = true
		node := r.record()
		r.Chain.Fail(sim.Broadcast, 2, errors.New("no peers"))
		r.Step()
		r.Step()
		r.Step()
		first := r.only()
		if first.Versions != 1 || !strings.Contains(first.Error, "no peers") {
			t.Errorf("it has %d versions: %q, want 1 and one with %q", first.Versions, first.Error, "no peers")
		}
		r.Step()
		if got := r.only(); got.Versions != 1 || got.Status != bursar.OutgoingSent || got.Error != "" {
			t.Errorf("it is %s with %d versions: %q, want 1 and %v and %q", got.Status, got.Versions, got.Error,
				bursar.OutgoingSent, "")
		}
		node.wantSent(t, "in three steps", first.TxID, first.TxID, first.TxID)
		r.Settle()
	})
}

// A hanging sweep is not sent, and its error says what it waits for.
func TestASweepThatHangsIsNotSent(t *testing.T) {
	each(t, bursartest.Numbered, func(t *testing.T, r *harness) {
		r.hung()
		node := r.record()
		r.Blocks(3)
		node.wantSent(t, "while it hangs")
		if got := r.only(); !strings.Contains(got.Error, "it goes on once its address receives a deposit") {
			t.Errorf("its error is %q, want one with %q", got.Error, "it goes on once its address receives a deposit")
		}
	})
}
