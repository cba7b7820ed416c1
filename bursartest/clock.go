package bursartest

import (
	"sync"
	"time"
)

// Clock is the time of a test. It shows the same time until the test moves it.
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

// NewClockAt returns a clock that shows a time.
func NewClockAt(at time.Time) *Clock { return &Clock{now: at} }

// Set moves the clock to a time, also to an earlier one.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = at
}
