package xrpl

import (
	"sync"
	"time"
)

// patience is how long a node may lack a ledger that it has announced. Behind a load balancer another node has
// answered, which has not received the ledger yet: there is nothing new, and the endpoint is not at fault. If it takes
// longer, the node never returns the ledger.
const patience = 10 * time.Second

// fresh is how many ledgers below the newest another node behind a load balancer may lack. More is not a lag.
const fresh = 20

// lag remembers since when endpoints have lacked a ledger that they announced.
type lag struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// lasts records that an endpoint lacks a ledger, and reports whether it has returned none for too long.
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

// over records that an endpoint has returned the following ledgers.
func (l *lag) over(endpoint string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.since, endpoint)
}
