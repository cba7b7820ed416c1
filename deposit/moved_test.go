package deposit_test

import (
	"context"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// interrupted is a chain while whose blocks are read something happens, once.
type interrupted struct {
	*sim.Chain
	meanwhile func()
}

func (c *interrupted) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	if c.meanwhile != nil {
		c.meanwhile()
		c.meanwhile = nil
	}
	return blocks, err
}

// moveCursor puts the cursor on another block of the same height, as another process would, and returns how to undo that.
func (f *follower) moveCursor() (undo func()) {
	f.t.Helper()
	at := f.chainState()
	set := func(hash string) {
		f.must(f.db.Do(ctx, func(tx *store.Tx) error { return tx.Chains().SetCursor(ctx, bursar.Ethereum, at.Height, hash) }))
	}
	set("another")
	return func() { set(at.Hash) }
}

// wantMoved takes a step that finds the cursor elsewhere than where it began, and changes nothing.
func (f *follower) wantMoved() {
	f.t.Helper()
	if _, err := f.Step(ctx, f.lease); err == nil || !strings.Contains(err.Error(), "the cursor has moved meanwhile") {
		f.t.Fatalf("the step ends with %v", err)
	}
}

// The cursor moves while blocks are read: what was read is recorded by nobody, for it may follow another block by now.
func TestNothingIsRecordedAfterAnotherBlockThanItFollows(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		f.pay(5000)
		f.chain.Mine(3)
		undo := func() {}
		f.Chain = &interrupted{f.chain, func() { undo = f.moveCursor() }}
		f.wantMoved()
		f.want("block 0, 0 credited, map[], 0 events")
		undo()
		f.catchUp()
		f.want("block 3, 5000 credited, map[confirmed:1], 1 events")
	})
}

// The cursor moves between recording and crediting: nothing is credited by what is not recorded any more.
func TestNothingIsCreditedAfterTheCursorMoved(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		f.pay(5000)
		f.chain.Mine(1)
		f.catchUp()
		f.pay(3000)
		f.chain.Mine(3)
		undo := func() {}
		f.Credited = func() { undo, f.Credited = f.moveCursor(), nil } // after the commit that records
		f.wantMoved()
		f.want("block 4, 0 credited, map[pending:2], 0 events")
		undo()
		f.catchUp()
		f.want("block 4, 8000 credited, map[confirmed:2], 2 events")
	})
}

// The cursor moves while a block is found to have been reorged out: the block that it is on now stays.
func TestNoOtherBlockThanTheOneThatLeftIsTakenBack(t *testing.T) {
	follow(t, 0, func(t *testing.T, f *follower) {
		f.pay(5000)
		f.chain.Mine(1)
		f.catchUp()
		f.chain.Reorg(1)
		undo := func() {}
		f.Chain = &interrupted{f.chain, func() { undo = f.moveCursor() }}
		f.wantMoved()
		f.want("block 1, 0 credited, map[pending:1], 0 events")
		undo()
		f.catchUp()
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 5, 5000 credited, map[confirmed:1], 1 events")
	})
}

// Payments of a token that invents amounts count as more than any threshold where their sum is more than there can be, so that
// a small one among them is not credited on the word of one endpoint.
func TestASumBeyondAllAmountsIsAboveEveryThreshold(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		huge, err := bursar.ParseDecimal("170141183460469231731687303715884105728", 0) // half of what an amount holds
		f.must(err)
		f.Chain = &inventing{f.chain, []bursar.Amount{huge, huge, bursar.Units(2000)}, f.wallet.Address}
		f.chain.Mine(5)
		f.catchUp()
		f.want("block 5, 0 credited, map[pending:3], 0 events")
	})
}

// inventing is a chain whose first block brings an address some amounts.
type inventing struct {
	*sim.Chain
	amounts []bursar.Amount
	to      bursar.Address
}

func (c *inventing) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	if last.Height == 0 && len(blocks) > 0 {
		for i, amount := range c.amounts {
			blocks[0].Transfers = append(blocks[0].Transfers, chain.Transfer{TxID: "tx", Output: uint32(i), Address: c.to, Amount: amount})
		}
	}
	return blocks, err
}
