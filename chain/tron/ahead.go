package tron

import (
	"context"
	"sync"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// recent is how long a node's newest block is used again: Head requests it, and After is called at once with the
// result.
const recent = time.Second

// ahead remembers a node's last answers about its head, so that Head and the following After send one request:
// TronGrid's free plan is 100,000 calls a day. Head always requests the newest block: a call after an announcement must
// see it.
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

// note stores the newest block that a node has reported to Head or to After.
func (a *ahead) note(node string, h header, now time.Time, head bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	same := a.node == node && a.newest.ID == h.ID
	if !same {
		a.final, a.read = chain.BlockRef{}, false
	}
	a.node, a.newest, a.at, a.calm = node, h, now, a.read && head
}

// noteFinal stores the solidified block that a node has reported together with its newest one.
func (a *ahead) noteFinal(node string, newest header, final chain.BlockRef, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node == node && a.newest.ID == newest.ID {
		a.final, a.finalAt = final, now
	}
}

// finalBeside returns the solidified block that a node has just reported together with its newest one. Only new blocks
// solidify blocks (java-tron 4.8, Manager.applyBlock), so it stays the same while the newest does.
func (a *ahead) finalBeside(node string, newest header, now time.Time) (chain.BlockRef, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	known := a.node == node && a.newest.ID == newest.ID && a.final != (chain.BlockRef{})
	return a.final, known && now.Sub(a.finalAt) < recent
}

// readUpTo records that nothing is left to read below a node's newest block.
func (a *ahead) readUpTo(node string, tip chain.BlockRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read = a.read || a.node == node && a.newest.ref() == tip
}

// beyond returns the newest block that a node has just reported, while blocks follow last there, and once after Head
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

// newestFor chooses a node for the blocks after last, and returns its newest block, which Head may have requested a
// moment ago.
func (c *Chain) newestFor(ctx context.Context, last chain.BlockRef) (*rpc.Session, header, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, header{}, err
	}
	if h, known := c.ahead.beyond(s.Name(), last, c.nodes.Now()); known {
		return s, h, ctx.Err()
	}
	h, err := newest(ctx, s, full)
	if err != nil {
		return nil, header{}, err
	}
	c.ahead.note(s.Name(), h, c.nodes.Now(), false)
	if h.ref() == last {
		c.ahead.readUpTo(s.Name(), last)
	}
	return s, h, nil
}
