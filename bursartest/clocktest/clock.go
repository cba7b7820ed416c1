// Package clocktest provides the clock of every test that needs one. It owns the time of a test and never reads the
// system's. It imports nothing of the service, so that the tests inside any package can use it.
package clocktest

import (
	"sync"
	"time"
)

// Clock is the time of a test. It shows the same time until the test moves it, unless it runs.
type Clock struct {
	mu      sync.Mutex
	now     time.Time
	started time.Time // when now was set, for a clock that runs; zero: it shows now
}

// New returns a clock whose time is after every block of a new chain of package sim.
func New() *Clock { return At(time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)) }

// At returns a clock that shows a time.
func At(at time.Time) *Clock { return &Clock{now: at} }

// Running returns a clock that shows a time and runs from there, for a service whose workers wait by real time.
func Running(from time.Time) *Clock { return &Clock{now: from, started: time.Now()} }

// Now returns the time.
func (c *Clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.read()
}

func (c *Clock) read() time.Time {
	if c.started.IsZero() {
		return c.now
	}
	return c.now.Add(time.Since(c.started))
}

// Advance moves the clock, forward as a rule.
func (c *Clock) Advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// Set moves the clock to a time, also to an earlier one.
func (c *Clock) Set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(at.Sub(c.read()))
}
