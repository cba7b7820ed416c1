package follow_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
)

// twoEndpoints is a chain that is followed through one endpoint while another one exists.
func twoEndpoints() followtest.Setting {
	endpoints := []chain.Endpoint{{Name: "one", Host: "one"}, {Name: "two", Host: "two"}}
	return followtest.Setting{Chain: sim.Config{Endpoints: endpoints}}
}

// behind makes the followed endpoint lack blocks that the other one has, and another process take over.
func behind(f *followtest.Harness) {
	f.T.Helper()
	mine(f, 20)
	f.Sim.Behind("one", 10)
	f.Sim.Mine(10)
	takeOver(f)
	f.CatchUp()
	wantReady(f, "another endpoint reports newer final blocks", false)
}

// Everything that any endpoint reports as final is recorded before anything is paid: it may contain payments that the
// database has forgotten. An endpoint that reported a block and is gone delays payments for a minute, and not a second
// more.
func TestFinalBlocksOfAnyEndpointAreRecordedFirst(t *testing.T) {
	followtest.RunAs(t, twoEndpoints(), func(t *testing.T, f *followtest.Harness) {
		clock := at(f)
		behind(f)
		f.Sim.Down("two", true)
		clock.Advance(time.Minute - time.Second)
		f.CatchUp()
		wantReady(f, "it reported them less than a minute ago", false)
		clock.Advance(time.Second)
		f.CatchUp()
		wantReady(f, "no endpoint has reported them for a minute", true)
	})
}

// When an endpoint that was behind has caught up, the final blocks are recorded from it and payments go on at once.
func TestPaymentsGoOnOnceTheEndpointHasCaughtUp(t *testing.T) {
	followtest.RunAs(t, twoEndpoints(), func(t *testing.T, f *followtest.Harness) {
		at(f)
		behind(f)
		f.Sim.Behind("one", 0)
		f.CatchUp()
		wantReady(f, "everything is recorded", true)
	})
}

// A process that acquires the lease again sets a new goal, from what is known then.
func TestEveryLeaseHasAGoalOfItsOwn(t *testing.T) {
	followtest.RunAs(t, twoEndpoints(), func(t *testing.T, f *followtest.Harness) {
		at(f)
		behind(f)
		f.Sim.Down("two", true)
		takeOver(f)
		f.CatchUp()
		wantReady(f, "the final blocks of the followed endpoint are recorded", true)
	})
}

// Blocks that are known outside the database to be final are recorded before anything is paid.
func TestFinalBlocksKnownOutsideTheDatabaseAreRecordedFirst(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.KnownFinal = func() uint64 { return 50 }
		takeOver(f)
		mine(f, 51)
		wantReady(f, "block 49 is final", false)
		mine(f, 1)
		wantReady(f, "block 50 is final", true)
	})
}

// A chain without a final block is not ready for payments.
func TestAChainWithoutFinalBlocksIsNotReady(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		wantReady(f, "only the first block is there", false)
		mine(f, 1)
		wantReady(f, "nothing is final", false)
		mine(f, 1)
		wantReady(f, "the first block is final", true)
	})
}

// asked is a chain that counts the requests for its head, with and without the name of an endpoint.
type asked struct {
	*sim.Chain
	heads, named atomic.Int64
}

func (c *asked) Head(ctx context.Context) (chain.Head, error) {
	c.heads.Add(1)
	return c.Chain.Head(ctx)
}

func (c *asked) HeadOn(ctx context.Context, endpoint string) (chain.Head, error) {
	c.named.Add(1)
	return c.Chain.HeadOn(ctx, endpoint)
}

// To catch up, a single endpoint is asked only once, and several are asked once each; while the chain is followed
// afterwards, only the followed endpoint is asked.
func TestEndpointsAreAskedOnceForAGoal(t *testing.T) {
	for name, tc := range map[string]struct {
		setting followtest.Setting
		named   int64
	}{"one endpoint": {followtest.Setting{}, 0}, "two endpoints": {twoEndpoints(), 2}} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, tc.setting, func(t *testing.T, f *followtest.Harness) {
				mine(f, 3)
				c := &asked{Chain: f.Sim}
				f.Chain = c
				takeOver(f)
				f.CatchUp()
				wantReady(f, "all is recorded", true)
				mine(f, 1)
				mine(f, 1)
				if heads, named := c.heads.Load(), c.named.Load(); heads != 3 || named != tc.named {
					t.Errorf("got %d requests for the head and %d by an endpoint's name, want 3 and %d", heads, named, tc.named)
				}
			})
		})
	}
}

// A chain whose endpoints cannot be asked one by one is followed by what it reports as a whole.
func TestAChainWithoutNamedEndpointsIsReady(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Chain = struct{ chain.Chain }{f.Sim}
		takeOver(f)
		mine(f, 3)
		wantReady(f, "all is recorded", true)
	})
}

// The database may have forgotten what a block shows from the first step until the chain has caught up, unless it is
// known from outside that it has not.
func TestTheDatabaseMayForgetUntilTheChainIsCaughtUp(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		want := func(want bool, why string) {
			t.Helper()
			if got := f.MayForget(); got != want {
				t.Errorf("%s: MayForget is %v, want %v", why, got, want)
			}
		}
		mine(f, 3)
		want(false, "it is caught up")
		takeOver(f)
		f.Sim.Mine(100)
		_, err := f.Step(ctx, f.Lease)
		f.Must(err)
		want(true, "half of the blocks are recorded")
		f.Current = func() bool { return true }
		want(false, "it is known to be as new as the chain")
		f.Current = func() bool { return false }
		want(true, "it is not known to be as new as the chain")
		f.CatchUp()
		want(false, "it is caught up again")
	})
}

// If a recovery begins or begins again while the chain is catching up, the end of the chain from before is not far
// enough.
func TestARecoveryMovesTheGoal(t *testing.T) {
	for name, again := range map[string]bool{"it begins": false, "it begins once more": true} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, expiring(), func(t *testing.T, f *followtest.Harness) {
				clock := at(f)
				f.Sim.Mine(300)
				if again {
					beginRecovery(f)
				}
				step := func() {
					t.Helper()
					if more, err := f.Step(ctx, f.Lease); err != nil || !more {
						t.Fatalf("the step returned %v, %v", more, err)
					}
				}
				step() // up to block 64; the goal is block 300
				clock.Advance(6 * time.Second)
				beginRecovery(f)
				f.Sim.Mine(200)
				for range 6 { // up to block 448
					step()
					wantRecovery(f, "from -1, 0 blocks, until -1")
				}
				f.CatchUp()
				wantRecovery(f, "from 500, 0 blocks, until -1")
			})
		})
	}
}
