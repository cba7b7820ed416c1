// Package webhook delivers events: it claims the rows that are due in the events table, posts each to its receiver, and
// records what came of it.
//
// It owns the schedule of attempts, the signature, the dialling of receivers and the fairness between them. It never
// writes an event's body, never decides whether an event is due to a customer, and never keeps a secret. Its
// invariants:
//   - an event is sent at least once, always under its own id, and stays claimed by one deliverer while it is sent;
//   - no connection is opened to an address that bursar.MayDial refuses, whatever a URL or a name server says;
//   - a receiver that hangs holds back its own events and nobody else's;
//   - no event is given up without its last attempt having really been sent.
//
// Each account's events to one host form a lane. A lane starts narrow and widens with each success, so a receiver that
// never answers holds a few connections only; after some attempts in a row that hung, the lane is shut for a while and
// its events move along their schedule without being sent. An event that finds no room is given back for a while, or
// forgotten until its claim runs out by itself; it is claimed again, at no cost to its schedule.
package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime/debug"
	"sync"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Secrets knows the webhook secrets, which are derived and never stored.
type Secrets interface {
	// WebhookSecret returns the bytes that sign an account's webhooks in one generation, the same for ever; none means
	// that nothing can be sent for the account now.
	WebhookSecret(account bursar.ID, generation uint32) []byte
}

// Config is what a Deliverer works with.
type Config struct {
	DB            *store.DB
	Secrets       Secrets
	AllowNetworks []netip.Prefix      // what may be dialled besides public addresses
	Log           *slog.Logger        // nil: nothing is logged
	Rand          func(n int64) int64 // a number in [0, n), to spread retries; nil: math/rand/v2
	Clock         func() time.Time    // of this process, to measure what takes long; nil: time.Now
	Client        Poster              // makes the requests in place of connections of its own, which it must keep from addresses that are not public
}

// Deliverer sends due events. Any number of them, in any number of processes, may share a database.
type Deliverer struct {
	db       *store.DB
	secrets  Secrets
	allowed  []netip.Prefix
	log      *slog.Logger
	rand     func(n int64) int64
	now      func() time.Time // the database's
	clock    func() time.Time // this process's
	times    times
	client   Poster
	queues   *destinationQueues
	records  *store.Batch[result, struct{}]
	counters counters
	wake     chan struct{}
	group    sync.WaitGroup
}

// times are the durations of the contract and of the work around it.
type times struct {
	attempt time.Duration // all that one attempt may take
	lease   time.Duration // after this another deliverer may take an event
	queue   time.Duration // the most that a claimed event waits: claim less attempt, and time to record
	poll    time.Duration // between looks into the database while nobody wakes us
	grace   time.Duration // how long attempts under way may go on when Run is to end
}

const (
	leaseBatch    = 256
	recordTimeout = 10 * time.Second
	retryLater    = 10 * time.Millisecond // when what is due was being claimed by another
)

// New returns a Deliverer that does nothing before Run.
func New(cfg Config) *Deliverer {
	d := &Deliverer{
		db:      cfg.DB,
		secrets: cfg.Secrets,
		allowed: cfg.AllowNetworks,
		log:     cfg.Log,
		rand:    cfg.Rand,
		now:     cfg.DB.Now,
		clock:   cfg.Clock,
		wake:    make(chan struct{}, 1),
	}
	if d.log == nil {
		d.log = slog.New(slog.DiscardHandler)
	}
	if d.rand == nil {
		d.rand = rand.Int64N
	}
	d.times = times{
		attempt: 15 * time.Second,
		lease:   30 * time.Second,
		queue:   10 * time.Second,
		poll:    time.Second,
		grace:   5 * time.Second,
	}
	d.counters.attempts = map[Outcome]uint64{}
	d.queues = newQueues(limits{held: 4096, sending: 256, account: 128, destination: 32, queue: d.times.queue})
	if d.clock == nil {
		d.clock = time.Now
	}
	if d.client = cfg.Client; d.client == nil {
		d.client = newClient(d.allowed, d.queues.limits)
	}
	d.records = store.NewBatch(cfg.DB, writeResults)
	return d
}

// Wake hints that an event may be due. It never blocks, and is never needed: the database is looked at every second.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// Step claims what is due, sends it and records what came of it: one round of Run, for who decides when each is taken.
func (d *Deliverer) Step(ctx context.Context) error {
	d.giveBack(ctx)
	jobs, _, err := d.lease(ctx, leaseBatch)
	if err != nil {
		return fmt.Errorf("claim due webhooks: %w", err)
	}
	d.place(ctx, jobs)
	d.group.Wait()
	return nil
}

// begin runs f beside the caller.
func (d *Deliverer) begin(f func()) {
	d.group.Add(1)
	d.db.Go(func() {
		defer d.group.Done()
		defer d.noted()
		f()
	})
}

// noted keeps a panic from ending the process. What was under way is not recorded: its claim runs out and it is sent
// again.
func (d *Deliverer) noted() {
	if cause := recover(); cause != nil {
		d.log.Error("delivering webhooks panicked", "cause", cause, "stack", string(debug.Stack()))
	}
}

// Run delivers until ctx ends, then gives the attempts under way a few seconds, records them and returns nil. An error
// of the database is logged and the work goes on; what was claimed meanwhile is sent later. It may be called once.
func (d *Deliverer) Run(ctx context.Context) error {
	sending, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	for ctx.Err() == nil {
		d.round(ctx, sending)
	}
	d.queues.close(d.clock())
	d.giveBack(sending)
	cut := time.AfterFunc(d.times.grace, stop)
	defer cut.Stop()
	d.group.Wait()
	d.client.CloseIdleConnections()
	return nil
}

// round claims one batch, and waits for something to do when that was all there was.
func (d *Deliverer) round(ctx, sending context.Context) {
	defer func() {
		if cause := recover(); cause != nil {
			d.log.Error("delivering webhooks panicked", "cause", cause, "stack", string(debug.Stack()))
			d.sleep(ctx, d.times.poll)
		}
	}()
	limit := d.queues.room(ctx, leaseBatch)
	d.giveBack(sending)
	if limit == 0 {
		return
	}
	jobs, leased, err := d.lease(ctx, limit)
	if err != nil {
		if ctx.Err() == nil {
			d.log.Error("due webhooks could not be claimed", "error", err)
			d.sleep(ctx, d.times.poll)
		}
		return
	}
	d.place(sending, jobs)
	if leased < limit {
		d.idle(ctx, leased)
	}
}

// idle waits until the next event is due, for a hint, or for the time to look again.
func (d *Deliverer) idle(ctx context.Context, leased int) {
	wait := d.times.poll
	err := d.db.View(ctx, func(tx *store.Tx) error {
		next, any, err := tx.Deliveries().NextDue(ctx)
		if any {
			wait = min(wait, next.Sub(tx.Now()))
		}
		return err
	})
	if err != nil && ctx.Err() == nil {
		d.log.Error("the next webhook could not be looked up", "error", err)
	}
	if leased == 0 {
		wait = max(wait, retryLater)
	}
	d.sleep(ctx, wait)
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

// place puts claimed events into their lanes.
func (d *Deliverer) place(sending context.Context, jobs []*job) {
	for _, j := range jobs {
		if !d.queues.put(j, d.clock()) {
			d.skip(sending, j)
		}
	}
	d.pump(sending)
	d.giveBack(sending)
}

// giveBack lets events that found no room be claimed again when there will be some. Where that is later than the end of
// the claim, the claim just runs out.
func (d *Deliverer) giveBack(ctx context.Context) {
	var back []store.Claimed
	now := d.clock()
	for _, s := range d.queues.takeOverflow() {
		if s.room.Before(s.job.leased.Add(d.times.lease)) {
			back = append(back, store.Claimed{Event: s.job.Number, Claim: s.job.Attempts, NextAt: d.now().Add(s.room.Sub(now))})
		}
	}
	if len(back) == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	err := d.db.Do(ctx, func(tx *store.Tx) error { return tx.Deliveries().Release(ctx, back) })
	if err != nil && ctx.Err() == nil {
		d.log.Error("webhooks without room could not be given back", "error", err)
	}
}

// pump starts every attempt that the lanes allow now.
func (d *Deliverer) pump(sending context.Context) {
	for j := d.queues.next(d.clock()); j != nil; j = d.queues.next(d.clock()) {
		d.begin(func() { d.attempt(sending, j) })
	}
}
