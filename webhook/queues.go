package webhook

import (
	"context"
	"sync"
	"time"

	"github.com/bursar/bursar"
)

// limits are the most that a deliverer does at once.
type limits struct {
	leased      int           // events leased and not yet recorded
	sending     int           // attempts under way
	account     int           // of these, for one account
	destination int           // of these, for one destination queue at most
	queue       time.Duration // how long an event may wait
}

// destinationQueues share the attempts fairly between the receivers. All methods are safe for concurrent use.
type destinationQueues struct {
	limits  limits
	changed chan struct{} // holds one signal that capacity was freed

	mu       sync.Mutex
	byKey    map[queueKey]*destinationQueue
	line     []*destinationQueue // queues with events waiting, served in turn
	accounts map[bursar.ID]int   // attempts under way
	sending  int
	leased   int                 // waiting, being sent or to be recorded
	leases   map[int64]time.Time // numbers of events, and when their lease ends
	closed   bool
}

// maxQueues is how many receivers' health is remembered while nothing is sent to them.
const maxQueues = 8192

func newQueues(l limits) *destinationQueues {
	return &destinationQueues{
		limits:   l,
		changed:  make(chan struct{}, 1),
		byKey:    map[queueKey]*destinationQueue{},
		accounts: map[bursar.ID]int{},
		leases:   map[int64]time.Time{},
	}
}

// capacityOf returns what may be taken for a queue now.
func (q *destinationQueues) capacityOf(key queueKey, now time.Time) *capacity {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.queue(key, now)
	switch {
	case now.Before(l.shutUntil):
		return &capacity{skipUntil: endOfTime, shut: l.shutUntil.Sub(now)}
	case now.Before(l.probeAt):
		return &capacity{skipUntil: l.missAt, reach: true, shut: l.probeAt.Sub(now)}
	}
	return &capacity{send: max(q.capacity(l, now)-len(l.waiting), 0)}
}

// endOfTime is later than anything is due.
var endOfTime = time.Unix(1<<40, 0)

// put adds an event to its destination queue. One that would not have been leased now, because the queue was shut or
// closed since, or its receiver is only probed, is given back: it is due as before.
func (q *destinationQueues) put(j *job, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.queue(j.queue, now)
	if q.closed || now.Before(l.shutUntil) || now.Before(l.probeAt) && !j.last() {
		delete(q.leases, j.Number)
		return
	}
	l.waiting = append(l.waiting, j)
	q.leased++
	if !l.ordered {
		l.ordered = true
		q.line = append(q.line, l)
	}
}

func (q *destinationQueues) queue(key queueKey, now time.Time) *destinationQueue {
	l := q.byKey[key]
	if l == nil {
		if len(q.byKey) >= maxQueues {
			q.forget(now)
		}
		l = newQueue(key)
		q.byKey[key] = l
	}
	return l
}

// forget removes idle queues: first those that are open, then all where that is not enough.
func (q *destinationQueues) forget(now time.Time) {
	for _, all := range []bool{false, true} {
		for key, l := range q.byKey {
			if l.idle() && (all || !now.Before(l.shutUntil) && !l.probed()) {
				delete(q.byKey, key)
			}
		}
		if len(q.byKey) < maxQueues {
			return
		}
	}
}

// capacity is the queue's own capacity, but next to nothing where the account has no attempt left for the queue.
func (q *destinationQueues) capacity(d *destinationQueue, now time.Time) int {
	if len(d.running) == 0 && q.accounts[d.account] >= q.limits.account {
		return 1
	}
	return d.capacity(now, q.limits.queue)
}

// next returns an event that may be sent now, the queues taking turns; nil when there is none.
func (q *destinationQueues) next(now time.Time) *job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.sending >= q.limits.sending {
		return nil
	}
	for range len(q.line) {
		l := q.line[0]
		q.line = q.line[1:]
		j := q.start(l, now)
		l.ordered = len(l.waiting) > 0
		if l.ordered {
			q.line = append(q.line, l)
		}
		if j != nil {
			return j
		}
	}
	return nil
}

func (q *destinationQueues) start(d *destinationQueue, now time.Time) *job {
	for len(d.waiting) > 0 && now.Sub(d.waiting[0].leased) > q.limits.queue {
		delete(q.leases, d.waiting[0].Number) // its lease is about to end
		d.waiting = d.waiting[1:]
		q.release()
	}
	if len(d.waiting) == 0 || len(d.running) >= d.window || q.accounts[d.account] >= q.limits.account {
		return nil
	}
	j := d.waiting[0]
	d.waiting[0] = nil
	d.waiting = d.waiting[1:]
	d.running[j] = now
	q.accounts[d.account]++
	q.sending++
	return j
}

// ended records that an attempt is over. It returns the queued events if the queue was shut because the receiver hangs;
// events for an unreachable receiver are released.
func (q *destinationQueues) ended(j *job, now time.Time, e end) []*job {
	q.mu.Lock()
	defer q.mu.Unlock()
	l := q.byKey[j.queue]
	took := now.Sub(l.running[j])
	delete(l.running, j)
	q.sending--
	if q.accounts[l.account]--; q.accounts[l.account] == 0 {
		delete(q.accounts, l.account)
	}
	q.hint()
	shut, probed := l.ended(now, took, e, q.limits.destination)
	switch {
	case shut:
		turned := l.waiting
		l.waiting = nil
		q.leased -= len(turned)
		return turned
	case probed:
		q.giveBack(l, 0)
	}
	return nil
}

func (q *destinationQueues) release() {
	q.leased--
	q.hint()
}

func (q *destinationQueues) hint() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// leastOfBatch is the part of a batch for which events of slow queues are given back.
const leastOfBatch = 8

// awaitCapacity waits until there is capacity for a batch and returns how much; 0 when ctx has ended. After a moment a
// part of a batch is enough. Where slow queues leave no capacity for that either, their events are given back: see
// trim.
func (q *destinationQueues) awaitCapacity(ctx context.Context, batch int) int {
	var tick *time.Ticker
	for {
		if n := q.free(); n >= batch { // what is under way costs each lease time
			return min(n, batch)
		}
		if tick == nil {
			tick = time.NewTicker(learningTime)
			defer tick.Stop()
		}
		select {
		case <-ctx.Done():
			return 0
		case <-q.changed:
		case now := <-tick.C:
			least := max(batch/leastOfBatch, 1)
			if n := q.free(); n >= least {
				return min(n, batch)
			}
			q.trim(now, least)
		}
	}
}

func (q *destinationQueues) free() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.limits.leased - q.leased
}

// trim gives back events beyond the queues' capacities and, if that is not enough, of the longest queue what is
// missing: whatever is given back is read again.
func (q *destinationQueues) trim(now time.Time, want int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	var longest *destinationQueue
	for _, l := range q.line {
		q.giveBack(l, q.capacity(l, now))
		if longest == nil || len(l.waiting) > len(longest.waiting) {
			longest = l
		}
	}
	if missing := want - (q.limits.leased - q.leased); longest != nil && missing > 0 {
		q.giveBack(longest, max(len(longest.waiting)-missing, 0))
	}
}

// giveBack drops the events of a queue beyond a number: they are due as before.
func (q *destinationQueues) giveBack(d *destinationQueue, keep int) {
	if len(d.waiting) <= keep {
		return
	}
	for _, j := range d.waiting[keep:] {
		delete(q.leases, j.Number)
	}
	q.leased -= len(d.waiting) - keep
	clear(d.waiting[keep:])
	d.waiting = d.waiting[:keep]
}

func (q *destinationQueues) isClosed() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.closed
}

// close gives all waiting events back, to be leased by others at once; attempts under way are left to end.
func (q *destinationQueues) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, l := range q.line {
		q.giveBack(l, 0)
	}
}
