package follow_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/ledger"
	"github.com/bursar/bursar/store"
)

var ctx = context.Background()

// If the final height stalls, the follower waits for it, however deep a payment is; no depth replaces finality.
func TestNothingIsCreditedWhileFinalityStalls(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Sim.HoldFinality(true)
		f.Pay(5000)
		f.Sim.Mine(500)
		f.CatchUp()
		f.Want("block 500, 0 credited, map[pending:1], 0 events")
		f.Sim.HoldFinality(false)
		f.CatchUp()
		f.Want("block 500, 5000 credited, map[confirmed:1], 1 events")
	})
}

// Whatever fails, the cursor stays where everything is recorded, and the next step goes on from there.
func TestFaultsLeaveTheCursor(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(3)
		before := f.State()
		for _, method := range []sim.Method{sim.Head, sim.After} {
			f.Sim.Fail(method, 1, nil)
			if more, err := f.Step(ctx, f.Lease); !errors.Is(err, sim.ErrNode) || more {
				t.Fatalf("%s failed: the step returned %v, %v", method, more, err)
			}
			f.Want(before)
		}
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[confirmed:1], 1 events")
	})
}

// liar is a node whose final block differs from the one recorded at its height, as a node on another fork reports it.
type liar struct {
	*sim.Chain
	lies bool
}

func (l *liar) Head(ctx context.Context) (chain.Head, error) {
	head, err := l.Chain.Head(ctx)
	if l.lies {
		head.Final.Hash = "another"
	}
	return head, err
}

func TestAnotherFinalBlockCreditsNothing(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		node := &liar{Chain: f.Sim, lies: true}
		f.Chain = node
		f.Pay(5000)
		f.Sim.Mine(5)
		for range 2 {
			if _, err := f.Step(ctx, f.Lease); err == nil || !strings.Contains(err.Error(), "the node's final block") {
				t.Fatalf("the step returned %v, want an error and %q in it", err, "the node's final block")
			}
		}
		f.Want("block 5, 0 credited, map[pending:1], 0 events")
		node.lies = false
		f.CatchUp()
		f.Want("block 5, 5000 credited, map[confirmed:1], 1 events")
	})
}

// A deposit below the minimum is a row and nothing else: no event, no credit, and it does not delay other deposits.
func TestDustIsARowAndNothingElse(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		for range 300 {
			f.Pay(1)
		}
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 3, 5000 credited, map[below_minimum:300 confirmed:1], 1 events")
		f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
			kept, err := tx.Ledger().Balance(ctx, ledger.BelowMinimum, "COIN")
			if amount, _ := kept.Net(ledger.Liability); amount != bursar.Units(300) {
				t.Errorf("%s units of dust are booked, want %v", amount, bursar.Units(300))
			}
			return err
		}))
	})
}

// 256 blocks are reorged out and all transactions come back in others: the same deposits, credited once.
func TestAReorganisationOf256BlocksIsSurvived(t *testing.T) {
	followtest.Run(t, 300, func(t *testing.T, f *followtest.Harness) {
		f.Sim.HoldFinality(true)
		for range 4 {
			f.Pay(5000)
			f.Sim.Mine(64)
		}
		gone := f.Pay(7000)
		f.Sim.Mine(1)
		f.CatchUp()
		f.Want("block 257, 0 credited, map[pending:5], 0 events")
		f.Sim.Reorg(256, gone)
		f.Sim.Mine(10)
		f.Sim.HoldFinality(false)
		f.CatchUp()
		f.Want("block 268, 20000 credited, map[confirmed:4 orphaned:1], 4 events")
	})
}

// A chain that shares no block with the stored history is another chain: nothing changes, and the error says what may
// be wrong.
func TestAReorgDeeperThanTheStoredHistoryChangesNothing(t *testing.T) {
	followtest.Run(t, 5, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(30)
		f.Pay(5000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Sim.Reorg(20)
		var err error
		for range 30 {
			if _, err = f.Step(ctx, f.Lease); err != nil {
				break
			}
		}
		if err == nil || !strings.Contains(err.Error(), "the reorg is deeper than 5 blocks") {
			t.Fatalf("the step returned %v, want an error and %q in it", err, "the reorg is deeper than 5 blocks")
		}
		before := f.State()
		if _, again := f.Step(ctx, f.Lease); again == nil {
			t.Fatal("the next step goes on")
		}
		f.Want(before)
	})
}

// anomalous is a chain whose blocks contain an anomaly.
type anomalous struct{ *sim.Chain }

func (o anomalous) After(
	ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch,
) ([]chain.Block, error) {
	blocks, err := o.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		for range 3 {
			blocks[i].Anomalies = append(blocks[i].Anomalies, chain.Anomaly{TxID: "tx", Contract: "0xc", What: "an event"})
		}
	}
	return blocks, err
}

func TestAnAnomalyIsOneAlarm(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Chain = anomalous{f.Sim}
		f.Sim.Mine(4)
		f.CatchUp()
		f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) != 1 || alarms[0].Kind != "unrecognized_event" || alarms[0].Ref != "ethereum:0xc" ||
				!strings.Contains(alarms[0].Message, "nothing was credited") {
				t.Errorf("the alarms are %+v, want 1 of them and %q and %q and %q in it", alarms, "unrecognized_event",
					"ethereum:0xc", "nothing was credited")
			}
			return err
		}))
	})
}

// noted is a chain whose blocks are accepted only by a second method.
type noted struct{ *sim.Chain }

func (n noted) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := n.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		blocks[i].Anomalies = append(blocks[i].Anomalies, chain.Anomaly{What: "no endpoint could trace it"},
			chain.Anomaly{What: "a balance"})
	}
	return blocks, err
}

func TestAnAnomalyOfBlocksIsOneAlarm(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Chain = noted{f.Sim}
		f.Sim.Mine(4)
		f.CatchUp()
		f.Must(f.DB.View(ctx, func(tx *store.Tx) error {
			alarms, err := tx.Alarms().List(ctx, 10)
			if len(alarms) != 1 || alarms[0].Kind != "block_anomaly" || alarms[0].Ref != "ethereum" ||
				!strings.Contains(alarms[0].Message, "no endpoint could trace it; a balance") {
				t.Errorf("the alarms are %+v, want 1 of them and %q and %q and %q in it", alarms, "block_anomaly", "ethereum",
					"no endpoint could trace it; a balance")
			}
			return err
		}))
	})
}

// A follower that lost its lease writes nothing more, at whatever point it was.
func TestALostLeaseWritesNothing(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(4)
		before := f.State()
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			if err := tx.Leases().Release(ctx, f.Lease); err != nil {
				return err
			}
			_, ok, err := tx.Leases().Acquire(ctx, bursar.Ethereum, "two", 1<<50)
			if !ok {
				t.Error("the second process gets no lease")
			}
			return err
		}))
		if _, err := f.Step(ctx, f.Lease); !errors.Is(err, store.ErrLeaseLost) {
			t.Fatalf("the step returned %v, want ErrLeaseLost", err)
		}
		f.Want(before)
	})
}
