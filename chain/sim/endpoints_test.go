package sim_test

import (
	"context"
	"errors"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

func TestEndpointsLieEachForItself(t *testing.T) {
	t.Parallel()
	w := newHarness(t, sim.Config{Endpoints: []chain.Endpoint{{Name: "honest", Host: "a"}, {Name: "liar", Host: "b"}}})
	ctx := t.Context()
	w.fund(million)
	funded := w.fundedTx()
	w.Mine(4)
	read := func(endpoint string, height uint64) chain.Block {
		t.Helper()
		b, err := w.BlockOn(ctx, endpoint, height, w.watch)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	w.Censor("liar", funded)
	forged := w.Forge("liar", 2, pay(w.hot.Base, 7))
	if b := read("liar", 1); len(b.Transfers) != 0 || b.Ref != read("honest", 1).Ref {
		t.Errorf("the censored block is %+v", b)
	}
	if b := read("liar", 2); len(b.Transfers) != 1 || b.Transfers[0].TxID != forged ||
		len(read("honest", 2).Transfers) != 0 {
		t.Errorf("the forged block is %+v, want 1 of them and %v and none", b, forged)
	}
	w.Fork("liar", 3)
	if b := read("liar", 4); b.Ref == read("honest", 4).Ref || b.Parent != read("liar", 3).Ref.Hash ||
		read("liar", 3).Parent != read("honest", 2).Ref.Hash {
		t.Errorf("the fork's block is %+v", b)
	}
	w.Heal("liar")
	w.Behind("liar", 2)
	if _, err := w.BlockOn(ctx, "liar", 4, w.watch); !errors.Is(err, chain.ErrNoBlock) {
		t.Errorf("a block that it does not have yet gives %v, want %v", err, chain.ErrNoBlock)
	}
	w.Freeze("honest", true)
	w.Mine(3)
	if head, err := w.HeadOn(ctx, "honest"); err != nil || head.Latest.Height != 5 {
		t.Errorf("the frozen end is %+v, %v, want 5", head, err)
	}
	w.Down("honest", true)
	if head, err := w.Head(ctx); err != nil || head.Latest.Height != 6 {
		t.Errorf("the other one gives %+v, %v, want 6", head, err)
	}
	w.Hang("liar", true)
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.HeadOn(cancelled, "liar"); !errors.Is(err, context.Canceled) {
		t.Errorf("a question that is given up gives %v, want %v", err, context.Canceled)
	}
	if _, err := w.HeadOn(ctx, "nobody"); err == nil {
		t.Error("an endpoint that is not there answers")
	}
}
