package follow_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
)

// twoReadings is a chain whose payments by contracts are first read from balances, as one sum, and then from a trace,
// as two pieces of another transaction.
type twoReadings struct {
	*sim.Chain
	traced bool
}

func (c *twoReadings) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		var read []chain.Transfer
		for _, t := range blocks[i].Transfers {
			t.Output, t.Internal = 1, true
			if !c.traced {
				read = append(read, t)
				continue
			}
			half, rest := t, t
			half.TxID = "before " + t.TxID
			half.Amount, _ = t.Amount.Div(2)
			rest.Output, rest.Amount = 2, t.Amount.SubOrZero(half.Amount)
			read = append(read, half, rest)
		}
		blocks[i].Transfers = read
	}
	return blocks, err
}

// Payments of contracts to an address are credited once, whichever way a block is read again: from balances after a
// trace, or from a trace after balances. A payment that the first reading did not see at all is recorded.
func TestASecondReadingCreditsNothingTwice(t *testing.T) {
	for name, first := range map[string]bool{"balances, then a trace": false, "a trace, then balances": true} {
		t.Run(name, func(t *testing.T) {
			followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
				reading := &twoReadings{f.Sim, first}
				f.Chain = reading
				f.Pay(5000)
				f.Sim.Mine(4)
				f.CatchUp()
				before := f.State()
				reading.traced = !first
				if n, err := f.Rescan(ctx, 1, cursor(f)); err != nil || n == 0 {
					t.Fatalf("%d blocks were searched: %v, want not 0", n, err)
				}
				f.CatchUp()
				f.Want(before)
			})
		})
	}
}

// blind is a chain whose adapter has overlooked all payments so far.
type blind struct {
	*sim.Chain
	sees bool
}

func (c *blind) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		if !c.sees {
			blocks[i].Transfers = nil
		}
	}
	return blocks, err
}

// A payment that was overlooked long ago, in a block that is not in the stored history any more, is found and credited
// once.
func TestARescanReachesBlocksOutsideTheStoredHistory(t *testing.T) {
	followtest.Run(t, 5, func(t *testing.T, f *followtest.Harness) {
		node := &blind{Chain: f.Sim}
		f.Chain = node
		id := f.Pay(5000)
		f.Sim.Mine(3)
		at, _ := f.Sim.Heights()
		f.Sim.HoldFinality(true)
		f.Sim.Mine(40)
		f.CatchUp()
		node.sees = true
		if n, err := f.Rescan(ctx, uint64(at)+1, uint64(at)+1); n != 0 || err == nil ||
			!strings.Contains(err.Error(), "not final and not recorded") {
			t.Errorf("a block that is neither final nor recorded was searched: %d (%v)", n, err)
		}
		if n, err := f.Rescan(ctx, 1, uint64(at)); n != at || err != nil {
			t.Errorf("%d of %d final blocks are searched (%v)", n, at, err)
		}
		f.CatchUp()
		f.Want("block 43, 5000 credited, map[confirmed:1], 1 events")
		if ref, err := f.RescanTx(ctx, id); err != nil || ref.Height != 1 {
			t.Errorf("the transaction is found in block %d (%v), want 1", ref.Height, err)
		}
		if _, err := f.RescanTx(ctx, "unknown"); err == nil {
			t.Error("a transaction that does not exist was found")
		}
		f.CatchUp()
		f.Want("block 43, 5000 credited, map[confirmed:1], 1 events")
	})
}

// A rescan goes as far as the follower has come, and no further than it was asked to. A block of another branch than
// the recorded one is left to the follower.
func TestARescanEndsWhereItsBlocksAreNotRecorded(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		node := &blind{Chain: f.Sim}
		f.Chain = node
		f.Pay(5000)
		f.Sim.Mine(1)
		f.Pay(3000)
		f.Sim.Mine(99)
		f.CatchUp()
		f.Sim.Mine(10)
		node.sees = true
		if n, err := f.Rescan(ctx, 0, 1000); n != 100 || err != nil {
			t.Errorf("%d blocks are searched (%v), want 100", n, err)
		}
		f.CatchUp()
		f.Want("block 110, 8000 credited, map[confirmed:2], 2 events")
		if n, err := f.Rescan(ctx, 3, 70); n != 68 || err != nil {
			t.Errorf("%d blocks are searched (%v), want 68", n, err)
		}
		f.Sim.Reorg(1)
		if n, err := f.Rescan(ctx, 109, 110); n != 1 || err == nil ||
			!strings.Contains(err.Error(), "let the follower undo or record it first") {
			t.Errorf("%d blocks of another branch are searched (%v), want 1 and an error and %q in it", n, err,
				"let the follower undo or record it first")
		}
	})
}
