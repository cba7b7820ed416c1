package sim_test

import (
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

func TestFaultsFailTheNextCalls(t *testing.T) {
	t.Parallel()
	w := newHarness(t, sim.Config{})
	ctx := t.Context()
	calls := map[sim.Method]func() error{
		sim.Head:      func() error { _, err := w.Head(ctx); return err },
		sim.At:        func() error { _, err := w.At(ctx, 0); return err },
		sim.Find:      func() error { _, err := w.Find(ctx, w.fundedTx()); return err },
		sim.After:     func() error { _, err := w.After(ctx, w.Genesis(), 1, w.watch); return err },
		sim.Quote:     func() error { _, err := w.Quote(ctx, pay(w.hot.Base, million)); return err },
		sim.Build:     func() error { _, err := w.Build(ctx, w.order(pay(w.Named("x"), 1000))); return err },
		sim.Broadcast: func() error { _, tx := w.built(w.order(pay(w.Named("x"), 1000))); return w.Broadcast(ctx, tx) },
		sim.Expired:   func() error { _, err := w.Expired(ctx, chain.UnsignedTx{}, ""); return err },
		sim.Holdings:  func() error { _, err := w.Holdings(ctx, nil, "", w.Genesis()); return err },
	}
	w.fund(million)
	own := errors.New("a fault of our own")
	for method, call := range calls {
		w.Fail(method, 1, nil)
		w.Fail(method, 1, own)
		if err := call(); !errors.Is(err, sim.ErrNode) {
			t.Errorf("%s: first call: %v, want %v", method, err, sim.ErrNode)
		}
		if err := call(); !errors.Is(err, own) {
			t.Errorf("%s: second call: %v, want %v", method, err, own)
		}
		if err := call(); err != nil {
			t.Errorf("%s: third call: %v", method, err)
		}
	}
}

func TestBroadcastOutcomes(t *testing.T) {
	t.Parallel()
	tests := []struct {
		outcome     sim.Outcome
		fails, held bool
	}{
		{sim.TakenUnknown, true, true},
		{sim.LostUnknown, true, false},
		{sim.LostSilently, false, false},
	}
	for _, test := range tests {
		onBoth(t, sim.Config{}, func(t *testing.T, w *harness) {
			w.fund(million)
			_, tx := w.built(w.order(pay(w.Named("x"), 1000)))
			w.FailBroadcasts(test.outcome, 1)
			err := w.Broadcast(t.Context(), tx)
			if (err != nil) != test.fails || errors.Is(err, chain.ErrRejected) || errors.Is(err, chain.ErrUnderpriced) {
				t.Fatalf("%s: error %v", test.outcome, err)
			}
			if held := len(w.Waiting()) == 1; held != test.held {
				t.Fatalf("%s: waiting %q, want %v", test.outcome, w.Waiting(), test.held)
			}
			if err := w.Broadcast(t.Context(), tx); err != nil {
				t.Fatalf("%s: the second time: %v", test.outcome, err)
			}
			w.Mine(1)
			if !w.has(tx.TxID) {
				t.Fatalf("%s: sent again, it is in no block", test.outcome)
			}
		})
	}
}

func TestFinalityStandsStill(t *testing.T) {
	t.Parallel()
	w := newHarness(t, sim.Config{Confirmations: 3})
	if head, err := w.Head(t.Context()); err != nil || head.Final != (chain.BlockRef{}) {
		t.Fatalf("final at the first block of three: %+v (%v), want %+v", head, err, chain.BlockRef{})
	}
	w.Mine(5)
	w.HoldFinality(true)
	w.Mine(20)
	w.wantFinal(3)
	w.Reorg(24)
	w.wantFinal(3)
	w.HoldFinality(false)
	w.wantFinal(24)
}

func (w *harness) wantFinal(height uint64) {
	w.t.Helper()
	head, err := w.Head(w.t.Context())
	if err != nil || head.Final.Height != height {
		w.t.Fatalf("final is %+v (%v), want height %d", head.Final, err, height)
	}
}

func (w *harness) fundedTx() string {
	w.t.Helper()
	blocks, err := w.After(w.t.Context(), w.Genesis(), 1, w.watch)
	if err != nil {
		w.t.Fatal(err)
	}
	return blocks[0].Transfers[0].TxID
}
