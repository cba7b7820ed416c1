package deposit_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/store"
)

// raise opens alarms of the chain that name it.
func (f *follower) raise(kinds ...string) {
	f.t.Helper()
	f.must(f.db.Do(ctx, func(tx *store.Tx) error {
		for _, kind := range kinds {
			if err := tx.Alarms().Raise(ctx, store.Alarm{Chain: bursar.Ethereum, Kind: kind, Ref: string(bursar.Ethereum), Message: "of a test"}); err != nil {
				return err
			}
		}
		return nil
	}))
}

// More blocks wait for a second opinion than one step judges. No alarm ends before the last of them is judged: an operator who
// sees none may rely on it.
func TestNoAlarmEndsBeforeEveryBlockIsJudged(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		for range 10 {
			f.pay(60_000)
			f.chain.Mine(1)
		}
		f.chain.Mine(2)
		f.catchUp()
		f.raise("endpoints_disagree", "quorum_unreached")
		waiting := map[bursar.ID]time.Time{}
		if more, err := f.SecondOpinions(ctx, f.lease, waiting); err != nil || !more || len(f.alarms()) != 2 {
			t.Fatalf("the first step says that more are left: %v, alarms %q (%v)", more, f.alarms(), err)
		}
		if more, err := f.SecondOpinions(ctx, f.lease, waiting); err != nil || more {
			t.Fatalf("the second step says that more are left: %v (%v)", more, err)
		}
		f.wantNoAlarm()
		f.catchUp()
		f.want("block 12, 600000 credited, map[confirmed:10], 10 events")
	})
}

// While endpoints do not answer, more blocks than one step judges are no reason to ask again at once.
func TestEndpointsThatAreAwayAreNotAskedWithoutAPause(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		f.chain.Down("b", true)
		for range 10 {
			f.pay(60_000)
			f.chain.Mine(1)
		}
		f.chain.Mine(2)
		f.catchUp()
		f.raise("endpoints_disagree")
		if more, err := f.SecondOpinions(ctx, f.lease, map[bursar.ID]time.Time{}); err != nil || more {
			t.Errorf("it asks again at once: %v (%v)", more, err)
		}
		f.wantAlarm("endpoints_disagree", "of a test")
	})
}

// One that does not lead the chain any more decides nothing about its deposits.
func TestALostLeaseJudgesNothing(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		f.pay(60_000)
		f.chain.Mine(3)
		f.catchUp()
		lost := f.lease
		f.must(f.db.Do(ctx, func(tx *store.Tx) (err error) {
			if err := tx.Leases().Release(ctx, f.lease); err != nil {
				return err
			}
			f.lease, _, err = tx.Leases().Acquire(ctx, bursar.Ethereum, "two", 1<<50)
			return err
		}))
		if _, err := f.SecondOpinions(ctx, lost, map[bursar.ID]time.Time{}); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("it ends with %v", err)
		}
		if err := f.JudgePending(ctx, lost); !errors.Is(err, store.ErrLeaseLost) {
			t.Errorf("judging what is pending ends with %v", err)
		}
		f.catchUp()
		f.want("block 3, 0 credited, map[pending:1], 0 events")
	})
}

// A follower that runs has second opinions asked for by itself: nobody else does.
func TestARunningFollowerAsksForSecondOpinions(t *testing.T) {
	followAs(t, twoOfThree(), func(t *testing.T, f *follower) {
		f.pay(60_000)
		f.chain.Mine(3)
		w := f.watchCalls()
		stop := f.run()
		f.reach(w, "block 3, 60000 credited, map[confirmed:1], 1 events")
		stop()
	})
}

// More deposits than one transaction judges are all judged again after a change of the configuration.
func TestEveryPendingDepositIsJudgedAgain(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		for range 450 {
			f.pay(2000)
		}
		f.chain.Mine(2)
		f.catchUp()
		f.restart(bursar.Confirmations{Default: 6})
		f.chain.Mine(3)
		f.catchUp()
		f.want("block 5, 0 credited, map[pending:450], 0 events")
		f.chain.Mine(1)
		f.catchUp()
		f.want("block 6, 900000 credited, map[confirmed:450], 450 events")
	})
}

// A panic of an adapter, which reads beside everything else, ends a step with an error and not the process.
func TestAPanicOfAnAdapterIsAnError(t *testing.T) {
	followAs(t, setting{}, func(t *testing.T, f *follower) {
		f.chain.Mine(1)
		f.Chain = panics{f.chain}
		if _, err := f.Step(ctx, f.lease); err == nil || !strings.Contains(err.Error(), "panicked: a block of an unknown form") {
			t.Errorf("the step ends with %v", err)
		}
	})
}

type panics struct{ *sim.Chain }

func (panics) After(context.Context, chain.BlockRef, int, chain.Watch) ([]chain.Block, error) {
	panic("a block of an unknown form")
}
