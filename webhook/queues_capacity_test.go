package webhook

import (
	"testing"
	"testing/synctest"
	"time"
)

// What is given back is read again. A receiver that answers, and to which more is leased than it takes in a moment,
// keeps what it has: the next lease is of what it has freed. Where it frees next to nothing, no more is given back than
// a small lease needs.
func TestAReceiverThatAnswersKeepsWhatIsLeasedToIt(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k := newQueueHarness(t)
		k.now = time.Now()
		k.fill(1, "a", 1)
		first := k.start()
		k.pass(time.Millisecond)
		k.end(first, true) // its pace is known
		batch := smallLimits.leased
		if n, last := k.fill(1, "a", batch); n != batch {
			t.Fatalf("%d events are leased, then %s; want %d", n, last, batch)
		}
		for k.free() < batch/4 {
			k.end(k.start(), true)
		}
		free, waiting := k.free(), k.leased
		if got := k.awaitCapacity(t.Context(), batch); got != free || k.leased != waiting {
			t.Errorf("room for %d, and %d are held; want room for %d and %d held", got, k.leased, free, waiting)
		}
		k.fill(1, "a", free)
		if got, want := k.awaitCapacity(t.Context(), batch), batch/leastOfBatch; got < want || got >= batch/2 {
			t.Errorf("room for %d after a moment in which nothing was sent, want at least %d and less than half", got, want)
		}
	})
}
