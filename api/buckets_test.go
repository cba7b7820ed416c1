package api

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"
)

func TestBucketsAreBounded(t *testing.T) {
	t.Parallel()
	b := newBuckets[int](Limit{PerSecond: 0.001, Burst: 1})
	at := time.Unix(1_700_000_000, 0)
	for i := range maxBuckets + 10 {
		if i%100 == 0 {
			b.take(at, 0) // one that is used stays
		}
		if wait := b.take(at, i); wait != 0 && i != 0 {
			t.Fatalf("%d waits %v", i, wait)
		}
	}
	if len(b.byKey) != maxBuckets || b.order.Len() != maxBuckets {
		t.Errorf("%d are remembered in %d places, want %v of them and %v", len(b.byKey), b.order.Len(), maxBuckets,
			maxBuckets)
	}
	if b.take(at, 0) == 0 || b.has(1) || !b.has(maxBuckets) || b.take(at, maxBuckets) == 0 {
		t.Error("the wrong ones are forgotten")
	}
	if b.wait(at, -1) != 0 || b.has(-1) {
		t.Error("looking is remembered")
	}
	b.forget(0)
	b.forget(0)
	if b.has(0) || b.take(at, 0) != 0 {
		t.Error("what is forgotten is remembered")
	}
}

// TestNoMoreThanTheLimit takes tokens at random times, from many goroutines, and counts the successes.
func TestNoMoreThanTheLimit(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		l := Limit{PerSecond: random.Float64() * 20, Burst: random.IntN(30)}
		b := newBuckets[string](l)
		start := time.Unix(1_700_000_000, 0)
		at, in := start, 0
		for range 2000 {
			at = at.Add(time.Duration(random.IntN(200)) * time.Millisecond)
			if b.take(at, "one") == 0 {
				in++
			}
			most := float64(max(1, l.Burst)) + at.Sub(start).Seconds()*l.PerSecond
			if float64(in) > most+1e-6 {
				t.Fatalf("%+v let %d in within %v, want at most %v", l, in, at.Sub(start), most+1e-6)
			}
		}
		if least := at.Sub(start).Seconds() * l.PerSecond * 0.4; float64(in) < min(least, 900) {
			t.Errorf("%+v let only %d in within %v", l, in, at.Sub(start))
		}
	}
}

func TestBucketsAreSafeToShare(t *testing.T) {
	t.Parallel()
	b := newBuckets[int](Limit{PerSecond: 1, Burst: 100})
	at := time.Unix(1_700_000_000, 0)
	var mu sync.Mutex
	in := 0
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() {
			for range 50 {
				b.wait(at, 1)
				if b.take(at, 1) == 0 {
					mu.Lock()
					in++
					mu.Unlock()
				}
			}
		})
	}
	group.Wait()
	if in != 100 {
		t.Errorf("%d were let in, want 100", in)
	}
}

func TestNoLimitIsNone(t *testing.T) {
	t.Parallel()
	for _, l := range []Limit{{}, {Burst: 1}, {PerSecond: -1}} {
		b := newBuckets[int](l)
		for range 100 {
			if b.take(time.Time{}, 1) != 0 || b.wait(time.Time{}, 1) != 0 {
				t.Fatalf("%+v limits, want 0", l)
			}
		}
	}
}
