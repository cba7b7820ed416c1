package api

import (
	"crypto/sha256"
	"errors"
	"math"
	"net/netip"
	"strconv"
	"time"

	"github.com/bursar/bursar"
)

// Limit is a rate limit: Burst at once, and PerSecond in the long run. The zero Limit is none. A Burst below 1 is 1.
type Limit struct {
	PerSecond float64
	Burst     int
}

// RateLimits limit what one client can request from this process; each replica counts for itself. A limit that is not
// set is none.
type RateLimits struct {
	Read         Limit // of one key: requests that change nothing
	Change       Limit // of one key: requests that make or change wallets, charges and webhooks
	Withdraw     Limit // of one key: withdrawals
	TestDelivery Limit // of one account: test events, which call a URL that the client names

	Address Limit // of one client address, whatever its keys
	Failed  Limit // of one client address: keys and secrets that were wrong
}

// DefaultRateLimits are far above what a busy shop needs, and low enough that one client does not slow the others down.
func DefaultRateLimits() RateLimits {
	return RateLimits{
		Read:         Limit{PerSecond: 200, Burst: 400},
		Change:       Limit{PerSecond: 200, Burst: 400},
		Withdraw:     Limit{PerSecond: 50, Burst: 100},
		TestDelivery: Limit{PerSecond: 1, Burst: 10},
		Address:      Limit{PerSecond: 1000, Burst: 2000},
		Failed:       Limit{PerSecond: 20, Burst: 40},
	}
}

// limits are the counters of one process.
type limits struct {
	classes        map[bursar.Scope]*buckets[bursar.ID]
	testDeliveries *buckets[bursar.ID] // by account
	addresses      *buckets[netip.Prefix]
	open           *buckets[netip.Prefix] // of what needs no key
	pages          *buckets[netip.Prefix] // of payers, who must not keep a health check from its answer
	failed         *buckets[netip.Prefix]
	known          *buckets[[sha256.Size]byte] // keys that were valid recently, by their hash
}

func newLimits(r RateLimits) *limits {
	return &limits{
		classes: map[bursar.Scope]*buckets[bursar.ID]{
			bursar.ScopeRead:     newBuckets[bursar.ID](r.Read),
			bursar.ScopeWallets:  newBuckets[bursar.ID](r.Change),
			bursar.ScopeWithdraw: newBuckets[bursar.ID](r.Withdraw),
		},
		testDeliveries: newBuckets[bursar.ID](r.TestDelivery),
		addresses:      newBuckets[netip.Prefix](r.Address),
		open:           newBuckets[netip.Prefix](r.Address),
		pages:          newBuckets[netip.Prefix](r.Address),
		failed:         newBuckets[netip.Prefix](r.Failed),
		known:          newBuckets[[sha256.Size]byte](Limit{PerSecond: 1, Burst: 1}),
	}
}

// allowAddress is called before anything is done for a request, whatever it asks for: may this address send one now?
// What needs no key is counted apart, so that a health check behind a busy client's address is answered.
func (l *limits) allowAddress(at time.Time, from netip.Addr, open bool) error {
	count := l.addresses
	if open {
		count = l.open
	}
	if wait := count.take(at, clientPrefix(from)); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// allowKey is called before a key is looked up. After too many failures only keys that were valid recently are, so that
// guessing costs no look-up, and locks out nobody who shares the address.
func (l *limits) allowKey(at time.Time, from netip.Addr, key string) error {
	if wait := l.failed.wait(at, clientPrefix(from)); wait > 0 && !l.known.has(sha256.Sum256([]byte(key))) {
		return tooMany(wait)
	}
	return nil
}

// fail counts a wrong key or secret. It returns the error for the client: the refusal, or that there were too many.
func (l *limits) fail(at time.Time, from netip.Addr, key string, cause *bursar.Error) error {
	if cause.Code == bursar.CodeUnauthorized {
		l.known.forget(sha256.Sum256([]byte(key))) // it was revoked, or has expired
	}
	if wait := l.failed.take(at, clientPrefix(from)); wait > 0 {
		return tooMany(wait)
	}
	return cause
}

// enter counts a request of a valid key.
func (l *limits) enter(at time.Time, key string, id bursar.ID, class bursar.Scope) error {
	l.known.take(at, sha256.Sum256([]byte(key)))
	if wait := l.classes[class].take(at, id); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// more counts n things, besides the first one, that a request with a valid key asks for: all of them or none, or who
// comes back too early would never be served.
func (l *limits) more(at time.Time, id bursar.ID, class bursar.Scope, n int) error {
	b := l.classes[class]
	if b != nil && n >= b.burst {
		return bursar.Refuse(bursar.CodeInvalidRequest, "the rate limit of this key allows at most %d in one request",
			b.burst)
	}
	if wait := b.takeAll(at, id, n); wait > 0 {
		return tooMany(wait)
	}
	return nil
}

// clientPrefix returns the network of one client: an IPv4 address, or the /64 of an IPv6 address, in which a client may
// use as many addresses as it likes (RFC 6177).
func clientPrefix(from netip.Addr) netip.Prefix {
	bits := 64
	if from.Is4() {
		bits = 32
	}
	network, err := from.Prefix(bits)
	if err != nil {
		return netip.Prefix{} // all unknown addresses share one counter
	}
	return network
}

// limitedError is a refusal that says when to retry.
type limitedError struct {
	refusal *bursar.Error
	wait    time.Duration
}

func (e *limitedError) Error() string { return e.refusal.Error() }
func (e *limitedError) Unwrap() error { return e.refusal }

func tooMany(wait time.Duration) error {
	return &limitedError{bursar.Refuse(bursar.CodeRateLimited, "too many requests; try again in %d s", seconds(wait)),
		wait}
}

// seconds rounds up: a client that waits for so long is served.
func seconds(wait time.Duration) int { return max(1, int(math.Ceil(wait.Seconds()))) }

// retryAfter returns the seconds of the header Retry-After.
func retryAfter(err error) string {
	var limited *limitedError
	if errors.As(err, &limited) {
		return strconv.Itoa(seconds(limited.wait))
	}
	return "1"
}
