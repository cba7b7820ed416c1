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

// aged is a chain with a block a minute, whose block of a height was made now, and which counts what is read of it.
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

// age makes the chain so old that its block at a height was made when the wallets were.
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

// Wallets were made, and paid, before the node answered for the first time. Few blocks are looked at to find where to
// begin, and none from long before.
func TestAChainBeginsBeforeItsOldestWallet(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(4900)
		f.Pay(5000)
		f.Sim.Mine(100)
		f.Sim.Prune(4000)
		a := age(f, 4890)
		if more, err := f.Step(ctx, f.Lease); err != nil || !more {
			t.Fatalf("the first step gives %v, %v", more, err)
		}
		if *a.reads > 20 || *a.lowest < 4800-200 {
			t.Errorf("%d blocks were read, the lowest after %d", *a.reads, *a.lowest)
		}
		if at := cursor(f); at < 4770+1 || at > 4770+64 { // 2 h before the wallets, and the first window
			t.Errorf("it begins below block %d", at)
		}
		f.CatchUp()
		f.Want("block 5000, 5000 credited, map[confirmed:1], 1 events")
		f.WantNoAlarm()
	})
}

// The nodes are pruned below what was made when the wallets were: the chain begins with the oldest block that they
// have, and says what may be missed.
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
			t.Errorf("%d windows were read", *a.reads)
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
		f.Sim.Fail(sim.At, 1, errors.New("a question that need not be asked"))
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

// A node that fails while the beginning is looked for is asked again, and not taken for one that lacks blocks.
func TestAnAwayNodeIsNotTakenForAPrunedOne(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(1000)
		age(f, 500)
		f.Sim.Fail(sim.After, 1, nil)
		for range 40 {
			f.Sim.Fail(sim.At, 1, nil)
		}
		for range 3 {
			if _, err := f.Step(ctx, f.Lease); !errors.Is(err, sim.ErrNode) {
				t.Fatalf("the step gave %v", err)
			}
		}
		f.Sim.ClearFaults()
		f.CatchUp()
		f.Want("block 1000, 0 credited, map[], 0 events")
		f.WantNoAlarm()
	})
}

// A chain with a history that does not say what is final is not read from its first block on.
func TestNothingBeginsWhileNothingIsFinal(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(1000)
		f.Chain = unfinal{f.Sim}
		if _, err := f.Step(ctx, f.Lease); err == nil || cursor(f) != 1<<64-1 {
			t.Fatalf("it begins at %d (%v)", cursor(f), err)
		}
		f.Chain = f.Sim
		f.CatchUp()
		f.Want("block 1000, 0 credited, map[], 0 events")
	})
}

// unfinal is a chain that does not say what is final.
type unfinal struct{ *sim.Chain }

func (u unfinal) Head(ctx context.Context) (chain.Head, error) {
	head, err := u.Chain.Head(ctx)
	head.Final = chain.BlockRef{}
	return head, err
}

// A wallet that is older than the chain's configuration, because its address serves several chains, calls for no block
// from before that: nobody was told to pay there.
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
			t.Errorf("it begins below block %d", at)
		}
	})
}

// failing is an aged chain whose node does not answer some of the questions for blocks, counted from 1.
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

// Whenever a node goes away while the beginning is looked for, the chain does not begin: what it does not answer is not
// missing.
func TestANodeThatGoesAwayMeanwhileIsNotPruned(t *testing.T) {
	for from := 1; from <= 12; from++ {
		t.Run(fmt.Sprint(from), func(t *testing.T) {
			followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
				f.Sim.Mine(1000)
				a := age(f, 500)
				f.Chain = failing{a, func(n int, _ chain.BlockRef) bool { return n >= from }}
				if _, err := f.Step(ctx, f.Lease); !errors.Is(err, sim.ErrNode) || cursor(f) != 1<<64-1 {
					t.Fatalf("it begins at %d (%v)", cursor(f), err)
				}
				f.Chain = a
				f.CatchUp()
				f.WantNoAlarm()
			})
		})
	}
}

// A block that a node does not give once, and gives when it is asked again, is not missing.
func TestABlockThatIsNotGivenOnceIsNotMissing(t *testing.T) {
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

// While blocks of days ago are caught up with, a payment counts from when it was made: a charge that was paid in time
// is.
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
			t.Errorf("what was paid two days ago counts from %v, want %v", got, want)
		}
		// A block whose time lies ahead of ours does not make a payment later than it is.
		if got := f.DepositOf(early).SeenAt; got.After(f.DB.Now()) {
			t.Errorf("it counts from %v", got)
		}
	})
}
