package follow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// bringing is a chain whose blocks, from the first one on, bring the given numbers of transfers and of transactions of
// ours.
func bringing(f *followtest.Harness, contents [][2]int) scripted {
	c := scripted{f.Sim, map[uint64]func(b *chain.Block){}}
	for i, n := range contents {
		c.write[uint64(i+1)] = func(b *chain.Block) {
			for j := range n[0] {
				b.Transfers = append(b.Transfers, chain.Transfer{TxID: fmt.Sprintf("%d in %d", j, b.Ref.Height)})
			}
			b.Included = make([]chain.Inclusion, n[1])
		}
	}
	return c
}

// While catching up, blocks are recorded together in a database transaction, up to the limit of what they bring. A
// single block is never split.
func TestBlocksAreRecordedTogetherUntilTheyBringTooMuch(t *testing.T) {
	for name, tc := range map[string]struct {
		contents [][2]int // of each block: transfers, and transactions of ours
		want     string   // which blocks share a database transaction
	}{
		"little":                {[][2]int{{1, 0}, {0, 1}, {1, 1}}, "[1 2 3]"},
		"as much as is allowed": {[][2]int{{100, 0}, {50, 50}, {1, 0}, {1, 0}}, "[1 2] [3 4]"},
		"one too many":          {[][2]int{{100, 0}, {50, 51}, {1, 0}}, "[1] [2 3]"},
		"too many in one block": {[][2]int{{0, 201}, {201, 0}, {1, 0}}, "[1] [2] [3]"},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
				var transactions []*store.Tx
				recorded := map[*store.Tx][]uint64{}
				f.Handlers = []follow.BlockHandler{handler{apply: func(tx *store.Tx, b *follow.Block) error {
					if recorded[tx] == nil {
						transactions = append(transactions, tx)
					}
					recorded[tx] = append(recorded[tx], b.Ref.Height)
					return nil
				}}}
				f.Chain = bringing(f, tc.contents)
				before := f.Recorded()
				mine(f, len(tc.contents))
				got := ""
				for _, tx := range transactions {
					got += fmt.Sprint(" ", recorded[tx])
				}
				if got != " "+tc.want {
					t.Errorf("recorded together are%s, want %s", got, tc.want)
				}
				if n := f.Recorded() - before; n != uint64(len(tc.contents)) {
					t.Errorf("got a count of %d blocks, want %d", n, len(tc.contents))
				}
			})
		})
	}
}

// A block that cannot be recorded is tried once per step if it is the only one; after it was tried with others, it is
// tried alone.
func TestABlockThatCannotBeRecordedIsTriedAlone(t *testing.T) {
	for name, tc := range map[string]struct {
		contents [][2]int
		tries    string
	}{
		"the only block":                 {[][2]int{{1, 0}}, "[1]"},
		"the first of two":               {[][2]int{{1, 0}, {1, 0}}, "[1 1]"},
		"the one that is recorded alone": {[][2]int{{201, 0}, {1, 0}}, "[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
				broken := errors.New("it cannot be recorded")
				var tries []uint64
				f.Handlers = []follow.BlockHandler{handler{apply: func(_ *store.Tx, b *follow.Block) error {
					tries = append(tries, b.Ref.Height)
					return broken
				}}}
				f.Chain = bringing(f, tc.contents)
				f.Sim.Mine(len(tc.contents))
				if _, err := f.Step(ctx, f.Lease); !errors.Is(err, broken) || cursor(f) != 0 {
					t.Errorf("the step returned %v, and block %d is recorded, want %v and 0", err, cursor(f), broken)
				}
				if fmt.Sprint(tries) != tc.tries {
					t.Errorf("the blocks %v are tried, want %s", tries, tc.tries)
				}
			})
		})
	}
}

// misnumbered is a chain with a block that reports a height one too low.
type misnumbered struct {
	*sim.Chain
	height uint64
}

func (c misnumbered) After(ctx context.Context, last chain.BlockRef, n int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, n, watch)
	for i := range blocks {
		if blocks[i].Ref.Height == c.height {
			blocks[i].Ref.Height--
		}
	}
	return blocks, err
}

// A block that is not one higher than its parent is not recorded, alone or with others or as the very first, and no
// worker is woken.
func TestABlockThatIsNoHigherThanItsParentIsNotRecorded(t *testing.T) {
	for name, tc := range map[string]struct{ recorded, mined int }{
		"alone": {1, 0}, "with others": {0, 1}, "the first": {0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
				mine(f, tc.recorded)
				f.Sim.Mine(tc.mined)
				before := tc.recorded + tc.mined
				f.Chain = misnumbered{f.Sim, uint64(before + 1)}
				f.Pay(5000)
				f.Sim.Mine(1)
				woken := 0
				f.Advanced = func() { woken++ }
				if _, err := f.Step(ctx, f.Lease); err == nil {
					t.Error("the step succeeded, want an error")
				}
				f.Want(fmt.Sprintf("block %d, 0 credited, map[], 0 events", before))
				if woken != 0 {
					t.Errorf("the event worker is woken %d times, want 0", woken)
				}
				f.Chain = f.Sim
				mine(f, 2)
				f.Want(fmt.Sprintf("block %d, 5000 credited, map[confirmed:1], 1 events", before+3))
			})
		})
	}
}
