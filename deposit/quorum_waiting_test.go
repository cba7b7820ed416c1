package deposit_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/bursartest/clocktest"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// clocked gives second opinions a clock of their own, and returns the function that advances it.
func clocked(f *followtest.Harness) (pass func(time.Duration)) {
	clock := clocktest.At(f.DB.Now())
	f.Quorum.DB = f.DB.As(clock.Now, store.Hooks{})
	return clock.Advance
}

// threeHosts is a chain with three endpoints of different hosts that requires two of them above 50,000 units.
func threeHosts() followtest.Setting {
	s := twoOfThree()
	s.Chain.Endpoints = []chain.Endpoint{{Name: "a", Host: "one"}, {Name: "b", Host: "two"}, {Name: "c", Host: "three"}}
	return s
}

// idle steps once and expects that nothing is left to be evaluated now.
func idle(f *followtest.Harness) {
	f.T.Helper()
	f.Quorum.Chain = f.Chain
	if more, err := f.Quorum.Step(ctx, f.Lease); err != nil || more {
		f.T.Fatalf("the step says that more is left: %v (%v)", more, err)
	}
}

func TestADepositWaitsTenMinutesBeforeItIsAnAlarm(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		pass := clocked(f)
		f.Sim.Down("b", true)
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		idle(f)
		pass(10*time.Minute - 1)
		idle(f)
		f.WantNoAlarm()
		pass(1)
		idle(f)
		f.WantAlarm("quorum_unreached", "1 deposits on ethereum have waited over 10m0s for a second opinion")
	})
}

// The wait of a deposit that did not have to wait for some time, because its currency was suspended, starts again after
// that.
func TestADepositThatWaitsAgainStartsItsWaitAgain(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		pass := clocked(f)
		suspended := ""
		f.Deposits.Suspended = func(bursar.CurrencyCode) string { return suspended }
		f.Sim.Down("b", true)
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		idle(f)
		suspended = "of a test"
		pass(time.Hour)
		idle(f)
		suspended = ""
		idle(f)
		f.WantNoAlarm()
		pass(time.Hour)
		idle(f)
		f.WantAlarm("quorum_unreached", "1 deposits")
	})
}

// An endpoint that is asked counts its questions, and may do something before it answers.
type asked struct {
	chain.EndpointReader
	*sim.Chain
	questions *atomic.Int64
	before    func(endpoint string)
}

func (c asked) Endpoints() []chain.Endpoint { return c.EndpointReader.Endpoints() }

func (c asked) HeadOn(ctx context.Context, endpoint string) (chain.Head, error) {
	return c.EndpointReader.HeadOn(ctx, endpoint)
}

func (c asked) BlockOn(ctx context.Context, endpoint string, height uint64, watch chain.Watch) (chain.Block, error) {
	c.questions.Add(1)
	if c.before != nil {
		c.before(endpoint)
	}
	return c.EndpointReader.BlockOn(ctx, endpoint, height, watch)
}

// A process that acquires the lease again does not know what happened since: the time for which it did not ask does not
// count.
func TestANewLeaseHolderRestartsTheWait(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		pass := clocked(f)
		f.Sim.Down("b", true)
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		idle(f)
		pass(time.Hour)
		running, cancel := context.WithCancel(ctx)
		defer cancel()
		questions := new(atomic.Int64)
		f.Quorum.Pace, f.Quorum.Chain = 1, asked{f.Sim, f.Sim, questions, func(string) {
			if questions.Load() > 3 { // all three were asked once, and what came of it is written
				cancel()
			}
		}}
		if err := f.Quorum.Run(running, f.Lease); !errors.Is(err, context.Canceled) {
			t.Errorf("it ends with %v, want %v", err, context.Canceled)
		}
		f.WantNoAlarm()
	})
}

// A deposit that enough endpoints have reported is reorged out and comes back in another block: its wait starts again,
// and one that has waited all the time is late.
func TestAnAgreedDepositWaitsAgainInAnotherBlock(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		pass := clocked(f)
		f.Sim.Down("b", true)
		back := f.Pay(60_000)
		f.Sim.Mine(1)
		f.Pay(70_000)
		f.Sim.Mine(3)
		f.CatchUp()
		idle(f)
		f.Sim.Down("b", false)
		f.Sim.Behind("b", 3) // it has the first of the two blocks
		idle(f)
		f.Sim.Heal("b")
		f.Sim.Down("b", true)
		pass(time.Hour)
		f.Sim.Reorg(4, back)
		f.Sim.Restore(back)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 8, 0 credited, map[pending:2], 0 events")
		idle(f)
		f.WantAlarm("quorum_unreached", "1 deposits")
	})
}

// One deposit is denied, and another waits for endpoints that are behind: there is an alarm for both.
func TestADisagreementHidesNoDepositThatWaits(t *testing.T) {
	followtest.RunAs(t, threeHosts(), func(t *testing.T, f *followtest.Harness) {
		pass := clocked(f)
		f.Sim.Censor("b", f.Pay(60_000))
		f.Sim.Mine(1)
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.Sim.Behind("b", 3)
		f.Sim.Behind("c", 3)
		f.CatchUp()
		idle(f)
		f.WantAlarm("endpoints_disagree", "b does not report")
		pass(time.Hour)
		idle(f)
		open := f.Alarms()
		slices.Sort(open)
		if len(open) != 2 || !strings.HasPrefix(open[0], "endpoints_disagree: ") ||
			!strings.HasPrefix(open[1], "quorum_unreached: 2 deposits") {
			t.Errorf("the alarms are %q, want 2 of them and %q first and %q first", open, "endpoints_disagree: ",
				"quorum_unreached: 2 deposits")
		}
	})
}

// The alarm has the same text each time, whichever denial was received first.
func TestADisagreementIsReportedWithTheSameText(t *testing.T) {
	followtest.RunAs(t, threeHosts(), func(t *testing.T, f *followtest.Harness) {
		f.Sim.Censor("c", f.Pay(60_000))
		f.Sim.Mine(1)
		f.Sim.Censor("b", f.Pay(60_000))
		f.Sim.Mine(3)
		f.CatchUp()
		idle(f)
		f.WantAlarm("endpoints_disagree", "b does not report")
	})
}

// The block about which endpoints disagreed is reorged out: the alarm ends, and crediting continues.
func TestADisagreementEndsWhenItsBlockIsReorgedOut(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		gone := f.Pay(60_000)
		f.Sim.Censor("b", gone)
		f.Sim.Mine(3)
		f.CatchUp()
		idle(f)
		f.WantAlarm("endpoints_disagree", "b does not report")
		f.Pay(2000)
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 6, 0 credited, map[pending:2], 0 events")
		f.Sim.Reorg(6, gone)
		f.CatchUp()
		idle(f)
		f.WantNoAlarm()
		f.CatchUp()
		f.Want("block 7, 2000 credited, map[confirmed:1 orphaned:1], 1 events")
	})
}

// However many deposits of a block wait, each endpoint is asked for it once, and exactly as many blocks as one step
// takes count as all of them.
func TestABlockIsAskedForOnce(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		for range 8 {
			f.Pay(60_000)
			f.Pay(60_000)
			f.Sim.Mine(1)
		}
		f.Sim.Mine(2)
		f.CatchUp()
		raise(f, "endpoints_disagree", "quorum_unreached")
		questions := new(atomic.Int64)
		f.Quorum.Chain = asked{f.Sim, f.Sim, questions, nil}
		if more, err := f.Quorum.Step(ctx, f.Lease); err != nil || more || questions.Load() != 8*3 {
			t.Errorf("%d questions were asked, more is left: %v (%v)", questions.Load(), more, err)
		}
		f.WantNoAlarm()
		f.CatchUp()
		f.Want("block 10, 960000 credited, map[confirmed:16], 16 events")
	})
}

// A step that is ended while endpoints are asked decides nothing from the reports received so far.
func TestAStepThatIsEndedDecidesNothing(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		ending, end := context.WithCancel(ctx)
		f.Quorum.Chain = asked{f.Sim, f.Sim, new(atomic.Int64), func(string) { end() }}
		if more, err := f.Quorum.Step(ending, f.Lease); !errors.Is(err, context.Canceled) || more {
			t.Errorf("the step gave %v, more is left: %v", err, more)
		}
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:1], 0 events")
	})
}
