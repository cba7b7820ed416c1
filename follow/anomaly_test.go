package follow_test

import (
	"context"
	"slices"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
)

// unknownEvents is a chain in whose every block the same contracts emit events that no standard defines.
type unknownEvents struct {
	*sim.Chain
	anomalies []chain.Anomaly
}

func (b unknownEvents) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := b.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		blocks[i].Anomalies = b.anomalies
	}
	return blocks, err
}

// Each contract has its own alarm, however many contracts behaved unexpectedly in one block, and the alarm is about the
// first anomaly of that contract.
func TestEachContractIsOneAlarmAboutItsFirstAnomaly(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Chain = unknownEvents{f.Sim, []chain.Anomaly{
			{TxID: "tx1", Contract: "0xc", What: "a transfer to nobody"},
			{TxID: "tx2", Contract: "0xc", What: "another"},
			{TxID: "tx3", Contract: "0xd", What: "an unknown event"},
		}}
		f.Sim.Mine(1)
		f.CatchUp()
		open := f.Alarms()
		slices.Sort(open)
		want := []string{
			"unrecognized_event: contract 0xc made a transfer to nobody in transaction tx1, block 1; nothing was credited for " +
				"it",
			"unrecognized_event: contract 0xd made an unknown event in transaction tx3, block 1; nothing was credited for it",
		}
		if !slices.Equal(open, want) {
			t.Errorf("the alarms are %q, want %q", open, want)
		}
	})
}
