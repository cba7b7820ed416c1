package pay

import (
	"net/netip"
	"sync"
	"time"
)

// Limits of choosing a currency, which takes an address or locks a rate: of one client's network within a minute, and
// of the networks that are remembered.
const (
	maxChoices  = 20
	maxNetworks = 1 << 14
)

// choices counts what payers choose. A charge bounds by itself how many addresses it takes; this bounds how many
// charges one client can do that with.
type choices struct {
	mu    sync.Mutex
	since time.Time
	of    map[netip.Prefix]*count
}

type count struct{ n int }

// may counts a choice and reports whether it is allowed. Everything is forgotten once a minute, and what is not
// remembered for lack of room is refused.
func (c *choices) may(client netip.Prefix, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.since) >= time.Minute {
		c.since = now
		clear(c.of)
	}
	made := c.of[client]
	if made == nil {
		if len(c.of) >= maxNetworks {
			return false
		}
		made = &count{}
		c.of[client] = made
	}
	made.n++
	return made.n <= maxChoices
}
