// Package webhook delivers events: it leases the due rows of the events table, posts each to its receiver, and records
// the outcome.
//
// It owns the schedule of attempts, the signature, the dialling of receivers and the fairness between them. It never
// writes an event's body, never decides whether a customer gets an event, and never stores a secret. Its invariants:
//
//   - an event is sent at least once, always under its own id, and is leased by one deliverer while it is sent;
//   - no connection is opened to an address that netpolicy.MayDial refuses, whatever a URL or a name server says;
//   - a receiver that hangs, or is not to be reached, delays its own events and no others;
//   - no event is given up before its last attempt was really sent.
//
// Each account's events for one host form a destination queue. A queue starts with few attempts at once and gets more
// with each success, so a receiver that never answers holds a few connections only. After several attempts in a row
// that hung, the queue is shut for a while and its events move along their schedule without being sent. After many in
// a row that did not reach the receiver, it is probed every few seconds. What was due when a probe failed moves along
// its schedule too, since its own attempt would have failed as well; what is due since then waits for the next probe.
//
// Only as much is leased as a queue has capacity for. A lease is one row for all that a deliverer is sending. An event
// is written once the outcome of an attempt is known, so what was leased and not sent is due as it was before.
package webhook

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/netip"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// Secrets returns the webhook secrets, which are derived and never stored.
type Secrets interface {
	// WebhookSecret returns the bytes that sign an account's webhooks in one generation, always the same; nil means
	// that nothing can be sent for the account now.
	WebhookSecret(account bursar.ID, generation uint32) []byte
}

// Config holds the settings and dependencies of a Deliverer.
type Config struct {
	DB            *store.DB
	Secrets       Secrets
	AllowNetworks []netip.Prefix      // networks that may be dialled besides public addresses
	Log           *slog.Logger        // nil: nothing is logged
	Rand          func(n int64) int64 // a number in [0, n), to spread retries; nil: math/rand/v2
	Clock         func() time.Time    // of this process, to measure durations; nil: time.Now
	Client        Poster              // replaces the default one; like it, must refuse addresses that are not public

	// Ahead is how far the database's clock is ahead of the receivers', which check the time in a signature; nil: not.
	Ahead func() time.Duration
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
	ahead    func() time.Duration
	times    times
	client   Poster
	queues   *destinationQueues
	results  results
	counters counters
	wake     chan struct{}
	soon     atomic.Bool // wake is signalled in a moment
	group    sync.WaitGroup

	disabling sync.Map // receivers whose waiting events are being disabled
	hosts     hosts

	// What leases need; only one goroutine leases.
	row    store.DeliveryLease
	turn   turn
	denied bool // the newest look left events that are due and had to wait
	pace   pace
}

// times are the durations that the contract sets and those of the work around them.
type times struct {
	attempt time.Duration // time limit of one attempt
	lease   time.Duration // after this another deliverer may take an event
	queue   time.Duration // the longest that a leased event waits: lease less attempt, less time to record
	poll    time.Duration // interval of polling the database without a wake-up
	grace   time.Duration // time for attempts under way when Run ends
}

const (
	recordTimeout = 10 * time.Second
	deniedWait    = 100 * time.Millisecond // while events are due for which there is no capacity

	// pacedWait is the time in which as many attempts may be skipped as one lease skips.
	pacedWait = skippedAtOnce * time.Second / skippedASecond

	// leaseSpacing is the least time from a lease of fewer events than may be leased at once to the next lease: every
	// commit of a busy service records some, and each lease is a transaction.
	leaseSpacing = 20 * time.Millisecond

	// lookShare bounds what looking for due events takes while those of some receiver have to wait: each look passes
	// over them again, and is followed by a pause of so many times as long.
	lookShare = 4
)

// New returns a Deliverer that does nothing before Run or Step.
func New(cfg Config) *Deliverer {
	d := &Deliverer{
		db:      cfg.DB,
		secrets: cfg.Secrets,
		allowed: cfg.AllowNetworks,
		log:     cfg.Log,
		rand:    cfg.Rand,
		now:     cfg.DB.Now,
		clock:   cfg.Clock,
		ahead:   cfg.Ahead,
		wake:    make(chan struct{}, 1),
	}
	if d.ahead == nil {
		d.ahead = func() time.Duration { return 0 }
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
	d.queues = newQueues(limits{leased: 2 * leaseBatch, sending: 256, account: 128, destination: 32, queue: d.times.queue})
	if d.clock == nil {
		d.clock = time.Now
	}
	if d.client = cfg.Client; d.client == nil {
		d.client = newClient(d.allowed, d.queues.limits)
	}
	return d
}

// Wake signals that an event may be due. It never blocks and is never needed: the database is polled every second.
func (d *Deliverer) Wake() {
	select {
	case d.wake <- struct{}{}:
	default:
	}
}

// WakeFor is Wake for an event that was recorded, except that it signals nothing while nothing is sent to the event's
// receiver, and waits a moment where the receiver has as much to do as it may have: the look for due events would pass
// over the receiver's backlog again, and leave the event there.
func (d *Deliverer) WakeFor(e bursar.Event) {
	free := d.queues.capacityOf(queueKey{e.AccountID, d.hosts.of(e.URL)}, d.clock())
	switch {
	case free.send > 0:
		d.Wake()
	case free.shut == 0 && d.soon.CompareAndSwap(false, true):
		time.AfterFunc(deniedWait, func() {
			d.soon.Store(false)
			d.Wake()
		})
	}
}

// Step leases due events, sends them and records the outcomes: one round of Run, for callers that control the time.
func (d *Deliverer) Step(ctx context.Context) error {
	taken, err := d.lease(ctx, leaseBatch)
	if err != nil {
		return fmt.Errorf("lease due webhooks: %w", err)
	}
	d.enqueue(ctx, taken)
	d.group.Wait()
	return nil
}

// begin runs f in a goroutine of its own.
func (d *Deliverer) begin(f func()) {
	d.group.Add(1)
	d.db.Go(func() {
		defer d.group.Done()
		defer d.recovered()
		f()
	})
}

// recovered keeps a panic from ending the process. What was under way is not recorded: its lease expires and it is sent
// again.
func (d *Deliverer) recovered() {
	if cause := recover(); cause != nil {
		d.log.Error("webhook delivery panicked", "cause", cause, "stack", string(debug.Stack()))
	}
}
