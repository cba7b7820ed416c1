package follow

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/bursar/bursar/chain"
)

// If no window is taken, the reader holds as many windows as it may, and reads no further.
func TestReadingAheadIsBounded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var p pipe
		var reads atomic.Int64
		p.start(t.Context(), chain.BlockRef{}, 1_000_000, func(_ context.Context, from chain.BlockRef) window {
			reads.Add(1)
			return window{from: from, blocks: []chain.Block{{Ref: chain.BlockRef{Height: from.Height + blocksAtOnce}}}}
		})
		synctest.Wait()
		if got := reads.Load(); got != windowsAhead+1 {
			t.Errorf("%d windows were read, want %d", got, windowsAhead+1)
		}
		if w, ok := p.takeWindow(t.Context(), chain.BlockRef{}); !ok || w.blocks[0].Ref.Height != blocksAtOnce {
			t.Errorf("the first window is %+v, %v", w, ok)
		}
		if _, ok := p.takeWindow(t.Context(), chain.BlockRef{Height: 7}); ok || p.running() {
			t.Error("a window that follows another block was taken, or reading goes on")
		}
	})
}

// Reading ends at its top, at the tip, and with an error, which is returned once.
func TestReadingAheadEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		away := errors.New("away")
		var p pipe
		p.start(t.Context(), chain.BlockRef{}, 100, func(_ context.Context, from chain.BlockRef) window {
			return window{from: from, err: away}
		})
		if w, ok := p.takeWindow(t.Context(), chain.BlockRef{}); !ok || !errors.Is(w.err, away) {
			t.Errorf("got %+v, %v", w, ok)
		}
		if _, ok := p.takeWindow(t.Context(), chain.BlockRef{}); ok || p.running() {
			t.Error("it goes on after an error")
		}
		p.start(t.Context(), chain.BlockRef{}, 3, func(_ context.Context, from chain.BlockRef) window {
			return window{from: from, blocks: []chain.Block{{Ref: chain.BlockRef{Height: from.Height + 3}}}}
		})
		if w, ok := p.takeWindow(t.Context(), chain.BlockRef{}); !ok || len(w.blocks) != 1 {
			t.Errorf("got %+v, %v", w, ok)
		}
		if _, ok := p.takeWindow(t.Context(), chain.BlockRef{Height: 3}); ok {
			t.Error("it reads beyond its top")
		}
	})
}
