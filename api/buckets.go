package api

import (
	"container/list"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// maxBuckets is how many clients one limit remembers, with about 300 bytes each. The one that was idle for longest is
// forgotten first: it starts again with a full burst.
const maxBuckets = 1 << 14

// buckets are token buckets by a key that identifies a client. They are safe for concurrent use. A nil one limits
// nothing.
type buckets[Key comparable] struct {
	limit rate.Limit
	burst int

	mu    sync.Mutex
	byKey map[Key]*list.Element
	order *list.List // of *bucket[Key], most recently used first
}

type bucket[Key comparable] struct {
	key    Key
	tokens *rate.Limiter
}

func newBuckets[Key comparable](l Limit) *buckets[Key] {
	if l.PerSecond <= 0 {
		return nil
	}
	return &buckets[Key]{
		limit: rate.Limit(l.PerSecond),
		burst: max(1, l.Burst),
		byKey: map[Key]*list.Element{},
		order: list.New(),
	}
}

// take takes a token and returns 0, or takes none and returns the time until there is one.
func (b *buckets[Key]) take(at time.Time, key Key) time.Duration { return b.takeAll(at, key, 1) }

// takeAll takes n tokens, which are at most a burst, and returns 0, or takes none and returns the time until there are
// as many.
func (b *buckets[Key]) takeAll(at time.Time, key Key, n int) time.Duration {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	tokens := b.of(key)
	wait := delay(tokens, at, n)
	if wait == 0 {
		tokens.AllowN(at, n)
	}
	return wait
}

// wait returns what take would, without taking a token, and adds no new key.
func (b *buckets[Key]) wait(at time.Time, key Key) time.Duration {
	if b == nil {
		return 0
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	found := b.byKey[key]
	if found == nil {
		return 0
	}
	return delay(found.Value.(*bucket[Key]).tokens, at, 1)
}

// has reports whether the key is remembered.
func (b *buckets[Key]) has(key Key) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.byKey[key] != nil
}

// delay returns the time until there are n tokens, 0 where there are.
func delay(tokens *rate.Limiter, at time.Time, n int) time.Duration {
	missing := float64(n) - tokens.TokensAt(at)
	if missing <= 0 {
		return 0
	}
	return max(1, time.Duration(missing/float64(tokens.Limit())*float64(time.Second)))
}

// forget removes the key.
func (b *buckets[Key]) forget(key Key) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if found := b.byKey[key]; found != nil {
		b.order.Remove(found)
		delete(b.byKey, key)
	}
}

// of returns the tokens of a key, which it adds where it is new.
func (b *buckets[Key]) of(key Key) *rate.Limiter {
	if found := b.byKey[key]; found != nil {
		b.order.MoveToFront(found)
		return found.Value.(*bucket[Key]).tokens
	}
	if b.order.Len() >= maxBuckets {
		oldest := b.order.Remove(b.order.Back()).(*bucket[Key])
		delete(b.byKey, oldest.key)
	}
	made := &bucket[Key]{key, rate.NewLimiter(b.limit, b.burst)}
	b.byKey[key] = b.order.PushFront(made)
	return made.tokens
}
