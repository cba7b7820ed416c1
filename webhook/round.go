package webhook

import (
	"context"
	"runtime/debug"
	"time"

	"github.com/bursar/bursar/store"
)

// Run delivers until ctx ends, then gives the attempts under way a few seconds, records them and returns nil. A
// database error is logged and the work goes on; leased events are sent later. Run may be called once.
func (d *Deliverer) Run(ctx context.Context) error {
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for ctx.Err() == nil {
		d.round(ctx, sending)
	}
	d.queues.close()
	d.giveUpLease(sending)
	cut := time.AfterFunc(d.times.grace, stop)
	defer cut.Stop()
	d.group.Wait()
	d.giveUpLease(context.WithoutCancel(ctx))
	d.client.CloseIdleConnections()
	return nil
}

// round leases one batch, and waits for work when no more events are due.
func (d *Deliverer) round(ctx, sending context.Context) {
	defer func() {
		if cause := recover(); cause != nil {
			d.log.Error("webhook delivery panicked", "cause", cause, "stack", string(debug.Stack()))
			d.sleep(ctx, d.times.poll)
		}
	}()
	limit := d.queues.awaitCapacity(ctx, leaseBatch)
	if limit == 0 {
		return
	}
	began := time.Now()
	taken, err := d.lease(ctx, limit)
	looked := time.Since(began)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Error("due webhooks could not be leased", "error", err)
			d.sleep(ctx, d.times.poll)
		}
		return
	}
	d.enqueue(sending, taken)
	n := len(taken.send) + len(taken.skip)
	switch {
	case !taken.again:
		d.idle(ctx, taken, n, looked)
	case n < limit/2:
		d.space(ctx, leaseSpacing)
	}
}

// idle waits until the next event is due, for a wake-up, or for the next poll. looked is how long it took to find what
// was due now.
func (d *Deliverer) idle(ctx context.Context, taken lease, n int, looked time.Duration) {
	wait := d.times.poll
	err := d.db.Read(ctx, func(tx *store.Tx) error {
		next, more, err := tx.Deliveries().DueAfter(ctx, taken.at)
		if more {
			wait = min(wait, next.Sub(tx.Now()))
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		d.log.Error("next due webhook could not be looked up", "error", err)
	}
	var space time.Duration
	if n > 0 {
		space = leaseSpacing
	}
	if taken.denied {
		space = max(space, min(lookShare*looked, deniedWait))
		if taken.patience == 0 {
			wait = min(wait, deniedWait)
		} else { // what is due next may have to wait as well, and would cause a look with every commit
			wait = min(max(wait, min(deniedWait, d.times.poll)), taken.patience)
		}
	}
	if space > 0 {
		d.space(ctx, space)
	}
	d.sleep(ctx, wait-space)
}

// space waits for some time, even if something wakes the deliverer.
func (d *Deliverer) space(ctx context.Context, wait time.Duration) {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	}
}

func (d *Deliverer) sleep(ctx context.Context, wait time.Duration) {
	if wait <= 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-d.wake:
	case <-timer.C:
	}
}

// enqueue puts leased events into their destination queues, and records the attempts that are skipped.
func (d *Deliverer) enqueue(sending context.Context, taken lease) {
	now := d.clock()
	for _, j := range taken.send {
		d.queues.put(j, now)
	}
	for _, j := range taken.skip {
		d.skip(j)
	}
	d.pump(sending)
}

// pump starts every attempt that the destination queues allow now.
func (d *Deliverer) pump(sending context.Context) {
	for j := d.queues.next(d.clock()); j != nil; j = d.queues.next(d.clock()) {
		d.begin(func() { d.work(sending, j) })
	}
}

// work makes an attempt, and others as long as the destination queues have any.
func (d *Deliverer) work(sending context.Context, j *job) {
	for j != nil {
		d.attempt(sending, j)
		j = d.queues.next(d.clock())
		d.pump(sending) // the queue may allow more attempts now
	}
}
