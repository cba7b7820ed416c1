package follow_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
)

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
