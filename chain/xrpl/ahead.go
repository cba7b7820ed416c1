package xrpl

import (
	"context"
	"sync"
	"time"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
)

// recent is how long a node's standing is used again: Head requests it, and After is called at once with the result.
const recent = time.Second

// ahead remembers a node's last standing, so that Head and the following After send one request. Head always sends its
// request: a call after an announcement must see the new ledger.
type ahead struct {
	mu   sync.Mutex
	node string
	st   nodePosition
	at   time.Time
	read bool // After has read up to st.tip
	calm bool // Head has asked again since, and there was nothing new
}

// note stores a node's standing, reported to Head or to After.
func (a *ahead) note(node string, st nodePosition, now time.Time, head bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read = a.read && a.node == node && a.st.tip == st.tip
	a.node, a.st, a.at, a.calm = node, st, now, a.read && head
}

// readUpTo records that nothing is left to read below a node's newest ledger.
func (a *ahead) readUpTo(node string, tip chain.BlockRef) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.read = a.read || a.node == node && a.st.tip == tip
}

// beyond returns a node's recent standing, while ledgers follow last there, and once after Head has seen that none do.
func (a *ahead) beyond(node string, last chain.BlockRef, now time.Time) (nodePosition, bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.node != node || now.Sub(a.at) >= recent || a.st.tip.Height < last.Height {
		return nodePosition{}, false
	}
	if a.st.tip.Height > last.Height {
		return a.st, true
	}
	calm := a.calm && a.st.tip == last
	a.calm = false
	return a.st, calm
}

// standingFor chooses a node for the ledgers after last, and returns its standing, which Head may have requested a
// moment ago.
func (c *Chain) standingFor(ctx context.Context, last chain.BlockRef) (*rpc.Session, nodePosition, error) {
	s, err := c.nodes.Pin(ctx)
	if err != nil {
		return nil, nodePosition{}, err
	}
	if st, known := c.ahead.beyond(s.Name(), last, c.nodes.Now()); known {
		return s, st, ctx.Err()
	}
	st, err := c.stand(ctx, s)
	if err == nil {
		c.ahead.note(s.Name(), st, c.nodes.Now(), false)
	}
	if err == nil && st.tip == last {
		c.ahead.readUpTo(s.Name(), last)
	}
	return s, st, err
}
