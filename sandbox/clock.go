package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// clock is the sandbox's: the machine's, moved forward by anyone who plays. How far is kept in the data directory, so
// that time does not go back with a restart.
type clock struct {
	dir    dataDir
	moving sync.Mutex
	ahead  atomic.Int64 // nanoseconds
}

// openClock reads how far the clock was moved at an earlier start.
func openClock(dir dataDir) (*clock, error) {
	c := &clock{dir: dir}
	text, err := os.ReadFile(dir.file("clock"))
	if errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read the clock: %w", err)
	}
	ahead, err := time.ParseDuration(strings.TrimSpace(string(text)))
	if err != nil || ahead < 0 {
		return nil, fmt.Errorf("the clock in %s is %q: want a duration such as 2h0m0s", dir.file("clock"), text)
	}
	c.ahead.Store(int64(ahead))
	return c, nil
}

// Ahead is how far the clock is ahead of the machine's.
func (c *clock) Ahead() time.Duration { return time.Duration(c.ahead.Load()) }

// Now returns the time.
func (c *clock) Now() time.Time { return time.Now().Add(c.Ahead()) }

// Advance moves the clock. It is kept before anybody sees it.
func (c *clock) Advance(by time.Duration) error {
	c.moving.Lock()
	defer c.moving.Unlock()
	ahead := c.Ahead() + by
	if err := c.dir.write("clock", []byte(ahead.String()+"\n")); err != nil {
		return err
	}
	c.ahead.Store(int64(ahead))
	return nil
}
