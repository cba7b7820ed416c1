package follow_test

import (
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/recovery"
	"github.com/bursar/bursar/store"
)

// wantReady checks whether payments may be signed on the chain.
func wantReady(f *followtest.Harness, when string, want bool) {
	f.T.Helper()
	if got := chainState(f).Ready(f.Lease); got != want {
		f.T.Fatalf("%s: ready is %v, want %v", when, got, want)
	}
}

// Nothing may be signed on a chain before everything is recorded that was final when its lease was acquired.
func TestAChainIsReadyOnceItIsCaughtUp(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Idle: true}, func(t *testing.T, f *followtest.Harness) {
		start := uint64(1)
		f.Start = &start
		f.Sim.Mine(150)
		for range 2 {
			if more, err := f.Step(ctx, f.Lease); err != nil || !more {
				t.Fatalf("a step into the history returned %v, %v", more, err)
			}
			wantReady(f, "while blocks are left", false)
		}
		f.CatchUp()
		wantReady(f, "at the tip", true)
	})
}

// If the database knows a final block that the endpoint does not report, what the chain did since is not known from
// that endpoint. Nothing is signed before the endpoint has come as far.
func TestAnEndpointBehindTheDatabaseMakesNoChainReady(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(20)
		f.CatchUp()
		wantReady(f, "at the tip", true)
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) (err error) {
			if err := tx.Leases().Release(ctx, f.Lease); err != nil {
				return err
			}
			f.Lease, _, err = tx.Leases().Acquire(ctx, bursar.Ethereum, "two", 1<<50)
			return err
		}))
		f.Sim.Behind("node", 10)
		f.CatchUp()
		wantReady(f, "with an endpoint that is ten blocks behind", false)
		f.Sim.Heal("node")
		f.CatchUp()
		wantReady(f, "once it has come as far", true)
	})
}

// A chain recovers until everything that may have been signed before is in a final block or has expired; then payments
// go on, although the chain caught up long ago.
func TestARecoveryEndsOnceNothingSignedBeforeCanBeIncluded(t *testing.T) {
	setting := followtest.Setting{Chain: sim.Config{Expiry: 8}}
	followtest.RunAs(t, setting, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(20)
		f.CatchUp()
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
			if _, err := tx.Chains().Lock(ctx, bursar.Ethereum); err != nil {
				return err
			}
			return recovery.Begin(ctx, tx, bursar.Ethereum, "a backup was restored")
		}))
		wantRecovering := func(when string) {
			t.Helper()
			wantReady(f, when, false)
			f.WantAlarm("database_behind", "a backup was restored")
			if halted := chainState(f).Halted; halted != "a backup was restored" {
				t.Fatalf("%s: the halt is %q, want %q", when, halted, "a backup was restored")
			}
		}
		f.CatchUp()
		wantRecovering("caught up again")
		f.Sim.Mine(10) // the last block that could hold a transaction signed before, plus a quarter
		f.CatchUp()
		wantRecovering("while that block is not final")
		f.Sim.Mine(2)
		f.CatchUp()
		wantReady(f, "once it is final", true)
		f.WantNoAlarm()
		if halted := chainState(f).Halted; halted != "" {
			t.Errorf("payments are still halted by %q, want none", halted)
		}
	})
}

// A new head is recorded by the step that reads it, whether only a block or only the final height is new.
func TestANewHeadIsRecordedAtOnce(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		want := func(latest, final uint64) {
			t.Helper()
			f.CatchUp()
			if s := chainState(f); s.Latest != latest || s.Final != final {
				t.Fatalf("recorded are block %d, final up to %d; want %d and %d", s.Latest, s.Final, latest, final)
			}
		}
		f.Sim.Mine(5)
		want(5, 3)
		f.Sim.HoldFinality(true)
		f.Sim.Mine(1)
		want(6, 3)
		f.Sim.HoldFinality(false)
		want(6, 4)
	})
}

// An endpoint that has no more blocks than are recorded proves nothing above them; up to them, what is final is final.
func TestFinalBlocksAreCreditedWithoutNewBlocks(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		nodes := &lagging{Chain: f.Sim}
		f.Chain = nodes
		f.Pay(5000)
		f.Sim.Mine(1)
		f.CatchUp()
		nodes.behind = true
		f.Sim.Mine(2) // the final block is now the cursor's block
		f.CatchUp()
		f.Want("block 1, 5000 credited, map[confirmed:1], 1 events")
	})
}

// A node that fails may be replaced by another one or return on another branch: the end of the chain from before does
// not count.
func TestTheHeadIsReadAgainAfterAFailure(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		c := &counted{Chain: f.Sim}
		f.Chain = c
		f.Sim.Mine(300)
		if more, err := f.Step(ctx, f.Lease); err != nil || !more {
			t.Fatalf("the first step returned %v, %v", more, err)
		}
		f.Sim.Fail(sim.After, 1, nil)
		if _, err := f.Step(ctx, f.Lease); err == nil || c.heads != 1 {
			t.Fatalf("after %d requests for the head, a failing step returned %v, want an error and 1", c.heads, err)
		}
		f.CatchUp()
		if c.heads != 2 {
			t.Errorf("the head was asked for %d times, want once before the failure and once after it", c.heads)
		}
		f.Want("block 300, 0 credited, map[], 0 events")
	})
}
