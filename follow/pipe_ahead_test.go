package follow_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/sim"
	"github.com/bursar/bursar/follow/followtest"
	"github.com/bursar/bursar/store"
)

// watched is a chain that reports on a channel what it was asked for.
type watched struct {
	*sim.Chain
	heads  chan struct{}
	afters chan chain.BlockRef
	gate   chan struct{} // Head answers once it is closed; nil: at once
}

func (w watched) Head(ctx context.Context) (chain.Head, error) {
	select {
	case w.heads <- struct{}{}:
	default:
	}
	if w.gate != nil {
		<-w.gate
	}
	return w.Chain.Head(ctx)
}

func (w watched) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	select {
	case w.afters <- last:
	default:
	}
	return w.Chain.After(ctx, last, limit, watch)
}

func watchCalls(f *followtest.Harness) watched {
	w := watched{Chain: f.Sim, heads: make(chan struct{}, 1), afters: make(chan chain.BlockRef, 100)}
	f.Chain = w
	return w
}

// run follows the chain until the test ends.
func run(f *followtest.Harness) (stop func()) {
	f.Pace = 1
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- f.Run(running, f.Lease) }()
	return func() {
		cancel()
		if err := <-ended; !errors.Is(err, context.Canceled) {
			f.T.Errorf("following ended with %v", err)
		}
	}
}

// reach waits until the chain is followed up to its tip and no block is left.
func reach(f *followtest.Harness, w watched, text string) {
	f.T.Helper()
	for range 100_000 {
		<-w.heads // a step begins
		if f.State() == text {
			return
		}
	}
	f.Want(text)
}

// hold keeps the database from recording until it is released.
func hold(f *followtest.Harness) (release func()) {
	held, done, ended := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- f.DB.Do(ctx, func(tx *store.Tx) error {
			_, err := tx.Chains().Lock(ctx, bursar.Ethereum)
			close(held)
			<-done
			return err
		})
	}()
	<-held
	return func() {
		close(done)
		f.Must(<-ended)
	}
}

// While nothing can be recorded, the next windows are read. A reorg then discards what was read: no block of the old
// branch stays, and a wallet that was made in the meantime is credited.
func TestReadingDoesNotWaitForRecording(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		var gone string
		for i := range 400 {
			if i == 390 {
				gone = f.Pay(7000)
			}
			f.Sim.Mine(1)
		}
		w := watchCalls(f)
		w.gate = make(chan struct{})
		f.Chain = w
		stop := run(f)
		<-w.heads
		release := hold(f)
		close(w.gate)
		for i := range 4 { // one is being recorded, two wait, one is held by the reader
			if last := <-w.afters; last.Height != uint64(i*64) {
				t.Errorf("window %d begins after block %d, want %v", i, last.Height, uint64(i*64))
			}
		}
		f.Sim.Reorg(250, gone)
		fresh := bursar.Wallet{ID: bursar.ID{9}, Currency: "COIN", Address: bursar.Address{Base: f.Sim.Named("fresh wallet")}}
		release()
		f.AddWallet(&fresh, nil)
		f.Sim.Pay(chain.Payment{Address: fresh.Address, Amount: bursar.Units(9000)})
		f.Sim.Mine(3)
		reach(f, w, "block 404, 9000 credited, map[], 1 events")
		stop()
	})
}

// Reading ahead has the same result as reading block by block, with reorgs and faults in between.
func TestReadAheadGivesWhatStepsGive(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{Chain: sim.Config{ReorgDepth: 300}}, func(t *testing.T, f *followtest.Harness) {
		f.Sim.HoldFinality(true)
		for i := range 300 {
			if i%7 == 0 {
				f.Pay(uint64(1000 + i))
			}
			f.Sim.Mine(1)
		}
		w := watchCalls(f)
		stop := run(f)
		reach(f, w, "block 300, 0 credited, map[pending:43], 0 events")
		stop()
		f.Sim.Fail(sim.After, 2, nil)
		f.Sim.Fail(sim.Head, 1, nil)
		f.Sim.Reorg(200)
		for range 200 {
			f.Sim.Mine(1)
		}
		stop = run(f)
		reach(f, w, "block 501, 0 credited, map[pending:43], 0 events")
		f.Sim.HoldFinality(false)
		reach(f, w, "block 501, 49321 credited, map[confirmed:43], 43 events")
		stop()
	})
}

// At the tip a poll reads the head once, and reads blocks once if there is a new one.
func TestThePollAtTheTipIsCheap(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		c := &counted{Chain: f.Sim}
		f.Chain = c
		step := func(want string, wantMore bool) {
			t.Helper()
			*c = counted{Chain: f.Sim}
			more, err := f.Step(ctx, f.Lease)
			f.Must(err)
			if got := fmt.Sprintf("%d heads, %d afters", c.heads, c.afters); got != want || more != wantMore {
				t.Fatalf("a step costs %s (more: %v), want %s", got, more, want)
			}
		}
		step("1 heads, 0 afters", false)
		f.Sim.Mine(1)
		step("1 heads, 1 afters", false)
		step("1 heads, 0 afters", false)
		f.Sim.Mine(150)
		step("1 heads, 1 afters", true)
		step("0 heads, 1 afters", true)
		step("0 heads, 1 afters", false)
		step("1 heads, 0 afters", false)
		f.Want("block 151, 0 credited, map[], 0 events")
	})
}

type counted struct {
	*sim.Chain
	heads, afters int
}

func (c *counted) Head(ctx context.Context) (chain.Head, error) {
	c.heads++
	return c.Chain.Head(ctx)
}

func (c *counted) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	c.afters++
	return c.Chain.After(ctx, last, limit, watch)
}

// A block that cannot be recorded holds back itself and the blocks after it, but not the blocks before it that were
// read with it.
func TestABadBlockHoldsBackNoneBeforeIt(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(10)
		f.Chain = unlinked{f.Sim, 7}
		if _, err := f.Step(ctx, f.Lease); err == nil {
			t.Fatal("a block whose parent is not recorded was recorded")
		}
		f.Want("block 6, 0 credited, map[pending:1], 0 events")
		f.Chain = f.Sim
		f.CatchUp()
		f.Want("block 10, 5000 credited, map[confirmed:1], 1 events")
	})
}

// unlinked is a chain whose block at a height names another parent.
type unlinked struct {
	*sim.Chain
	at uint64
}

func (u unlinked) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	blocks, err := u.Chain.After(ctx, last, limit, watch)
	for i := range blocks {
		if blocks[i].Ref.Height == u.at {
			blocks[i].Parent = "another"
		}
	}
	return blocks, err
}

// While a chain cannot be followed, the reason is in the database, for the commands of other processes.
func TestAFailureIsNotedUntilItIsOver(t *testing.T) {
	followtest.RunAs(t, followtest.Setting{}, func(t *testing.T, f *followtest.Harness) {
		w := watchCalls(f)
		f.Sim.Down("node", true)
		stop := run(f)
		note := func() (s store.ChainState) {
			f.Must(f.DB.View(ctx, func(tx *store.Tx) (err error) {
				s, err = tx.Chains().State(ctx, bursar.Ethereum)
				return err
			}))
			return s
		}
		for note().Failing == "" {
			<-w.heads
		}
		if s := note(); s.FailingSince.IsZero() || s.Failing != "read the head: head at node: the node does not answer" {
			t.Errorf("the note is %q since %v, want not zero and %q", s.Failing, s.FailingSince,
				"read the head: head at node: the node does not answer")
		}
		f.Sim.Down("node", false)
		for note().Failing != "" {
			<-w.heads
		}
		stop()
	})
}
