package follow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// lagging is a chain whose head comes from one backend, and whose blocks come from another one that does not even have
// the cursor's block.
type lagging struct {
	*sim.Chain
	behind bool
}

func (c *lagging) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	if c.behind {
		return nil, nil
	}
	return c.Chain.After(ctx, last, limit, watch)
}

// An endpoint without new blocks proves nothing about the cursor: a final block above the cursor makes no recorded
// block final, because that may be on a branch that was replaced.
func TestAnEndpointWithoutNewBlocksMakesNothingFinal(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		nodes := &lagging{Chain: f.Sim}
		f.Chain = nodes
		f.Pay(5000)
		f.Sim.Mine(1)
		f.CatchUp()
		f.Want("block 1, 0 credited, map[pending:1], 0 events")
		nodes.behind = true
		f.Sim.Mine(10) // the final block is above the cursor now
		f.CatchUp()
		f.Want("block 1, 0 credited, map[pending:1], 0 events")
		nodes.behind = false
		f.CatchUp()
		f.Want("block 11, 5000 credited, map[confirmed:1], 1 events")
	})
}

// forked is a chain whose windows end with a block of another endpoint, which is on a branch of its own.
type forked struct {
	*sim.Chain
	tail []chain.Block
}

func (c *forked) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	if n := len(c.tail); n > 0 && c.tail[0].Parent == last.Hash {
		return c.tail, nil
	}
	return c.Chain.After(ctx, last, limit, watch)
}

// While catching up, blocks may come from another endpoint than the final block. The last of them are not proven by
// their parents: only a final block of their own branch makes them final.
func TestATailOfAnotherBranchIsNeverCredited(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		last, err := f.Sim.At(ctx, 0)
		f.Must(err)
		gone := f.Pay(5000)
		f.Sim.Mine(2)
		nodes := &forked{Chain: f.Sim}
		nodes.tail, err = f.Sim.After(ctx, last, 10, f.Watch)
		f.Must(err)
		f.Sim.Reorg(2, gone)
		f.Sim.Mine(20)
		f.Chain = nodes
		if _, err := f.Step(ctx, f.Lease); err != nil {
			t.Fatal(err)
		}
		f.Want("block 2, 0 credited, map[pending:1], 0 events")
		nodes.tail = nil
		f.CatchUp()
		f.Want("block 23, 0 credited, map[orphaned:1], 0 events")
	})
}

// stuck is a chain whose blocks come, one by one, from an endpoint that goes on to follow a branch which was replaced.
type stuck struct {
	*sim.Chain
	branch []chain.Block
	final  *chain.BlockRef // what Head returns as the final block; nil: the real one
}

func (c *stuck) Head(ctx context.Context) (chain.Head, error) {
	head, err := c.Chain.Head(ctx)
	if c.final != nil {
		head.Final = *c.final
	}
	return head, err
}

func (c *stuck) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	for i, b := range c.branch {
		if b.Parent == last.Hash {
			return c.branch[i : i+1], nil
		}
		if b.Ref == last && i == len(c.branch)-1 {
			return nil, nil
		}
	}
	return c.Chain.After(ctx, last, limit, watch)
}

// An endpoint that is stuck on a replaced branch goes on to call its blocks its own. The final height of another
// endpoint, which is above them, makes none of them final, however often the stuck one is asked for the next.
func TestAnEndpointStuckOnAReplacedBranchCreditsNothing(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		first, err := f.Sim.At(ctx, 0)
		f.Must(err)
		gone := f.Pay(5000)
		f.Sim.Mine(4)
		node := &stuck{Chain: f.Sim}
		node.branch, err = f.Sim.After(ctx, first, 10, f.Watch)
		f.Must(err)
		f.Sim.Reorg(4, gone)
		f.Sim.Mine(20)
		f.Chain = node
		for range 8 {
			if _, err := f.Step(ctx, f.Lease); err != nil {
				t.Fatal(err)
			}
		}
		f.Want("block 4, 0 credited, map[pending:1], 0 events")
		node.branch = nil
		f.CatchUp()
		f.Want("block 25, 0 credited, map[orphaned:1], 0 events")
	})
}

// On a chain that skips heights, a recorded branch that has no block at the final height is another branch than the
// node's.
func TestABranchWithoutTheFinalBlockCreditsNothing(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		first, err := f.Sim.At(ctx, 0)
		f.Must(err)
		f.Pay(5000)
		f.Sim.Mine(4)
		node := &stuck{Chain: f.Sim}
		blocks, err := f.Sim.After(ctx, first, 10, f.Watch)
		f.Must(err)
		blocks[3].Parent = blocks[1].Ref.Hash
		node.branch = append(blocks[:2:2], blocks[3]) // without the third
		node.final = &blocks[2].Ref
		f.Chain = node
		for range 2 {
			if _, err := f.Step(ctx, f.Lease); err != nil {
				t.Fatal(err)
			}
		}
		const why = "no block is recorded at that height"
		if _, err := f.Step(ctx, f.Lease); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("the step returned %v, want an error and %q in it", err, why)
		}
		f.Want("block 4, 0 credited, map[pending:1], 0 events")
	})
}

// While catching up, what is deeper below the last recorded block than any branch is long is credited before the final
// block is recorded.
func TestDeepBlocksAreCreditedWhileCatchingUp(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		depth := f.Sim.Capabilities().ReorgDepth
		f.Pay(5000)
		f.Sim.Mine(2*depth + 200)
		var at uint64 // the last recorded block
		for credited := false; !credited; {
			if _, err := f.Step(ctx, f.Lease); err != nil {
				t.Fatal(err)
			}
			f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
				state, err := tx.Chains().State(ctx, f.Sim.Capabilities().ID)
				at = uint64(max(state.Height, 0))
				return err
			}))
			credited = strings.Contains(f.State(), "5000 credited")
			if !credited && at > uint64(depth+100) {
				t.Fatalf("not credited with %d blocks recorded", at)
			}
		}
		if at <= uint64(depth) {
			t.Errorf("credited at block %d, want more than %d blocks on top of it", at, depth)
		}
	})
}
