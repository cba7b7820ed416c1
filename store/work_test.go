package store_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/store"
)

// tries notes when a worker took its steps while every step fails.
func tries(t *testing.T, w store.Work, n int) (waits []time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	last := time.Now()
	steps := 0
	w.Step = func(context.Context) (bool, error) {
		if steps++; steps > 1 {
			waits = append(waits, time.Since(last))
		}
		if last = time.Now(); steps > n {
			cancel()
		}
		return false, errors.New("away")
	}
	w.Failed = func(failures int, err error) {
		if failures != steps || err == nil {
			t.Errorf("failure %d is reported as %d: %v", steps, failures, err)
		}
	}
	if err := w.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("it ended with %v, want %v", err, context.Canceled)
	}
	return waits
}

// A hint is followed once the rest that the step before asked for is over, and at once where it asked for none.
func TestHintsWaitForTheRest(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, rest := range []time.Duration{0, 100 * time.Millisecond, time.Minute} {
			ctx, cancel := context.WithCancel(t.Context())
			wake, steps, began := make(chan struct{}, 1), 0, time.Now()
			w := store.Work{Pace: time.Second, Wake: wake, Rest: func() time.Duration { return rest }}
			w.Step = func(context.Context) (bool, error) {
				select {
				case wake <- struct{}{}:
				default: // the hint before is still there
				}
				if steps++; steps > 10 {
					cancel()
				}
				return false, nil
			}
			if err := w.Run(ctx); !errors.Is(err, context.Canceled) {
				t.Errorf("it ended with %v, want %v", err, context.Canceled)
			}
			if got, want := time.Since(began), 10*min(rest, time.Second); got != want {
				t.Errorf("with a rest of %s ten more steps took %s, want %s", rest, got, want)
			}
		}
	})
}

// A worker with little patience tries again within it, whatever its pace; another waits ever longer, up to half a
// minute.
func TestFailuresAreWaitedOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, pace := range []time.Duration{200 * time.Millisecond, 4 * time.Second, time.Minute} {
			for i, wait := range tries(t, store.Work{Pace: pace, Patience: time.Second}, 20) {
				if wait > time.Second || wait < min(pace, time.Second) {
					t.Errorf("pace %s: wait %d is %s", pace, i, wait)
				}
			}
		}
		waits := tries(t, store.Work{Pace: time.Second}, 10)
		if waits[0] != 2*time.Second || waits[9] != 30*time.Second {
			t.Errorf("without a bound of its own the waits are %v", waits)
		}
	})
}
