package webhook

import (
	"testing"
	"time"
)

// An attempt alone is followed by no pause, which whatever comes next would wait for, and neither is a transaction that
// is worth its commit.
func TestAttemptsAreGatheredWhileManyAreMade(t *testing.T) {
	t.Parallel()
	for recorded, want := range map[int]time.Duration{
		1: 0, manyAtOnce - 1: 0, manyAtOnce: gatherFor, recordedAtOnce/2 - 1: gatherFor, recordedAtOnce / 2: 0,
		recordedAtOnce: 0,
	} {
		if got := gathering(recorded); got != want {
			t.Errorf("after %d attempts the next ones are gathered for %s, want %s", recorded, got, want)
		}
	}
}
