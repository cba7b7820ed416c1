package webhook

import (
	"sync"
	"time"
)

// Outcome classifies the result of an attempt.
type Outcome string

// The outcomes of attempts.
const (
	Outcome2xx        Outcome = "2xx" // delivered
	Outcome3xx        Outcome = "3xx" // a redirect, which is not followed
	Outcome4xx        Outcome = "4xx"
	Outcome5xx        Outcome = "5xx"
	OutcomeInvalid    Outcome = "invalid"    // a response that is not HTTP, or has another status
	OutcomeTimeout    Outcome = "timeout"    // no response within the time limit of an attempt
	OutcomeConnection Outcome = "connection" // refused, reset or closed
	OutcomeDNS        Outcome = "dns"
	OutcomeTLS        Outcome = "tls"
	OutcomeRefused    Outcome = "refused" // a URL or an address that may not be dialled
	OutcomeSkipped    Outcome = "skipped" // not sent: the receiver hung in earlier attempts
)

// Outcomes returns every outcome.
func Outcomes() []Outcome {
	return []Outcome{Outcome2xx, Outcome3xx, Outcome4xx, Outcome5xx, OutcomeInvalid, OutcomeTimeout, OutcomeConnection,
		OutcomeDNS, OutcomeTLS,
		OutcomeRefused, OutcomeSkipped}
}

func outcomeOf(code int) Outcome {
	if code < 200 || code > 599 {
		return OutcomeInvalid
	}
	return [...]Outcome{Outcome2xx, Outcome3xx, Outcome4xx, Outcome5xx}[code/100-2]
}

// bounds are the upper bounds, in seconds, of the histogram buckets of attempt durations. The last is the time limit of
// one attempt.
var bounds = [...]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15}

// Stats is what a Deliverer has done since it was made, and its current state. It names no receiver and no account.
type Stats struct {
	Attempts map[Outcome]uint64 // skipped ones included
	Seconds  Times              // of the attempts that were sent
	Sending  int                // attempts under way
	Held     int                // events leased and not yet recorded
	Shut     int                // receivers that hang or are not to be reached, to which nothing is sent for a while
}

// Times is a histogram of durations: Within holds, for each upper bound in seconds, how many took no longer.
type Times struct {
	Within map[float64]uint64
	Count  uint64
	Sum    float64 // seconds
}

// counters are the counts behind Stats.
type counters struct {
	mu       sync.Mutex
	attempts map[Outcome]uint64
	within   [len(bounds)]uint64
	count    uint64
	sum      float64
}

func (c *counters) made(o Outcome, took time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts[o]++
	c.count++
	c.sum += took.Seconds()
	for i, bound := range bounds {
		if took.Seconds() <= bound {
			c.within[i]++
		}
	}
}

func (c *counters) skipped() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.attempts[OutcomeSkipped]++
}

// Stats returns the deliverer's counts and its current state.
func (d *Deliverer) Stats() Stats {
	d.counters.mu.Lock()
	defer d.counters.mu.Unlock()
	s := Stats{Attempts: map[Outcome]uint64{},
		Seconds: Times{Within: map[float64]uint64{}, Count: d.counters.count, Sum: d.counters.sum}}
	for _, o := range Outcomes() {
		s.Attempts[o] = d.counters.attempts[o]
	}
	for i, bound := range bounds {
		s.Seconds.Within[bound] = d.counters.within[i]
	}
	s.Sending, s.Held, s.Shut = d.queues.count(d.clock())
	return s
}

// count returns how many attempts are under way, how many events are held, and how many queues are shut.
func (q *destinationQueues) count(now time.Time) (sending, held, shut int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, l := range q.byKey {
		if now.Before(l.shutUntil) || now.Before(l.probeAt) {
			shut++
		}
	}
	return q.sending, q.leased, shut
}
