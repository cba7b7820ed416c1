package follow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/bursar/bursar/chain"
)

// hangs is a node that does not answer before its question is given up.
func hangs(ctx context.Context, from chain.BlockRef) window {
	<-ctx.Done()
	return window{from: from, err: ctx.Err()}
}

// A node that does not answer holds nobody up: who takes a window is let go when its own time is over, and who stops
// the reading gives the question up.
func TestANodeThatDoesNotAnswerHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pipe
		p.start(t.Context(), chain.BlockRef{}, 100, hangs)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w, ok := p.take(ctx, chain.BlockRef{})
		if !ok || !errors.Is(w.err, context.Canceled) || w.from != (chain.BlockRef{}) {
			t.Errorf("got %+v, %v", w, ok)
		}
		p.stop()
		if p.running() {
			t.Error("the reading goes on")
		}
		p.stop()
	})
}

// A node that has no news, although it said that there were blocks, is not asked again by the reader: its window is
// empty.
func TestReadingAheadEndsWhereThereIsNoNews(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pipe
		reads := 0
		p.start(t.Context(), chain.BlockRef{}, 100, func(_ context.Context, from chain.BlockRef) window {
			reads++
			return window{from: from}
		})
		synctest.Wait()
		if w, ok := p.take(t.Context(), chain.BlockRef{}); !ok || len(w.blocks) > 0 || w.err != nil {
			t.Errorf("got %+v, %v", w, ok)
		}
		if _, ok := p.take(t.Context(), chain.BlockRef{}); ok || reads != 1 {
			t.Errorf("a second window is given, or the node was asked %d times", reads)
		}
	})
}
