package follow

import (
	"context"

	"github.com/bursar/bursar/chain"
)

// Limits of what is held in memory while catching up. Blocks are compact: they hold only what concerns addresses of
// ours.
const (
	blocksAtOnce = 64 // blocks in one window
	windowsAhead = 2  // windows that wait to be recorded; the reader may hold one more
)

// pipe reads windows of blocks ahead while earlier ones are recorded, so that neither waits for the other. What it
// reads is only a proposal: each block is recorded in its order and only if its parent is the block recorded before it,
// and everything that was read ahead is discarded if the cursor is not where a window begins, as after a reorg, a
// failure or a rescan.
//
// No payment to a new address is missed, although a block may be recorded long after it was read: an adapter calls
// Watch.Sync after it has received a block's bytes, and the payer had the address before the block was made. So the
// address was committed before the bytes were received, and Sync has read it. The same holds for transactions of ours,
// which are committed before they are sent, and the watch forgets none of them while the process lives.
type pipe struct {
	windows chan window
	cancel  context.CancelFunc
}

// window is the result of one call of After.
type window struct {
	from   chain.BlockRef
	blocks []chain.Block
	err    error
}

// start begins to read the blocks that follow a block, up to a height.
func (p *pipe) start(
	ctx context.Context, from chain.BlockRef, top uint64, read func(context.Context, chain.BlockRef) window,
) {
	ctx, p.cancel = context.WithCancel(ctx)
	windows := make(chan window, windowsAhead)
	p.windows = windows
	go func() {
		defer close(windows)
		for from.Height < top {
			w := read(ctx, from)
			select {
			case windows <- w:
			case <-ctx.Done():
				return
			}
			if w.err != nil || len(w.blocks) == 0 {
				return
			}
			from = w.blocks[len(w.blocks)-1].Ref
		}
	}()
}

// takeWindow returns the window that follows a block, if it has been read ahead or is being read now. If the window
// follows another block, reading ahead stops.
func (p *pipe) takeWindow(ctx context.Context, from chain.BlockRef) (w window, ok bool) {
	if !p.running() {
		return w, false
	}
	select {
	case w, ok = <-p.windows:
	case <-ctx.Done():
		return window{from: from, err: ctx.Err()}, true
	}
	if !ok || w.from != from {
		p.stop()
		return w, false
	}
	return w, true
}

func (p *pipe) running() bool { return p != nil && p.windows != nil }

// stop discards what was read and returns when no read is in progress.
func (p *pipe) stop() {
	if !p.running() {
		return
	}
	p.cancel()
	for range p.windows {
	}
	p.windows = nil
}

// nextWindow returns the window that follows the cursor; at the tip it is empty.
func (f *Follower) nextWindow(ctx context.Context, head chain.Head, last chain.BlockRef) (window, error) {
	if head.Latest == last {
		return window{}, nil
	}
	w, ahead := f.pipe.takeWindow(ctx, last)
	if !ahead {
		w = f.readWindow(ctx, last)
	}
	if n := len(w.blocks); w.err == nil && n > 0 && f.pipe != nil && !f.pipe.running() {
		if end := w.blocks[n-1].Ref; end.Height < head.Latest.Height {
			f.pipe.start(ctx, end, head.Latest.Height, f.readWindow)
		}
	}
	return w, w.err
}

// readWindow reads the window that follows a block. It turns a panic of an adapter into an error, because a reader's
// goroutine has no other guard.
func (f *Follower) readWindow(ctx context.Context, from chain.BlockRef) (w window) {
	w.from = from
	w.err = Guarded(func() (err error) {
		w.blocks, err = f.Chain.After(ctx, from, blocksAtOnce, f.Watch)
		return err
	})
	return w
}
