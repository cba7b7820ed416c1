package tron

import (
	"sync"
	"time"
)

// patience is how long a node may lack a block that it has announced. Behind a load balancer another node has answered,
// which has not received the block yet: there is nothing new, and the endpoint is not at fault. If it takes longer, the
// node never returns the block.
const patience = 10 * time.Second

// fresh is how many blocks below the newest another node behind a load balancer may lack. More is not a lag.
const fresh = 20

// lag remembers since when endpoints have lacked a block that they announced.
type lag struct {
	mu    sync.Mutex
	since map[string]time.Time
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
	return now.Sub(since) >= patience
}

// over records that an endpoint has returned the following blocks.
func (l *lag) over(endpoint string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.since, endpoint)
}
