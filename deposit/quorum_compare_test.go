package deposit_test

import (
	"context"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
)

// inPieces reports one endpoint's blocks differently from how they were recorded.
type inPieces struct {
	*sim.Chain
	misreport func(chain.Transfer) []chain.Transfer
	untraced  bool
}

// After reports every transfer as one that a contract sent.
func (c inPieces) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		internal(blocks[i].Transfers)
	}
	return blocks, err
}

func internal(transfers []chain.Transfer) {
	for i := range transfers {
		transfers[i].Output, transfers[i].Internal = 1, true
	}
}

func (c inPieces) BlockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
	b, err := c.Chain.BlockOn(ctx, endpoint, height, watch)
	internal(b.Transfers)
	if endpoint != "b" {
		return b, err
	}
	var transfers []chain.Transfer
	for _, t := range b.Transfers {
		transfers = append(transfers, c.misreport(t)...)
	}
	b.Transfers, b.Untraced = transfers, c.untraced
	return b, err
}

func TestAnEndpointThatTracesAgreesWithOneThatComparesBalances(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Follower.Chain = inPieces{Chain: f.Sim, misreport: func(t chain.Transfer) []chain.Transfer {
			one, two := t, t
			one.Amount, two.Amount, two.Output = bursar.Units(20_000), bursar.Units(40_000), t.Output+1
			return []chain.Transfer{one, two}
		}}
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 3, 60000 credited, map[confirmed:1], 1 events")
		f.WantNoAlarm()
	})
}

func TestAnEndpointWithoutTracesDeniesNoPaymentOfAContract(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Follower.Chain = inPieces{Chain: f.Sim, untraced: true, misreport: func(chain.Transfer) []chain.Transfer {
			return nil
		}}
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		opine(f)
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:1], 0 events")
		f.WantNoAlarm()
	})
}
