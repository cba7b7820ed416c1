package tron

import (
	"context"
	"sync"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// recent is how long a node's newest block is used again: Head asks for it, and After is called at once with what Head
// said.
const recent = time.Second

// ahead remembers what a node last said of itself, so that Head and the After behind it ask once: TronGrid's free plan
// is 100,000 calls a day. It never spares Head its question for the newest block: what an announcement wakes must see
// it.
type ahead struct {
	mu     sync.Mutex
	node   string
	newest header
	at     time.Time
	read   bool // After has read up to newest
	calm   bool // Head has asked again since, and there was nothing new

	final   chain.BlockRef // the solidified block, reported beside newest; zero: none yet
	finalAt time.Time
}

// note keeps the newest block that a node has reported to Head or to After.
func (a *ahead) note(node string, h header, now time.Time, head bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	same := a.node == node && a.newest.ID == h.ID
	if !same {
		a.final, a.read = chain.BlockRef{}, false
	}
	a.node, a.newest, a.at, a.calm = node, h, now, a.read && head
}

// noteFinal keeps the solidified block that a node has reported beside its newest one.
func (a *ahead) noteFinal(node string, newest header, final chain.BlockRef, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node == node && a.newest.ID == newest.ID {
		a.final, a.finalAt = final, now
	}
}

// finalBeside returns the solidified block that a node has reported beside its newest one just now. Blocks are
// solidified by new blocks only (java-tron 4.8, Manager.applyBlock), so it is the same while the newest is.
func (a *ahead) finalBeside(node string, newest header, now time.Time) (chain.BlockRef, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.node == node && a.newest.ID == newest.ID && a.final != (chain.BlockRef{})
	return a.final, known && now.Sub(a.finalAt) < recent
}

// readUpTo notes that nothing is left to read below a node's newest block.
func (a *ahead) readUpTo(node string, tip chain.BlockRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read = a.read || a.node == node && a.newest.ref() == tip
}

// beyond returns the newest block that a node has reported just now, while blocks follow last there, and once when Head
// has seen that none do.
func (a *ahead) beyond(node string, last chain.BlockRef, now time.Time) (header, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node != node || now.Sub(a.at) >= recent || a.newest.height() < last.Height {
		return header{}, false
	}
	if a.newest.height() > last.Height {
		return a.newest, true
	}
	calm := a.calm && a.newest.ref() == last
	a.calm = false
	return a.newest, calm
}

// newestFor chooses a node for what follows last, and returns its newest block, which Head may have asked it for a
// moment ago.
func (c *Chain) newestFor(ctx context.Context, last chain.BlockRef) (*rpc.Session, header, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, header{}, err
	}
	if h, known := c.ahead.beyond(s.Name(), last, c.now()); known {
		return s, h, ctx.Err()
	}
	h, err := newest(ctx, s, full)
	if err != nil {
		return nil, header{}, err
	}
	c.ahead.note(s.Name(), h, c.now(), false)
	if h.ref() == last {
		c.ahead.readUpTo(s.Name(), last)
	}
	return s, h, nil
}
