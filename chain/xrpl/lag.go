package xrpl

import (
	"sync"
	"time"
)

// patience is how long a node may lack a ledger that it says to have. Behind a load balancer another node has answered,
// which has not received it yet: that is no news, and no fault of the endpoint. What lasts longer is a node that never
// shows it.
const patience = 10 * time.Second

// fresh is how many ledgers below the newest another node behind a load balancer may lack. More is no lag.
const fresh = 20

// lag remembers since when endpoints have lacked a ledger that they say to have.
type lag struct {
	mu    sync.Mutex
	since map[string]time.Time
}

// lasts notes that an endpoint lacks a ledger, and reports whether it has shown none for too long.
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

// over notes that an endpoint has shown the ledgers that follow.
func (l *lag) over(endpoint string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.since, endpoint)
}
