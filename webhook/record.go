package webhook

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/bursar/bursar/store"
)

// recordedAtOnce is how many attempts one transaction records at most.
const recordedAtOnce = 500

// result is an attempt to be recorded.
type result struct {
	store.Outcome
	gone    store.Receiver // the URL that answered 410, if it did
	of      *job
	skipped bool
}

// While many attempts are made, their results are gathered for a moment, until a transaction is worth its commit: a
// commit costs the database as much as twenty attempts in it. Nothing waits for the results, and gathering takes no
// longer than a commit.
const (
	manyAtOnce = 16                    // attempts that one transaction recorded, after which the next ones are gathered
	gatherFor  = 10 * time.Millisecond // at most
)

// recorders is how many transactions record attempts at the same time at most, where there are enough for each.
const recorders = 2

// results are attempts to be recorded. While some are being recorded, the next ones gather; there is no timer, so that
// a single one waits for nothing.
type results struct {
	mu      sync.Mutex
	waiting []result
	busy    int // recorders at work
}

// add adds an attempt, and reports whether another recorder is needed.
func (r *results) add(one result) (wanted bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.waiting = append(r.waiting, one)
	wanted = r.busy == 0 || r.busy < recorders && len(r.waiting) >= recordedAtOnce/2
	if wanted {
		r.busy++
	}
	return wanted
}

// take returns the next attempts to be recorded; none, once there are none.
func (r *results) take() (next []result) {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := min(len(r.waiting), recordedAtOnce)
	if n == 0 {
		r.busy--
	}
	next, r.waiting = r.waiting[:n:n], r.waiting[n:]
	return next
}

// record has an attempt recorded, together with others.
func (d *Deliverer) record(r result) {
	if !d.results.add(r) {
		return
	}
	d.begin(func() {
		for {
			runtime.Gosched() // let goroutines that are about to record something add it first
			list := d.results.take()
			if len(list) == 0 {
				return
			}
			d.write(list)
			if pause := gathering(len(list)); pause > 0 {
				d.db.Sleep(context.Background(), pause)
			}
		}
	})
}

// gathering returns for how long the next attempts are gathered after a transaction that recorded so many.
func gathering(recorded int) time.Duration {
	if recorded < manyAtOnce || recorded >= recordedAtOnce/2 {
		return 0
	}
	return gatherFor
}

// write writes results in one transaction. Where that fails, it writes each half for itself, so that a single bad one
// does not make the others fail. One that could not be written, or whose commit may have succeeded, is left to its
// lease.
func (d *Deliverer) write(list []result) {
	ctx, cancel := context.WithTimeout(context.Background(), recordTimeout)
	defer cancel()
	slices.SortFunc(list, func(a, b result) int { return cmp.Compare(a.Event, b.Event) }) // locks are taken in one order
	err := d.db.Do(ctx, func(tx *store.Tx) (err error) {
		defer func() { // what is recorded next must not wait for a goroutine that has panicked
			if cause := recover(); cause != nil {
				err = fmt.Errorf("recording attempts panicked: %v\n%s", cause, debug.Stack())
			}
		}()
		return writeResults(ctx, tx, list)
	})
	if half := len(list) / 2; err != nil && half > 0 && ctx.Err() == nil && !errors.Is(err, store.ErrCommit) {
		d.write(list[:half])
		d.write(list[half:])
		return
	}
	for _, r := range list {
		if err != nil {
			d.log.Error("webhook attempt could not be recorded", "number", r.Event, "error", err)
		} else {
			d.logAttempt(r)
			if r.gone.URL != "" {
				d.disable(r.gone)
			}
		}
		d.queues.recorded(r, err == nil)
	}
}

func writeResults(ctx context.Context, tx *store.Tx, results []result) error {
	outcomes := make([]store.Outcome, len(results))
	for i, r := range results {
		outcomes[i] = r.Outcome
	}
	if err := tx.Deliveries().RecordAttempts(ctx, outcomes); err != nil {
		return err
	}
	for _, r := range results {
		if r.gone.URL == "" {
			continue
		}
		if err := tx.WebhookURLs().Disable(ctx, r.gone.Account, r.gone.URL); err != nil {
			return err
		}
	}
	return nil
}
