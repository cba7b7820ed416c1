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
		t.Errorf("it ended with %v", err)
	}
	return waits
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
