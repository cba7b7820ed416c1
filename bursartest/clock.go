package bursartest

import (
	"sync"
	"time"
)

// Clock is the time of a harness. It stands still until it is moved.
type Clock struct {
	mu  sync.Mutex
	now time.Time
}

// NewClock returns a clock whose time is after every block of a new chain of package sim.
func NewClock() *Clock { return &Clock{now: time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Advance moves the clock, forward as a rule.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}
