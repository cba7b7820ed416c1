package webhook

import (
	"time"

	"github.com/bursar/bursar"
)

const (
	firstWindow     = 2                      // attempts at once in a lane that has not answered yet, or that hangs
	firstQueue      = 64                     // events that may wait there
	learningTime    = 250 * time.Millisecond // after this without an answer a lane counts as slow
	hangs           = time.Second            // a failure that took longer held a connection for nothing
	hungInARow      = 3                      // such failures shut the lane
	shutFor         = 30 * time.Second
	longestOverflow = time.Minute // how far ahead an event that finds no room is put off
	longestQueue    = 1 << 20     // keeps the arithmetic of capacity small
)

// queueKey names a lane. The account is part of it, so that nobody's receiver at a host that many share, such as a
// provider of hooks, is held back by another's.
type queueKey struct {
	account bursar.ID
	host    string
}

// destinationQueue is the queue to one receiver and what is known of its health. Its lanes' lock guards it.
type destinationQueue struct {
	queueKey
	waiting []*job
	running map[*job]time.Time // since when
	ordered bool               // it stands in line to be served

	window     int           // attempts at once
	pace       time.Duration // a moving average of what an attempt takes; 0: none has ended
	overflowed time.Time     // when the last event that found no room may come back
	hung       int           // attempts in a row that failed slowly
	shutUntil  time.Time
}

func newQueue(key queueKey) *destinationQueue {
	return &destinationQueue{queueKey: key, running: map[*job]time.Time{}, window: firstWindow}
}

// stuck is how long the oldest attempt under way has had no answer.
func (l *destinationQueue) stuck(now time.Time) time.Duration {
	var oldest time.Duration
	for _, since := range l.running {
		oldest = max(oldest, now.Sub(since))
	}
	return oldest
}

// learning reports that nothing is known of the receiver yet.
func (l *destinationQueue) learning(now time.Time) bool {
	return l.pace == 0 && l.stuck(now) < learningTime
}

// capacity is how many events may wait: as many as will be sent within the time, as far as one can tell.
func (l *destinationQueue) capacity(now time.Time, within time.Duration) int {
	if l.learning(now) {
		return firstQueue
	}
	pace := max(l.pace, l.stuck(now), time.Microsecond)
	return max(l.window, int(min(within/pace, longestQueue))*l.window)
}

// addOverflow returns when an event that finds no room may come back. Each gets a time of its own, spread as the lane
// will work them off at its best: a backlog is not claimed again and again for nothing.
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

// ended learns from an attempt and reports whether the lane is to be shut.
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
	l.hung, l.shutUntil = 0, time.Time{} // it answers, or fails without holding anything up
	if success {
		l.window = min(l.window+1, widest)
	}
	return false
}

func (l *destinationQueue) idle() bool { return len(l.waiting) == 0 && len(l.running) == 0 }
