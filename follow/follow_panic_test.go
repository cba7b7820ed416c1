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
		panic("an unexpected head")
	}
	return b.Chain.Head(ctx)
}

func (b *broken) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	if b.after {
		panic("an unexpected block")
	}
	return b.Chain.After(ctx, last, limit, watch)
}

// An adapter that panics affects neither the process nor another chain: following ends with an error that says where
// the panic was.
func TestAPanicWhileAChainIsFollowedIsAnError(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		node := &broken{Chain: f.Sim, head: true}
		f.Chain = node
		f.Pay(5000)
		f.Sim.Mine(3)
		err := f.Run(ctx, f.Lease)
		if err == nil || !strings.HasPrefix(err.Error(), "a follower panicked: an unexpected head") {
			t.Fatalf("following ended with %v, want an error and %q first", err, "a follower panicked: an unexpected head")
		}
		if !strings.Contains(err.Error(), "follow_panic_test.go") {
			t.Errorf("%v does not say where the panic was", err)
		}
		f.Want("block 0, 0 credited, map[], 0 events")
		node.head = false
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
	})
}

// An adapter that panics over a block counts like a node that does not answer: the block is tried again, and nothing of
// it is recorded.
func TestAPanicOverABlockIsAFailedStep(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		node := &broken{Chain: f.Sim, after: true}
		f.Chain = node
		f.Pay(5000)
		f.Sim.Mine(3)
		for range 2 {
			_, err := f.Step(ctx, f.Lease)
			const want = "read blocks after 0: a follower panicked: an unexpected block"
			if err == nil || !strings.HasPrefix(err.Error(), want) {
				t.Fatalf("the step returned %v, want an error and %v first", err, want)
			}
		}
		f.Want("block 0, 0 credited, map[], 0 events")
		node.after = false
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
	})
}

// careful is a creditor that records how far the chain was each time that Begin was called.
type careful struct {
	follow.Creditor
	state func() string
	began []string
}

func (c *careful) Begin(ctx context.Context, lease store.Lease) {
	c.began = append(c.began, c.state())
	c.Creditor.Begin(ctx, lease)
}

// The creditor's Begin runs once for each lease, before the chain is followed under it: it evaluates with the current
// settings the deposits that wait since another process followed the chain.
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
