package webhook

import (
	"time"

	"github.com/bursar/bursar"
)

const (
	firstWindow    = 2                      // attempts at once in a queue that has not answered yet, or that hangs
	firstQueue     = 64                     // events that may wait in such a queue
	learningTime   = 250 * time.Millisecond // without an answer for so long a queue counts as slow
	hangs          = time.Second            // a failure that took longer counts as a hang
	hungInARow     = 3                      // hangs in a row that shut the queue
	shutFor        = 30 * time.Second
	missedInARow   = 200 // attempts in a row that did not reach the receiver, after which it is only probed
	firstProbe     = time.Second
	longestProbe   = 5 * time.Second // between two probes: so much later than its schedule an event may be sent
	longestQueue   = 1 << 20         // keeps the arithmetic of capacity small
	skippedAtOnce  = 200             // attempts that are skipped in one lease at most
	skippedASecond = 1000
)

// queueKey identifies a destination queue. The account is part of it, so that at a host that many accounts share, such
// as a webhook provider, one account's receiver never delays another's.
type queueKey struct {
	account bursar.ID
	host    string
}

// destinationQueue is the queue of one receiver and what is known of its health. The lock of its destinationQueues
// guards it.
type destinationQueue struct {
	queueKey
	waiting []*job
	running map[*job]time.Time // start of each attempt
	ordered bool               // it is in the list of queues to serve

	window    int           // attempts at once
	pace      time.Duration // moving average of an attempt's duration; 0: none has ended
	hung      int           // attempts in a row that failed slowly
	shutUntil time.Time

	missed  int           // attempts in a row that did not reach the receiver
	probeAt time.Time     // the next time when it is called, once it has missed too many
	between time.Duration // this probe and the one before
	missAt  time.Time     // by the database's clock: the newest attempt that did not reach it
}

func newQueue(key queueKey) *destinationQueue {
	return &destinationQueue{queueKey: key, running: map[*job]time.Time{}, window: firstWindow}
}

// stuck returns how long the oldest attempt under way has waited for an answer.
func (d *destinationQueue) stuck(now time.Time) time.Duration {
	var oldest time.Duration
	for _, since := range d.running {
		oldest = max(oldest, now.Sub(since))
	}
	return oldest
}

// learning reports whether nothing is known of the receiver yet.
func (d *destinationQueue) learning(now time.Time) bool {
	return d.pace == 0 && d.stuck(now) < learningTime
}

// probed reports whether the receiver is called now and then only.
func (d *destinationQueue) probed() bool { return d.missed >= missedInARow }

// capacity estimates how many events may wait: as many as will be sent within the time.
func (d *destinationQueue) capacity(now time.Time, within time.Duration) int {
	if d.probed() {
		return max(firstWindow-len(d.running), 0)
	}
	if d.learning(now) {
		return firstQueue
	}
	pace := max(d.pace, d.stuck(now), time.Microsecond)
	return max(d.window, int(min(within/pace, longestQueue))*d.window)
}

// end is how an attempt ended.
type end struct {
	success bool
	missed  bool      // there was no connection, or it was closed
	at      time.Time // of its start, by the database's clock
}

// ended updates the receiver's health after an attempt and reports whether nothing is sent from the queue for a while,
// because the receiver hangs or, from now on, is not to be reached.
func (d *destinationQueue) ended(now time.Time, took time.Duration, e end, widest int) (shut, probed bool) {
	if d.pace == 0 {
		d.pace = took
	}
	d.pace = (3*d.pace + took) / 4
	probed = d.miss(now, e)
	if !e.success && took >= hangs {
		d.hung++
		d.window = max(firstWindow, d.window/2)
		if d.hung >= hungInARow {
			d.shutUntil = now.Add(shutFor)
			return true, false
		}
		return false, probed
	}
	d.hung, d.shutUntil = 0, time.Time{} // it answers, or fails fast
	if e.success {
		d.window = min(d.window+1, widest)
	}
	return false, probed
}

// miss counts attempts that did not reach the receiver, and reports whether it is only probed from now on.
func (d *destinationQueue) miss(now time.Time, e end) bool {
	if !e.missed {
		d.missed, d.between, d.probeAt, d.missAt = 0, 0, time.Time{}, time.Time{}
		return false
	}
	d.missed++
	if e.at.After(d.missAt) {
		d.missAt = e.at
	}
	if d.probed() && !now.Before(d.probeAt) {
		d.between = min(max(2*d.between, firstProbe), longestProbe)
		d.probeAt, d.window = now.Add(d.between), firstWindow
	}
	return d.missed == missedInARow
}

func (d *destinationQueue) idle() bool { return len(d.waiting) == 0 && len(d.running) == 0 }

// pace limits how many attempts are skipped, so that the backlog of a receiver that is not called takes a small share
// of the time only. It belongs to the goroutine that leases.
type pace struct {
	tokens int
	at     time.Time
}

// left returns how many attempts may be skipped now.
func (p *pace) left(now time.Time) int {
	if p.at.IsZero() {
		p.tokens, p.at = skippedAtOnce, now
	}
	if n := int(now.Sub(p.at) * skippedASecond / time.Second); n > 0 {
		p.tokens, p.at = min(p.tokens+n, skippedAtOnce), now
	}
	return p.tokens
}

func (p *pace) use(n int) { p.tokens -= n }
