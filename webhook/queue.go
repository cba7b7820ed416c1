package webhook

import (
	"time"

	"github.com/bursar/bursar"
)

const (
	firstWindow     = 2                      // attempts at once in a queue that has not answered yet, or that hangs
	firstQueue      = 64                     // events that may wait in such a queue
	learningTime    = 250 * time.Millisecond // without an answer for so long a queue counts as slow
	hangs           = time.Second            // a failure that took longer counts as a hang
	hungInARow      = 3                      // hangs in a row that shut the queue
	shutFor         = 30 * time.Second
	longestOverflow = time.Minute // the longest time for which an overflowed event is put off
	longestQueue    = 1 << 20     // keeps the arithmetic of capacity small
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

	window     int           // attempts at once
	pace       time.Duration // moving average of an attempt's duration; 0: none has ended
	overflowed time.Time     // when the last overflowed event may come back
	hung       int           // attempts in a row that failed slowly
	shutUntil  time.Time
}

func newQueue(key queueKey) *destinationQueue {
	return &destinationQueue{queueKey: key, running: map[*job]time.Time{}, window: firstWindow}
}

// stuck returns how long the oldest attempt under way has waited for an answer.
func (l *destinationQueue) stuck(now time.Time) time.Duration {
	var oldest time.Duration
	for _, since := range l.running {
		oldest = max(oldest, now.Sub(since))
	}
	return oldest
}

// learning reports whether nothing is known of the receiver yet.
func (l *destinationQueue) learning(now time.Time) bool {
	return l.pace == 0 && l.stuck(now) < learningTime
}

// capacity estimates how many events may wait: as many as will be sent within the time.
func (l *destinationQueue) capacity(now time.Time, within time.Duration) int {
	if l.learning(now) {
		return firstQueue
	}
	pace := max(l.pace, l.stuck(now), time.Microsecond)
	return max(l.window, int(min(within/pace, longestQueue))*l.window)
}

// addOverflow returns when an overflowed event may come back. Each gets a time of its own, spread at the queue's best
// rate, so that a backlog is not leased again and again in vain.
func (l *destinationQueue) addOverflow(now time.Time, widest int) time.Time {
	if l.learning(now) {
		return now.Add(learningTime)
	}
	l.overflowed = l.overflowed.Add(max(l.pace, l.stuck(now)) / time.Duration(widest))
	if first := now.Add(learningTime); l.overflowed.Before(first) {
		l.overflowed = first
	}
	if last := now.Add(longestOverflow); l.overflowed.After(last) {
		l.overflowed = last
	}
	return l.overflowed
}

// ended updates the receiver's health after an attempt and reports whether the queue must be shut.
func (l *destinationQueue) ended(now time.Time, took time.Duration, success bool, widest int) bool {
	if l.pace == 0 {
		l.pace = took
	}
	l.pace = (3*l.pace + took) / 4
	if !success && took >= hangs {
		l.hung++
		l.window = max(firstWindow, l.window/2)
		if l.hung >= hungInARow {
			l.shutUntil = now.Add(shutFor)
			return true
		}
		return false
	}
	l.hung, l.shutUntil = 0, time.Time{} // it answers, or fails fast
	if success {
		l.window = min(l.window+1, widest)
	}
	return false
}

func (l *destinationQueue) idle() bool { return len(l.waiting) == 0 && len(l.running) == 0 }
