package webhook

import (
	"slices"
	"time"
)

// take notes that events are leased until a time of this process's clock.
func (q *destinationQueues) take(taken lease, until time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, list := range [][]*job{taken.send, taken.skip} {
		for _, j := range list {
			q.leases[j.Number] = until
		}
	}
}

// leasedNow returns the numbers of the events whose lease has not ended.
func (q *destinationQueues) leasedNow(now time.Time) []int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	numbers := make([]int64, 0, len(q.leases))
	for n, until := range q.leases {
		if !now.Before(until) {
			delete(q.leases, n)
			continue
		}
		numbers = append(numbers, n)
	}
	slices.Sort(numbers) // the same for the same events
	return numbers
}

// recorded releases the capacity of an attempt that was recorded, and its event; of one that was not, it leaves the
// event to its lease.
func (q *destinationQueues) recorded(r result, done bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if done {
		delete(q.leases, r.Event)
	}
	if !r.skipped {
		q.release()
	}
}

// forgetLease gives events back that were leased and never put into a queue.
func (q *destinationQueues) forgetLease(jobs ...*job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, j := range jobs {
		delete(q.leases, j.Number)
	}
}
