package chain

import (
	"fmt"
	"sync"
	"time"

	"github.com/bursar/bursar/chain/rpc"
)

// LagPatience is how long a node may lack a block that it has announced. Behind a load balancer another node has
// answered, which has not received the block yet: there is nothing new, and the endpoint is not at fault. If it takes
// longer, the node never returns the block.
const LagPatience = 10 * time.Second

// maxLag is how many blocks below the newest another node behind a load balancer may lack. More is not a lag.
const maxLag = 20

// lag remembers since when endpoints have lacked a block that they announced.
type lag struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// Lacking evaluates an endpoint that lacks the blocks after a height, of which it has announced the newest: no error
// while another node behind the same URL may be a little late, else that of Without.
func (n *Nodes) Lacking(s *rpc.Session, after, newest uint64, err error) error {
	if after+maxLag >= newest && !n.lag.lasts(s.Name(), n.Now()) {
		return nil
	}
	return n.Without(s, err)
}

// Returned records that an endpoint has returned the blocks that it was asked for.
func (n *Nodes) Returned(s *rpc.Session) { n.lag.over(s.Name()) }

// Without handles the error of an endpoint that lacks blocks: the endpoint gets a cool-down if another endpoint may
// have the blocks. A single endpoint is asked again at once, since behind a load balancer another node may answer.
func (n *Nodes) Without(s *rpc.Session, err error) error {
	if n.Several {
		return s.Fail(err)
	}
	return fmt.Errorf("%w: %w", rpc.ErrUnavailable, err)
}

// lasts records that an endpoint lacks a block, and reports whether it has returned none for too long.
func (l *lag) lasts(endpoint string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.since == nil {
		l.since = map[string]time.Time{}
	}
	since, lacking := l.since[endpoint]
	if !lacking {
		l.since[endpoint] = now
		return false
	}
	return now.Sub(since) >= LagPatience
}

// over records that an endpoint has returned the following blocks.
func (l *lag) over(endpoint string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.since, endpoint)
}
