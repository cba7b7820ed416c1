package follow_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// wantNotBegun takes a step that fails with an error, and checks that the chain has not started.
func wantNotBegun(f *followtest.Harness, because error) {
	f.T.Helper()
	if _, err := f.Step(ctx, f.Lease); !errors.Is(err, because) {
		f.T.Fatalf("the step returned %v, want %v", err, because)
	}
	if at := chainState(f); at.Height != -1 {
		f.T.Fatalf("the chain begins after block %d", at.Height)
	}
}

// A chain so young that nothing of it may be final yet is followed from its first block on; nothing of it is missed.
func TestAYoungChainBeginsWithItsFirstBlock(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(2 * f.Sim.Capabilities().ReorgDepth)
		f.Chain = unfinal{f.Sim}
		f.CatchUp()
		f.Want("block 200, 0 credited, map[pending:1], 0 events")
		f.Chain = f.Sim
		f.CatchUp()
		f.Want("block 200, 5000 credited, map[confirmed:1], 1 events")
		f.WantNoAlarm()
	})
}

// If a chain was configured a day before its first wallet and is read for the first time after that, only blocks that
// may hold payments to the wallet are read, and blocks from before it do not count as missing if the nodes lack them.
func TestAChainThatWaitedForItsFirstWalletBeginsWithIt(t *testing.T) {
	nextDay := func(w *bursar.Wallet) { w.CreatedAt = w.CreatedAt.Add(24 * time.Hour) }
	followtest.RunAs(t, followtest.Setting{Idle: true, Before: nextDay}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(3000)
		f.Sim.Prune(2700)
		age(f, 2900) // the block of the wallet's time; 2780 is two hours older
		if _, err := f.Step(ctx, f.Lease); err != nil {
			t.Fatal(err)
		}
		if at := cursor(f); at < 2779+64 || at > 2780+64 {
			t.Errorf("the first window ends with block %d, want one below the wallet's", at)
		}
		f.CatchUp()
		f.WantNoAlarm()
	})
}

// If the newest final block is older than the wallets, as on a chain that has stalled, the chain begins there and no
// block before it is read: the nodes may have none.
func TestAChainThatEndsBeforeItsWalletsBeginsAtItsEnd(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(998)
		f.Pay(5000)
		f.Sim.Mine(2)
		f.Sim.Prune(997)
		a := age(f, 1500)
		f.CatchUp()
		f.Want("block 1000, 0 credited, map[pending:1], 0 events")
		f.WantNoAlarm()
		if *a.lowest != 997 {
			t.Errorf("block %d is read, want none before 998", *a.lowest+1)
		}
		f.Sim.Mine(1)
		f.CatchUp()
		f.Want("block 1001, 5000 credited, map[confirmed:1], 1 events")
	})
}

// probed is an aged chain that counts how often each block is read on its own.
type probed struct {
	aged
	looks map[uint64]int
}

func (p probed) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	if limit == 1 {
		p.looks[last.Height+1]++
	}
	return p.aged.After(ctx, last, limit, watch)
}

// Each read of a block halves what is left to search: nodes that answer are asked about none of them twice.
func TestTheSearchLooksAtNoBlockTwice(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(5000)
		node := probed{age(f, 4000), map[uint64]int{}}
		f.Chain = node
		if _, err := f.Step(ctx, f.Lease); err != nil {
			t.Fatal(err)
		}
		if len(node.looks) < 5 {
			t.Errorf("only %d blocks were read", len(node.looks))
		}
		for height, times := range node.looks {
			if times > 1 {
				t.Errorf("block %d was read %d times, want 1", height, times)
			}
		}
	})
}

// If the backend that reports the head has blocks that the one asked for them lacks, that is no reason to begin at
// another block.
func TestAnEndpointWithoutNewBlocksBeginsNoChain(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		nodes := &lagging{Chain: f.Sim, behind: true}
		f.Chain = nodes
		f.Sim.Mine(1000)
		wantNotBegun(f, chain.ErrNoBlock)
		nodes.behind = false
		f.CatchUp()
		f.Want("block 1000, 0 credited, map[], 0 events")
		f.WantNoAlarm()
	})
}

// A follower that lost its lease begins no chain: the new lease holder may know a better node, and decides where.
func TestALostLeaseBeginsNoChain(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(1000)
		lost := f.Lease
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) (err error) {
			if err := tx.Leases().Release(ctx, lost); err != nil {
				return err
			}
			f.Lease, _, err = tx.Leases().Acquire(ctx, bursar.Ethereum, "two", 1<<50)
			return err
		}))
		leader := f.Lease
		f.Lease = lost
		wantNotBegun(f, store.ErrLeaseLost)
		f.Lease = leader
		f.CatchUp()
		f.Want("block 1000, 0 credited, map[], 0 events")
	})
}
