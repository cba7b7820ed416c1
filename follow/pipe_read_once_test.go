package follow_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/follow/followtest"
)

// The windows that were read ahead are recorded: each window is read once.
func TestNothingIsReadTwice(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(300)
		w := watchCalls(f)
		f.Chain = w
		stop := run(f)
		reach(f, w, "block 300, 0 credited, map[], 0 events")
		f.Pay(5000)
		f.Sim.Mine(3)
		reach(f, w, "block 303, 5000 credited, map[confirmed:1], 1 events")
		stop()
		close(w.afters)
		var asked []uint64
		for last := range w.afters {
			asked = append(asked, last.Height)
		}
		if want := []uint64{0, 64, 128, 192, 256, 300}; !slices.Equal(asked, want) {
			t.Errorf("the node is asked for the blocks after %v, want %v", asked, want)
		}
	})
}

// While many blocks are read, deposits below the blocks that are already final are credited, and do not wait for the
// last block.
func TestWhatIsFinalIsCreditedWhileCatchingUp(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Sim.Mine(20)
		f.Pay(5000)
		f.Sim.Mine(280)
		for i, want := range []string{
			"block 64, 0 credited, map[pending:1], 0 events",
			"block 128, 5000 credited, map[confirmed:1], 1 events",
		} {
			if more, err := f.Step(ctx, f.Lease); err != nil || !more {
				t.Fatalf("step %d returned %v, %v", i, more, err)
			}
			f.Want(want)
		}
	})
}

// quiet is a chain whose blocks come from an endpoint that returns none until the test releases it.
type quiet struct {
	watched
	asked *sync.Once // signals that it was asked
	heard chan struct{}
	news  chan struct{}
}

func (c quiet) After(ctx context.Context, last chain.BlockRef, limit int, watch chain.Watch) ([]chain.Block, error) {
	select {
	case <-c.news:
		return c.watched.After(ctx, last, limit, watch)
	default:
		c.asked.Do(func() { close(c.heard) })
		return nil, nil
	}
}

// An endpoint that has not yet the blocks that another one reported is asked again, for as long as the chain is
// followed.
func TestAnEndpointWithoutNewBlocksIsAskedAgain(t *testing.T) {
	followtest.Run(t, 0, func(t *testing.T, f *followtest.Harness) {
		f.Pay(5000)
		f.Sim.Mine(5)
		node := quiet{watchCalls(f), new(sync.Once), make(chan struct{}), make(chan struct{})}
		f.Chain = node
		stop := run(f)
		<-node.heard
		close(node.news)
		reach(f, node.watched, "block 5, 5000 credited, map[confirmed:1], 1 events")
		stop()
	})
}
