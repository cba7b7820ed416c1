package follow_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// broken is a chain whose adapter has a bug.
type broken struct {
	*sim.Chain
	head, after bool
}

func (b *broken) Head(ctx context.Context) (chain.Head, error) {
	if b.head {
		panic("a head that no rule foresees")
	}
	return b.Chain.Head(ctx)
}

func (b *broken) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	if b.after {
		panic("a block that no rule foresees")
	}
	return b.Chain.After(ctx, last, limit, watch)
}

// An adapter that panics takes neither the process nor another chain with it: following ends with an error that says
// where it was.
func TestAPanicWhileAChainIsFollowedIsAnError(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		node := &broken{Chain: f.Sim, head: true}
		f.Chain = node
		f.Pay(5000)
		f.Sim.Mine(3)
		err := f.Run(ctx, f.Lease)
		if err == nil || !strings.HasPrefix(err.Error(), "a follower panicked: a head that no rule foresees") {
			t.Fatalf("following ends with %v", err)
		}
		if !strings.Contains(err.Error(), "running_test.go") {
			t.Errorf("%v does not say where it was", err)
		}
		f.Want("block 0, 0 credited, map[], 0 events")
		node.head = false
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
	})
}

// An adapter that panics over a block fails like a node that does not answer: the block is tried again, and nothing
// of it is recorded.
func TestAPanicOverABlockIsAFailedStep(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		node := &broken{Chain: f.Sim, after: true}
		f.Chain = node
		f.Pay(5000)
		f.Sim.Mine(3)
		for range 2 {
			_, err := f.Step(ctx, f.Lease)
			const want = "read blocks after 0: a follower panicked: a block that no rule foresees"
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("the step ends with %v", err)
			}
		}
		f.Want("block 0, 0 credited, map[], 0 events")
		node.after = false
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
	})
}

// careful is a creditor that notes how far the chain was each time that it began.
type careful struct {
	follow.Creditor
	state func() string
	began []string
}

func (c *careful) Begin(ctx context.Context, lease store.Lease) {
	c.began = append(c.began, c.state())
	c.Creditor.Begin(ctx, lease)
}

// What credits deposits is told of each lease once, before the chain is followed under it: it judges by the settings of
// now what waits since the time of another process.
func TestTheCreditorBeginsBeforeTheChainIsFollowed(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		creditor := &careful{Creditor: f.Follower.Creditor, state: f.State}
		f.Creditor = creditor
		w := watchCalls(f)
		f.Pay(5000)
		f.Sim.Mine(3)
		stop := run(f)
		reach(f, w, "block 3, 5000 credited, map[confirmed:1], 1 events")
		stop()
		if want := []string{"block 0, 0 credited, map[], 0 events"}; !slices.Equal(creditor.began, want) {
			t.Errorf("the creditor began at %q, want %q", creditor.began, want)
		}
	})
}
