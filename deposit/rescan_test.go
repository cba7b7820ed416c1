package deposit_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
)

// twoReadings is a chain whose contracts' payments are first read by balances, as one sum, and then by a trace, as two pieces
// of another transaction.
type twoReadings struct {
	*sim.Chain
	traced bool
}

func (c *twoReadings) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
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

// What contracts sent to an address is credited once, whichever way a block is read again: by balances after a trace, or by a
// trace after balances. What the first reading did not see at all is recorded.
func TestASecondReadingCreditsNothingTwice(t *testing.T) {
	for name, first := range map[string]bool{"balances, then a trace": false, "a trace, then balances": true} {
		t.Run(name, func(t *testing.T) {
			follow(t, 0, func(t *testing.T, f *follower) {
				reading := &twoReadings{f.chain, first}
				f.Chain = reading
				f.pay(5000)
				f.chain.Mine(4)
				f.catchUp()
				before := f.state()
				reading.traced = !first
				if n, err := f.Rescan(ctx, 1, f.cursor()); err != nil || n == 0 {
					t.Fatalf("searched %d blocks: %v", n, err)
				}
				f.catchUp()
				f.want(before)
			})
		})
	}
}
