package follow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// aged is a chain with a block every minute, whose block at a given height was made now, and which counts how often it
// is read.
type aged struct {
	*sim.Chain
	now    time.Time
	height uint64
	reads  *int
	lowest *uint64
}

func (a aged) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	*a.reads++
	*a.lowest = min(*a.lowest, last.Height)
	blocks, err := a.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		blocks[i].Time = a.now.Add(time.Duration(int64(blocks[i].Ref.Height)-int64(a.height)) * time.Minute)
	}
	return blocks, err
}

// age makes the chain so old that its block at a height was made at the same time as the wallets.
func age(f *followtest.Harness, height uint64) aged {
	a := aged{Chain: f.Sim, now: f.Wallet.CreatedAt, height: height, reads: new(int), lowest: new(uint64)}
	*a.lowest = 1 << 60
	f.Chain = a
	return a
}

func cursor(f *followtest.Harness) uint64 {
	f.T.Helper()
	var state store.ChainState
	f.Must(f.DB.View(ctx, func(tx *store.Tx) (err error) {
		state, err = tx.Chains().State(ctx, bursar.Ethereum)
		return err
	}))
	return uint64(state.Height)
}

// If wallets were made and paid before the node answered for the first time, the chain begins before them. Few blocks
// are read to find where, and none from long before.
func TestAChainBeginsBeforeItsOldestWallet(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(4900)
		f.Pay(5000)
		f.Sim.Mine(100)
		f.Sim.Prune(4000)
		a := age(f, 4890)
		if more, err := f.Step(ctx, f.Lease); err != nil || !more {
			t.Fatalf("the first step returned %v, %v", more, err)
		}
		if *a.reads > 20 || *a.lowest < 4800-200 {
			t.Errorf("%d blocks were read, the lowest after block %d, want at most 20 and at least %v", *a.reads, *a.lowest,
				4800-200)
		}
		if at := cursor(f); at < 4770+1 || at > 4770+64 { // 2 h before the wallets, and the first window
			t.Errorf("the chain begins below block %d, want at least %v and at most %v", at, 4770+1, 4770+64)
		}
		f.CatchUp()
		f.Want("block 5000, 5000 credited, map[confirmed:1], 1 events")
		f.WantNoAlarm()
	})
}

// If the nodes have pruned the blocks from when the wallets were made, the chain begins with the oldest block that they
// have, and an alarm says what may be missed.
func TestAChainBeginsWhereAPrunedNodeBegins(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(2900)
		f.Pay(5000)
		f.Sim.Mine(100)
		f.Sim.Prune(2871)
		a := age(f, 10)
		f.CatchUp()
		f.Want("block 3000, 5000 credited, map[confirmed:1], 1 events")
		if *a.reads > 200 {
			t.Errorf("%d windows were read, want at most 200", *a.reads)
		}
		f.WantAlarm("history_gap", "the chain begins after block 2871")
	})
}

func TestAChainWithoutWalletsBeginsAtTheTip(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true, Before: func(w *bursar.Wallet) {
		w.Currency = "OTHER"
	}}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(3000)
		f.Sim.Prune(2999)
		f.Sim.Fail(sim.At, 1, errors.New("a block was read that need not be read"))
		f.CatchUp()
		f.Want("block 3000, 0 credited, map[], 0 events")
		f.WantNoAlarm()
	})
}

func TestAChainBeginsAtItsStartHeight(t *testing.T) {
	start := uint64(2900)
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Start = &start
		f.Sim.Mine(2899)
		f.Pay(5000)
		f.Sim.Mine(100)
		f.Sim.Prune(2899)
		f.CatchUp()
		f.Want("block 2999, 5000 credited, map[confirmed:1], 1 events")
		f.WantNoAlarm()
	})
}

// A node that fails while the beginning is searched for is asked again, and does not count as lacking blocks.
func TestAnUnavailableNodeDoesNotCountAsPruned(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(1000)
		age(f, 500)
		f.Sim.Fail(sim.After, 1, nil)
		for range 40 {
			f.Sim.Fail(sim.At, 1, nil)
		}
		for range 3 {
			if _, err := f.Step(ctx, f.Lease); !errors.Is(err, sim.ErrNode) {
				t.Fatalf("the step returned %v, want %v", err, sim.ErrNode)
			}
		}
		f.Sim.ClearFaults()
		f.CatchUp()
		f.Want("block 1000, 0 credited, map[], 0 events")
		f.WantNoAlarm()
	})
}

// A chain with a history that reports no final block is not read from its first block on.
func TestNothingBeginsWhileNothingIsFinal(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(1000)
		f.Chain = unfinal{f.Sim}
		if _, err := f.Step(ctx, f.Lease); err == nil || cursor(f) != 1<<64-1 {
			t.Fatalf("the chain begins at %d (%v), want nowhere", cursor(f), err)
		}
		f.Chain = f.Sim
		f.CatchUp()
		f.Want("block 1000, 0 credited, map[], 0 events")
	})
}

// unfinal is a chain that reports no final block.
type unfinal struct{ *sim.Chain }

func (u unfinal) Head(ctx context.Context) (chain.Head, error) {
	head, err := u.Chain.Head(ctx)
	head.Final = chain.BlockRef{}
	return head, err
}

// A wallet that is older than the chain's configuration, because its address serves several chains, does not require
// blocks from before that: nobody was asked to pay there.
func TestNoWalletIsOlderThanItsChain(t *testing.T) {
	made := func(w *bursar.Wallet) { w.CreatedAt = w.CreatedAt.Add(-20 * time.Hour) }
	followtest.RunAs(t, followtest.Setting{Idle: true, Before: made}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(3000)
		a := age(f, 2900)
		a.now = f.DB.Now() // when the chain was configured
		f.Chain = a
		if _, err := f.Step(ctx, f.Lease); err != nil {
			t.Fatal(err)
		}
		if at := cursor(f); at < 2770 || at > 2780+64 { // 2 h before that, and the first window
			t.Errorf("the chain begins below block %d, want at least 2770 and at most %v", at, 2780+64)
		}
	})
}

// failing is an aged chain whose node does not answer some of the requests for blocks, counted from 1.
type failing struct {
	aged
	fails func(n int, last chain.BlockRef) bool
}

func (a failing) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	if a.fails(*a.reads+1, last) {
		*a.reads++
		return nil, sim.ErrNode
	}
	return a.aged.After(ctx, last, limit, watch)
}

// Whenever a node becomes unavailable while the beginning is searched for, the chain does not begin: a block that the
// node does not return is not missing.
func TestANodeThatFailsDuringTheSearchIsNotPruned(t *testing.T) {
	for from := 1; from <= 12; from++ {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
				f.Sim.Mine(1000)
				a := age(f, 500)
				f.Chain = failing{a, func(n int, _ chain.BlockRef) bool { return n >= from }}
				if _, err := f.Step(ctx, f.Lease); !errors.Is(err, sim.ErrNode) || cursor(f) != 1<<64-1 {
					t.Fatalf("the chain begins at %d (%v), want nowhere", cursor(f), err)
				}
				f.Chain = a
				f.CatchUp()
				f.WantNoAlarm()
			})
		})
	}
}

// A block that a node fails to return once, and returns when asked again, is not missing.
func TestABlockThatFailsOnceIsNotMissing(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(1000)
		f.Pay(5000)
		f.Sim.Mine(500)
		a := age(f, 1000)
		asked := map[uint64]bool{}
		f.Chain = failing{a, func(_ int, last chain.BlockRef) bool {
			first := !asked[last.Height]
			asked[last.Height] = true
			return first && last.Height < 1400
		}}
		if _, err := f.Step(ctx, f.Lease); err != nil {
			t.Fatal(err)
		}
		f.Chain = a
		f.CatchUp()
		f.Want("block 1500, 5000 credited, map[confirmed:1], 1 events")
		f.WantNoAlarm()
	})
}

// While blocks of past days are read, a payment counts from when it was made: a charge that was paid in time is paid.
func TestAPaymentThatIsReadLateCountsFromItsBlock(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		a := age(f, 3000)
		f.Sim.Mine(3)
		old := f.Pay(2000)
		f.Sim.Mine(3000)
		early := f.Pay(3000)
		f.Sim.Mine(3)
		f.CatchUp()
		if got, want := f.DepositOf(old).SeenAt, a.now.Add(-2996*time.Minute); !got.Equal(want) {
			t.Errorf("a payment of two days ago counts from %v, want %v", got, want)
		}
		// A block whose time is ahead of ours does not make a payment later than now.
		if got := f.DepositOf(early).SeenAt; got.After(f.DB.Now()) {
			t.Errorf("it counts from %v", got)
		}
	})
}
