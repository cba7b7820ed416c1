package follow_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
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
// their parents: only a final block of their own branch, or a read that continues from them, makes them final.
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
