package store

import (
	"context"
	"errors"
	"time"
)

// slowest bounds how long a worker that keeps failing waits between two tries, and soon where the database is away:
// it is near and ours, and everything waits for it.
const (
	slowest = 30 * time.Second
	soon    = 2 * time.Second
)

// Work is a worker that finds what to do by state in the database and takes it one step at a time.
type Work struct {
	Pace time.Duration   // between two steps when there is nothing more to do
	Wake <-chan struct{} // a hint that there is something to do; may be nil
	Step func(ctx context.Context) (more bool, err error)
	// Failed is called after every failed step with the number of failures in a row and the error.
	Failed func(failures int, err error)

	// Rest is asked after each step for how long no hint is followed: those that come meanwhile are followed then. nil:
	// each is followed at once.
	Rest func() time.Duration

	// Patience bounds the wait after failures; 0: half a minute. It may be shorter than Pace: what has failed is then
	// tried again sooner than it would be looked at while all is well.
	Patience time.Duration
}

// Run takes steps until ctx ends or a step finds the lease lost. Any other error is waited out, twice as long after
// each failure in a row up to Patience: a node or a database that is away comes back by itself.
func (w Work) Run(ctx context.Context) error {
	failures := 0
	for {
		more, err := w.Step(ctx)
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, ErrLeaseLost):
			return err
		case err != nil:
			failures++
			w.Failed(failures, err)
		default:
			failures = 0
			if more {
				continue
			}
		}
		pause := w.pause(failures)
		if databaseAway(err) {
			pause = min(pause, soon)
		}
		if w.Rest != nil {
			rest := min(w.Rest(), pause)
			if err := (Work{}).wait(ctx, rest); err != nil {
				return err
			}
			pause -= rest
		}
		if err := w.wait(ctx, pause); err != nil {
			return err
		}
	}
}

// pause is how long to wait after so many failures in a row.
func (w Work) pause(failures int) time.Duration {
	switch {
	case failures == 0:
		return w.Pace
	case w.Patience > 0:
		return min(w.Pace<<min(failures, 6), w.Patience)
	}
	return max(w.Pace, min(w.Pace<<min(failures, 6), slowest))
}

func (w Work) wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-w.Wake:
	case <-timer.C:
	}
	return nil
}
