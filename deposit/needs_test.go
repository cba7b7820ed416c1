package deposit_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// raise opens alarms of the chain that name it.
func raise(f *followtest.Harness, kinds ...string) {
	f.T.Helper()
	f.Must(f.DB.Do(ctx, func(tx *store.Tx) error {
		for _, kind := range kinds {
			if err := tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Ethereum, Kind: kind, Ref: string(bursar.Ethereum),
				Message: "of a test"}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// More blocks wait for a second opinion than one step evaluates. No alarm closes before the last of them is evaluated:
// an operator may rely on that.
func TestNoAlarmEndsBeforeEveryBlockIsEvaluated(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		for range 10 {
			f.Pay(60_000)
			f.Sim.Mine(1)
		}
		f.Sim.Mine(2)
		f.CatchUp()
		raise(f, "endpoints_disagree", "quorum_unreached")
		if more, err := f.Quorum.Step(ctx, f.Lease); err != nil || !more || len(f.Alarms()) != 2 {
			t.Fatalf("the first step says that more are left: %v, alarms %q (%v)", more, f.Alarms(), err)
		}
		if more, err := f.Quorum.Step(ctx, f.Lease); err != nil || more {
			t.Fatalf("the second step says that more are left: %v (%v)", more, err)
		}
		f.WantNoAlarm()
		f.CatchUp()
		f.Want("block 12, 600000 credited, map[confirmed:10], 10 events")
	})
}

// More deposits of one block wait than one step takes. No alarm closes before the last of them is evaluated, which is
// the one that is denied.
func TestNoAlarmEndsBeforeEveryDepositIsEvaluated(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		for range 200 {
			f.Pay(60_000)
		}
		f.Sim.Censor("b", f.Pay(70_000))
		f.Sim.Mine(3)
		f.CatchUp()
		raise(f, "endpoints_disagree", "quorum_unreached")
		if more, err := f.Quorum.Step(ctx, f.Lease); err != nil || !more || len(f.Alarms()) != 2 {
			t.Fatalf("the first step says that more are left: %v, alarms %q (%v)", more, f.Alarms(), err)
		}
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:201], 0 events")
		if more, err := f.Quorum.Step(ctx, f.Lease); err != nil || more {
			t.Fatalf("the second step says that more are left: %v (%v)", more, err)
		}
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:201], 0 events")
		if open := f.Alarms(); len(open) != 2 || !strings.Contains(open[0]+open[1], "the transfer of 0.00070000 COIN") {
			t.Errorf("the alarms are %q, want 2 of them and %q in it", open, "the transfer of 0.00070000 COIN")
		}
	})
}

// Deposits that no second host can report wait, in more blocks or in greater numbers than one step takes. Those after
// them are asked about in turn, and then the first ones again.
func TestWhatNobodyReportsHoldsUpNobody(t *testing.T) {
	for name, perBlock := range map[string]int{"in eight blocks": 1, "two hundred": 25} {
		t.Run(name, func(t *testing.T) {
			followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
				untraced := true
				sent := func(b *chain.Block) { // by contracts, in the first eight blocks
					if b.Ref.Height <= 8 {
						internal(b.Transfers)
					}
				}
				f.Chain = misreport{f.Sim, sent, func(b *chain.Block) {
					if b.Ref.Height <= 8 && untraced {
						b.Transfers, b.Untraced = nil, true
					}
				}}
				for range 8 {
					for range perBlock {
						f.Pay(60_000)
					}
					f.Sim.Mine(1)
				}
				for range 10 {
					f.Pay(70_000)
					f.Sim.Mine(1)
				}
				f.Sim.Mine(2)
				f.CatchUp()
				idle(f)  // nothing came of the first eight blocks
				opine(f) // the ten behind them
				f.CatchUp()
				f.Want(fmt.Sprintf("block 20, 700000 credited, map[confirmed:10 pending:%d], 10 events", 8*perBlock))
				untraced = false
				opine(f)
				f.CatchUp()
				f.Want(fmt.Sprintf("block 20, %d credited, map[confirmed:%d], %d events", 700_000+8*perBlock*60_000,
					10+8*perBlock, 10+8*perBlock))
			})
		})
	}
}

// While endpoints do not answer, more blocks than one step evaluates do not cause an immediate retry.
func TestEndpointsThatAreAwayAreNotAskedWithoutAPause(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Sim.Down("b", true)
		for range 10 {
			f.Pay(60_000)
			f.Sim.Mine(1)
		}
		f.Sim.Mine(2)
		f.CatchUp()
		raise(f, "endpoints_disagree")
		if more, err := f.Quorum.Step(ctx, f.Lease); err != nil || more {
			t.Errorf("it asks again at once: %v (%v)", more, err)
		}
		f.WantAlarm("endpoints_disagree", "of a test")
	})
}

// A process that has lost the chain lease decides nothing about its deposits.
func TestALostLeaseEvaluatesNothing(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Pay(60_000)
		f.Sim.Mine(3)
		f.CatchUp()
		lost := f.Lease
		f.Must(f.DB.Do(ctx, func(tx *store.Tx) (err error) {
			if err := tx.Leases().Release(ctx, f.Lease); err != nil {
				return err
			}
			f.Lease, _, err = tx.Leases().Acquire(ctx, bursar.Ethereum, "two", 1<<50)
			return err
		}))
		if _, err := f.Quorum.Step(ctx, lost); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("it ends with %v, want %v", err, store.ErrLeaseLost)
		}
		if err := f.Deposits.EvaluatePending(ctx, lost); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("evaluating what is pending ends with %v, want %v", err, store.ErrLeaseLost)
		}
		f.CatchUp()
		f.Want("block 3, 0 credited, map[pending:1], 0 events")
	})
}

// Second opinions are requested while the chain is followed, and release the deposits that wait for them.
func TestOpinionsAreAskedForWhileTheChainIsFollowed(t *testing.T) {
	followtest.RunAs(t, twoOfThree(), func(t *testing.T, f *followtest.Harness) {
		f.Pay(60_000)
		f.Sim.Mine(3)
		advanced := make(chan struct{}, 1)
		f.Advanced = func() {
			select {
			case advanced <- struct{}{}:
			default:
			}
		}
		f.Pace, f.Quorum.Pace = 1, 1
		running, cancel := context.WithCancel(ctx)
		ended := make(chan error, 2)
		go func() { ended <- f.Run(running, f.Lease) }()
		go func() { ended <- f.Quorum.Run(running, f.Lease) }()
		for !strings.Contains(f.State(), "60000 credited") {
			<-advanced
		}
		cancel()
		for range 2 {
			if err := <-ended; !errors.Is(err, context.Canceled) {
				t.Errorf("it ends with %v, want %v", err, context.Canceled)
			}
		}
		f.Want("block 3, 60000 credited, map[confirmed:1], 1 events")
	})
}

// More deposits than one transaction evaluates are all evaluated again after a change of the configuration.
func TestEveryPendingDepositIsEvaluatedAgain(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		for range 450 {
			f.Pay(2000)
		}
		f.Sim.Mine(2)
		f.CatchUp()
		restart(f, bursar.Confirmations{Default: 6})
		f.Sim.Mine(3)
		f.CatchUp()
		f.Want("block 5, 0 credited, map[pending:450], 0 events")
		f.Sim.Mine(1)
		f.CatchUp()
		f.Want("block 6, 900000 credited, map[confirmed:450], 450 events")
	})
}

// A panic of an adapter, which reads in a goroutine of its own, ends a step with an error and not the process.
func TestAPanicOfAnAdapterIsAnError(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(1)
		f.Chain = panics{f.Sim}
		if _, err := f.Step(ctx, f.Lease); err == nil ||
			!strings.Contains(err.Error(), "panicked: a block of an unknown form") {
			t.Errorf("the step ends with %v, want an error and %q in it", err, "panicked: a block of an unknown form")
		}
	})
}

type panics struct{ *sim.Chain }

func (panics) After(context.Context, chain.BlockRef, int, chain.Watch) ([]chain.Block, error) {
	panic("a block of an unknown form")
}
