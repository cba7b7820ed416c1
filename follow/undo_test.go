package follow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// interrupted is a chain that runs a function once while its blocks are read.
type interrupted struct {
	*sim.Chain
	meanwhile func()
}

func (c *interrupted) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	if c.meanwhile != nil {
		c.meanwhile()
		c.meanwhile = nil
	}
	return blocks, err
}

// moveCursor moves the cursor to another block of the same height, as another process would, and returns a function
// that undoes that.
func moveCursor(f *followtest.Harness) (undo func()) {
	f.T.Helper()
	at := chainState(f)
	set := func(hash string) {
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error { return tx.Chains().SetCursor(ctx, bursar.Ethereum, at.Height, hash) }))
	}
	set("another")
	return func() { set(at.Hash) }
}

// wantMoved takes a step that finds the cursor elsewhere than where it began, and checks that it changes nothing.
func wantMoved(f *followtest.Harness) {
	f.T.Helper()
	if _, err := f.Step(ctx, f.Lease); err == nil ||
		!strings.Contains(err.Error(), "the cursor has moved since the step began") {
		f.T.Fatalf("the step returned %v", err)
	}
}

// If the cursor moves while blocks are read, they are not recorded, because they may follow another block now.
func TestBlocksAreRecordedOnlyAfterTheirParent(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(3)
		undo := func() {}
		f.Chain = &interrupted{f.Sim, func() { undo = moveCursor(f) }}
		wantMoved(f)
		f.Want("block 0, 0 credited, map[], 0 events")
		undo()
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
	})
}

// If the cursor moves between recording and crediting, nothing is credited, because the blocks may not be recorded any
// more.
func TestNothingIsCreditedAfterTheCursorMoved(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(1)
		f.CatchUp()
		f.Pay(3000)
		f.Sim.Mine(3)
		undo := func() {}
		f.Advanced = func() { undo, f.Advanced = moveCursor(f), nil } // after the commit that records
		wantMoved(f)
		f.Want("block 4, 0 credited, map[pending:2], 0 events")
		undo()
		f.CatchUp()
		f.Want("block 4, 8000 credited, map[confirmed:2], 2 events")
	})
}

// If the cursor moves while its old block is found to be reorged out, the block that it is on now stays.
func TestOnlyTheReorgedOutBlockIsUndone(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(1)
		f.CatchUp()
		f.Sim.Reorg(1)
		undo := func() {}
		f.Chain = &interrupted{f.Sim, func() { undo = moveCursor(f) }}
		wantMoved(f)
		f.Want("block 1, 0 credited, map[pending:1], 0 events")
		undo()
		f.CatchUp()
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 5, 5000 credited, map[confirmed:1], 1 events")
	})
}
