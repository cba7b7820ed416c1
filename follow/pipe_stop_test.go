package follow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/bursar/bursar/chain"
)

// hangs is a node that does not answer before the request is cancelled.
func hangs(ctx context.Context, from chain.BlockRef) window {
	<-ctx.Done()
	return window{from: from, err: ctx.Err()}
}

// A node that does not answer blocks nobody: taking a window ends with its own context, and stopping the reader cancels
// the request.
func TestANodeThatDoesNotAnswerBlocksNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pipe
		p.start(t.Context(), chain.BlockRef{}, 100, hangs)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		w, ok := p.takeWindow(ctx, chain.BlockRef{})
		if !ok || !errors.Is(w.err, context.Canceled) || w.from != (chain.BlockRef{}) {
			t.Errorf("got %+v, %v", w, ok)
		}
		p.stop()
		if p.running() {
			t.Error("reading goes on")
		}
		p.stop()
	})
}

// A node without new blocks, although it reported some, is not asked again by the reader: its window is empty.
func TestReadingAheadEndsWithoutNewBlocks(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pipe
		reads := 0
		p.start(t.Context(), chain.BlockRef{}, 100, func(_ context.Context, from chain.BlockRef) window {
			reads++
			return window{from: from}
		})
		synctest.Wait()
		if w, ok := p.takeWindow(t.Context(), chain.BlockRef{}); !ok || len(w.blocks) > 0 || w.err != nil {
			t.Errorf("got %+v, %v", w, ok)
		}
		if _, ok := p.takeWindow(t.Context(), chain.BlockRef{}); ok || reads != 1 {
			t.Errorf("a second window was returned, or the node was asked %d times", reads)
		}
	})
}
