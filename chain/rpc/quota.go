package rpc

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// Quota bounds the calls to one endpoint. Every call of a batch counts, as providers count. 0 is no setting: the
// provider's profile applies, if there is one. A negative number is no limit, whatever a profile says.
type Quota struct {
	PerSecond int // calls in any second
	PerDay    int // calls in any 24 hours since the start, spread: a tenth may be made at once, the rest evenly
	Batch     int // calls in one batch; 1: no batches
}

const (
	// dayPatience is how long a call waits for the day's quota to refill, before the endpoint goes into a cool-down.
	dayPatience = 2 * time.Second
	// paceMemory is how long a profile's pace is kept after the endpoint said that the calls are too many.
	paceMemory = 10 * time.Minute
)

// limiter keeps one endpoint within its quotas.
type limiter struct {
	mu        sync.Mutex
	perSecond bucket
	paced     bucket // the profile's pace, which applies until pacedTill
	pacedTill time.Time
	perDay    bucket
	perDayMax int
}

// bucket is a token bucket: it refills at a rate up to a size. A level below zero means calls that wait in line.
type bucket struct {
	rate, size float64 // rate per second; 0: no bucket
	level      float64
	at         time.Time
}

// newLimiter returns a limiter for quotas that always apply, and for a profile's pace.
func newLimiter(always Quota, paced int, now time.Time) *limiter {
	l := &limiter{perSecond: secondBucket(always.PerSecond, now), paced: secondBucket(paced, now)}
	if day := float64(always.PerDay); day > 0 {
		l.perDayMax = always.PerDay
		l.perDay = bucket{rate: 0.9 * day / (24 * 3600), size: max(1, 0.1*day), level: max(1, 0.1*day), at: now}
	}
	return l
}

// secondBucket lets through at most n calls in any second: a quarter at once, and the rest spread over the second.
func secondBucket(n int, now time.Time) bucket {
	if n <= 0 {
		return bucket{}
	}
	size := max(1, float64(n/4))
	return bucket{rate: max(float64(n)-size, 1), size: size, level: size, at: now}
}

// take counts calls and returns how long they have to wait for their turn.
func (b *bucket) take(calls int, now time.Time) time.Duration {
	if b.rate == 0 {
		return 0
	}
	b.level = min(b.size, b.level+b.rate*max(0, now.Sub(b.at).Seconds()))
	b.at = now
	b.level -= float64(calls)
	return b.until(0)
}

// giveBack returns the tokens of calls that were not made after all.
func (b *bucket) giveBack(calls int) { b.level += float64(calls) }

// until returns how long it takes to refill to a level.
func (b *bucket) until(level float64) time.Duration {
	if b.rate == 0 || b.level >= level {
		return 0
	}
	return time.Duration((level - b.level) / b.rate * float64(time.Second))
}

// pace applies the profile's pace, since the endpoint said that the calls are too many.
func (l *limiter) pace(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pacedTill = now.Add(paceMemory)
}

// reserve counts calls. It returns how long they must wait, or for how long the day's quota is used up.
func (l *limiter) reserve(calls int, now time.Time, alone bool) (wait, usedUp time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if wait = l.perDay.take(calls, now); wait > dayPatience {
		l.perDay.giveBack(calls)
		refill := float64(max(calls, 10))
		if !alone {
			refill = max(refill, float64(l.perDayMax)/(24*60)) // a minute's worth, while another endpoint serves
		}
		return 0, l.perDay.until(min(refill, l.perDay.size))
	}
	wait = max(wait, l.perSecond.take(calls, now))
	if now.Before(l.pacedTill) {
		wait = max(wait, l.paced.take(calls, now))
	}
	return wait, 0
}

// release returns the tokens of a reservation whose caller is gone.
func (l *limiter) release(calls int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.perDay.giveBack(calls)
	l.perSecond.giveBack(calls)
	l.paced.giveBack(calls)
}

// used returns how much of the day's quota is used up, in percent.
func (l *limiter) used(now time.Time) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.perDay.rate == 0 {
		return 0
	}
	l.perDay.take(0, now)
	return min(100, max(0, int(100-100*l.perDay.level/l.perDay.size)))
}

// withinQuota waits until the quota allows so many calls to the endpoint. Its error is a *fault when the day's quota
// is used up, or the context's.
func (c *Client) withinQuota(ctx context.Context, at place, calls int) error {
	wait, usedUp := at.limiter.reserve(calls, c.cfg.Now(), c.pool.alone(at.endpoint))
	if usedUp > 0 {
		const advice = "raise quota.per_day if the plan allows more, or add an endpoint"
		text := fmt.Sprintf("the quota of %d calls a day is used up: %s", at.limiter.perDayMax, advice)
		return &fault{limited: true, retryAfter: usedUp, text: text}
	}
	if wait <= 0 || at.checking { // a check is one or two calls, for which others already wait
		return nil
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		at.limiter.release(calls)
		return fmt.Errorf("wait for the quota of %s: %w", at.name, ctx.Err())
	}
}
