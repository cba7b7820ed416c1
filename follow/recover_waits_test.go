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
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// recoveryOf returns the recovery that the chain is in, if any.
func recoveryOf(f *followtest.Harness) (r store.Recovery, open bool) {
	f.T.Helper()
	f.Must(f.DB.View(ctx, func(tx *store.Tx) (err error) {
		r, err = tx.Recoveries().Get(ctx, bursar.Ethereum)
		if open = err == nil; errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	}))
	return r, open
}

// wantRecovery compares the chain's recovery, and whether the chain is ready for payments.
func wantRecovery(f *followtest.Harness, want string) {
	f.T.Helper()
	got := "none"
	if r, open := recoveryOf(f); open {
		got = fmt.Sprintf("from %d, %d blocks, until %d", r.From, r.Blocks, r.Until)
	}
	if chainState(f).Ready(f.Lease) {
		got += ", ready"
	}
	if got != want {
		f.T.Fatalf("the recovery is %q, want %q", got, want)
	}
}

func beginRecovery(f *followtest.Harness) {
	f.T.Helper()
	do(f, func(tx *store.Tx) error { return recovery.Begin(ctx, tx, bursar.Ethereum, "the database failed over") })
}

func setRecovery(f *followtest.Harness, change func(r *store.Recovery)) {
	f.T.Helper()
	r, _ := recoveryOf(f)
	change(&r)
	do(f, func(tx *store.Tx) error { return tx.Recoveries().Set(ctx, r) })
}

// takeOver makes another process, which has followed nothing yet, take the chain lease with the same follower.
func takeOver(f *followtest.Harness) {
	f.T.Helper()
	f.Must(f.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if err := tx.Leases().Release(ctx, f.Lease); err != nil {
			return err
		}
		f.Lease, _, err = tx.Leases().Acquire(ctx, bursar.Ethereum, f.Lease.Holder+" again", 1<<50)
		return err
	}))
}

func mine(f *followtest.Harness, n int) {
	f.T.Helper()
	f.Sim.Mine(n)
	f.CatchUp()
}

// expiring is a chain whose transactions expire after 8 blocks: a recovery waits for 10.
func expiring() followtest.Setting { return followtest.Setting{Chain: sim.Config{Expiry: 8}} }

// A recovery counts the blocks after the newest one at the time when the chain had caught up, by the chain's own
// lifetime and not by the operator's setting, and nothing is paid before the block is final that proves that everything
// has expired.
func TestARecoveryWaitsUntilAllThatWasSignedHasExpired(t *testing.T) {
	followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
		f.Wait = chain.Lifetime{Blocks: 1000}
		mine(f, 5)
		wantRecovery(f, "none, ready")
		beginRecovery(f)
		wantRecovery(f, "from -1, 0 blocks, until -1")
		f.WantAlarm("database_behind", "the database failed over")
		f.CatchUp()
		wantRecovery(f, "from 5, 0 blocks, until -1")
		woken := 0
		f.Advanced = func() { woken++ }
		mine(f, 1)
		wantRecovery(f, "from 5, 1 blocks, until -1")
		mine(f, 8)
		wantRecovery(f, "from 5, 9 blocks, until -1")
		mine(f, 1)
		wantRecovery(f, "from 5, 10 blocks, until 15")
		mine(f, 1)
		wantRecovery(f, "from 5, 10 blocks, until 15") // block 14 is final
		if woken != 0 {
			t.Errorf("the sender is woken %d times, want 0 before the recovery ends", woken)
		}
		mine(f, 1)
		wantRecovery(f, "none, ready")
		f.WantNoAlarm()
	})
}

// On a chain whose transactions never expire, without a configured wait, a recovery ends once the block is final that
// was the newest when the chain had caught up.
func TestARecoveryWithoutExpiryWaitsForTheNewestBlock(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		mine(f, 5)
		beginRecovery(f)
		f.CatchUp()
		wantRecovery(f, "from 5, 0 blocks, until 5")
		mine(f, 1)
		wantRecovery(f, "from 5, 0 blocks, until 5")
		mine(f, 1)
		wantRecovery(f, "none, ready")
	})
}

// dated is a chain whose blocks up to a height were made just before a moment, and those after it just after that
// moment.
type dated struct {
	*sim.Chain
	moment time.Time
	height uint64
}

func (c dated) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := c.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		if blocks[i].Time = c.moment.Add(time.Second); blocks[i].Ref.Height <= c.height {
			blocks[i].Time = c.moment.Add(-time.Second)
		}
	}
	return blocks, err
}

// If the operator configured a wait for blocks and for time, a recovery waits for the first block that satisfies both,
// although many blocks are recorded at once.
func TestARecoveryWaitsForBlocksAndForTime(t *testing.T) {
	for name, tc := range map[string]struct {
		wait chain.Lifetime
		old  uint64 // the last block that was made before the time has passed
		want string
	}{
		"time takes longer":   {chain.Lifetime{Blocks: 4, Time: time.Hour}, 15, "from 5, 11 blocks, until 16"},
		"blocks take longer":  {chain.Lifetime{Blocks: 8, Time: time.Hour}, 7, "from 5, 10 blocks, until 15"},
		"too little time":     {chain.Lifetime{Blocks: 4, Time: time.Hour}, 25, "from 5, 20 blocks, until -1"},
		"too few blocks":      {chain.Lifetime{Blocks: 20, Time: time.Hour}, 7, "from 5, 20 blocks, until -1"},
		"blocks alone":        {chain.Lifetime{Blocks: 4}, 25, "from 5, 5 blocks, until 10"},
		"the very last block": {chain.Lifetime{Blocks: 16}, 25, "from 5, 20 blocks, until 25"},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
				f.Wait = tc.wait
				mine(f, 5)
				beginRecovery(f)
				f.CatchUp()
				r, _ := recoveryOf(f)
				f.Chain = dated{f.Sim, r.BeganAt.Add(time.Hour), tc.old}
				f.Sim.HoldFinality(true)
				mine(f, 20)
				wantRecovery(f, tc.want)
			})
		})
	}
}

// Blocks that existed when the chain had caught up, but that were recorded later, prove nothing about what was signed.
func TestARecoveryCountsNoBlockThatWasThereBefore(t *testing.T) {
	followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
		clock := at(f)
		f.Sim.Mine(100)
		beginRecovery(f)
		step := func(want string) {
			t.Helper()
			_, err := f.Step(ctx, f.Lease)
			f.Must(err)
			wantRecovery(f, want)
		}
		step("from -1, 0 blocks, until -1") // up to block 64, of 100 that are to be recorded first
		f.Sim.Mine(200)
		clock.Advance(6 * time.Second) // the head is asked for again
		step("from -1, 0 blocks, until -1")
		step("from -1, 0 blocks, until -1")  // up to block 192, of which 92 are final
		step("from 300, 0 blocks, until -1") // up to block 256
		step("from 300, 0 blocks, until -1")
		mine(f, 1)
		wantRecovery(f, "from 300, 1 blocks, until -1")
	})
}

// A reorg undoes the count of the blocks that are reorged out, and what the recovery waits for if that block is reorged
// out too.
func TestAReorgUndoesTheCountOfARecovery(t *testing.T) {
	for name, tc := range map[string]struct {
		mined, reorg int // on block 5, at which the chain had caught up; a reorg adds one block more than it removes
		before, want string
	}{
		"while it counts":                    {4, 2, "from 5, 4 blocks, until -1", "from 5, 5 blocks, until -1"},
		"up to the block it began with":      {4, 4, "from 5, 4 blocks, until -1", "from 5, 5 blocks, until -1"},
		"that block too":                     {4, 5, "from 5, 4 blocks, until -1", "from 4, 6 blocks, until -1"},
		"more than that":                     {2, 4, "from 5, 2 blocks, until -1", "from 3, 5 blocks, until -1"},
		"above the block waited for":         {12, 2, "from 5, 10 blocks, until 15", "from 5, 10 blocks, until 15"},
		"down to the block waited for":       {12, 3, "from 5, 10 blocks, until 15", "from 5, 10 blocks, until 15"},
		"the block waited for and many more": {12, 14, "from 5, 10 blocks, until 15", "from 3, 10 blocks, until 13"},
	} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
				mine(f, 3)
				f.Sim.HoldFinality(true)
				mine(f, 2)
				beginRecovery(f)
				f.CatchUp()
				mine(f, tc.mined)
				wantRecovery(f, tc.before)
				f.Sim.Reorg(tc.reorg)
				f.CatchUp()
				wantRecovery(f, tc.want)
			})
		})
	}
}

// If the block waited for is reorged out and nothing has replaced it yet, its height proves nothing any more.
func TestAReorgedOutBlockIsNotWaitedFor(t *testing.T) {
	followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
		mine(f, 3)
		f.Sim.HoldFinality(true)
		beginRecovery(f)
		f.CatchUp()
		mine(f, 12)
		wantRecovery(f, "from 3, 10 blocks, until 13")
		f.Sim.Reorg(3)
		before := "from 3, 10 blocks, until 13"
		for _, want := range []string{before, before, "from 3, 9 blocks, until -1"} {
			_, err := f.Step(ctx, f.Lease)
			f.Must(err)
			wantRecovery(f, want)
		}
		f.CatchUp()
		wantRecovery(f, before)
	})
}
