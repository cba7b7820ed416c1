package deposit_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
)

// Payments of a token that invents amounts exceed every threshold where their sum overflows, so that a small one among
// them is not credited on the report of one endpoint.
func TestASumBeyondAllAmountsIsAboveEveryThreshold(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		huge, err := bursar.ParseDecimal("170141183460469231731687303715884105728", 0) // half of what an amount holds
		f.Must(err)
		f.Chain = &inventing{f.Sim, []bursar.Amount{huge, huge, bursar.Units(2000)}, f.Wallet.Address}
		f.Sim.Mine(5)
		f.CatchUp()
		f.Want("block 5, 0 credited, map[pending:3], 0 events")
	})
}

// inventing is a chain whose first block brings an address some amounts.
type inventing struct {
	*sim.Chain
	amounts []bursar.Amount
	to      bursar.Address
}

func (c *inventing) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	if last.Height == 0 && len(blocks) > 0 {
		for i, amount := range c.amounts {
			blocks[0].Transfers = append(blocks[0].Transfers,
				chain.Transfer{TxID: "tx", Output: uint32(i), Address: c.to, Amount: amount})
		}
	}
	return blocks, err
}
