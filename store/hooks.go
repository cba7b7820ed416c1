package store

import (
	"context"
	"math/rand/v2"
	"time"
)

// Point is a place in a database transaction where its process can be held up or can die.
type Point string

// The points. Between Beginning and Committed a transaction holds its connection, and on SQLite the only one that
// writes.
const (
	Beginning  Point = "begin"
	Running    Point = "run" // before each statement
	Committing Point = "commit"
	Committed  Point = "committed" // its changes stand, and anyone who asked for them has not heard of it
	Ended      Point = "ended"     // the connection is free again, whatever became of it; no error is looked at
)

// Hooks replaces goroutines, waiting, sleeping and randomness of a DB, so that a simulation controls every
// interleaving. The zero value uses the Go runtime.
type Hooks struct {
	// Before is called at each point, what being the statement. An error of it fails the transaction there; at Committed
	// the changes stand all the same, as when the connection breaks during a commit.
	Before func(ctx context.Context, at Point, what string) error
	// Go starts f, and Wait returns once done is closed or ctx has ended, with its error.
	Go   func(f func())
	Wait func(ctx context.Context, done <-chan struct{}) error
	// Sleep waits, and reports whether ctx is still alive.
	Sleep func(ctx context.Context, d time.Duration) bool
	// Random gives a number in [0, n), to spread retries.
	Random func(n int64) int64

	scheduled bool // Go is not the runtime's
}

func (c Hooks) withDefaults() Hooks {
	if c.Before == nil {
		c.Before = func(context.Context, Point, string) error { return nil }
	}
	c.scheduled = c.Go != nil
	if c.Go == nil {
		c.Go = func(f func()) { go f() }
	}
	if c.Wait == nil {
		c.Wait = waitFor
	}
	if c.Sleep == nil {
		c.Sleep = sleepFor
	}
	if c.Random == nil {
		c.Random = rand.Int64N
	}
	return c
}

func waitFor(ctx context.Context, done <-chan struct{}) error {
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func sleepFor(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}

// As returns the same database as another process would use it, with a clock and hooks of its own. Closing either
// closes both.
func (db *DB) As(now func() time.Time, hooks Hooks) *DB {
	other := *db
	other.now, other.hooks = now, hooks.withDefaults()
	return &other
}

// Go runs f beside the caller, as the database's Hooks do.
func (db *DB) Go(f func()) { db.hooks.Go(f) }

// Wait waits until done is closed, as the database's Hooks do, and returns the error of a context that ends first.
func (db *DB) Wait(ctx context.Context, done <-chan struct{}) error {
	return db.hooks.Wait(ctx, done)
}

// Sleep waits as the database's Hooks do, and reports whether ctx is still alive.
func (db *DB) Sleep(ctx context.Context, d time.Duration) bool { return db.hooks.Sleep(ctx, d) }
