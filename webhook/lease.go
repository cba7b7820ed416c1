package webhook

import (
	"context"
	"net/url"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/netpolicy"
	"github.com/bursar/bursar/store"
)

const (
	leaseBatch = 4096 // events of one lease, and as many of other receivers where one has a backlog
)

// job is a leased event with all that is needed to send it.
type job struct {
	store.Delivery
	account bursar.Account
	queue   queueKey
	to      *url.URL
	refused error     // why nothing may be sent to the URL
	leased  time.Time // by this process's clock
}

// last reports whether the next attempt is the last one of the schedule.
func (j *job) last() bool { return lastAttempt(j.Delivery) }

func lastAttempt(of store.Delivery) bool { return of.Tries+1 >= attemptsOf(of.Kind) }

// lease is the events that one transaction took.
type lease struct {
	send, skip []*job
	at         time.Time     // by the database's clock
	patience   time.Duration // after which one that had to wait may be sent or skipped; 0: not all of these are known
	again      bool          // more are due, or others are to be looked at
	denied     bool          // some that are due have to wait
	row        store.DeliveryLease
	turn       turn
	paced      int // used of the pace
}

// lease takes due events: up to limit of those that have waited longest, as far as their queues have capacity, and
// where one receiver has a backlog, up to as many of others.
func (d *Deliverer) lease(ctx context.Context, limit int) (taken lease, err error) {
	now := d.clock()
	leased, paced := d.queues.leasedNow(now), d.pace.left(now)
	err = d.db.Do(ctx, func(tx *store.Tx) error {
		others, err := tx.Deliveries().LeasedByOthers(ctx, d.row)
		if err != nil {
			return err
		}
		c := &choice{d: d, tx: tx, now: now, leased: slices.Concat(leased, others), capacities: map[queueKey]*capacity{},
			paced: paced, turn: d.turn}
		if err := c.choose(ctx, limit); err != nil {
			return err
		}
		taken = lease{at: tx.Now(), again: c.again, denied: c.denied, patience: c.patience(), turn: c.turn,
			paced: paced - c.paced}
		if taken.again, err = c.withoutMoved(ctx); err != nil {
			return err
		}
		if taken.send, err = d.jobsOf(ctx, tx, c.send, now); err == nil {
			taken.skip, err = d.jobsOf(ctx, tx, c.skip, now)
		}
		if err != nil {
			return err
		}
		taken.row, err = d.renewed(ctx, tx, taken, leased)
		return err
	})
	if err != nil {
		return lease{}, err
	}
	d.row, d.turn, d.denied = taken.row, taken.turn, taken.denied
	d.queues.take(taken, now.Add(d.times.lease))
	d.pace.use(taken.paced)
	return taken, nil
}

// withoutMoved takes out the events whose receiver was replaced: the next lease finds them in the queue of the new one.
// It reports whether there is more to lease.
func (c *choice) withoutMoved(ctx context.Context) (again bool, err error) {
	moved, err := c.tx.Deliveries().Moved(ctx, slices.Concat(c.send, c.skip))
	if err != nil || len(moved) == 0 {
		return c.again, err
	}
	gone := func(d store.Delivery) bool { return slices.Contains(moved, d.Number) }
	c.send, c.skip = slices.DeleteFunc(c.send, gone), slices.DeleteFunc(c.skip, gone)
	return true, nil
}

// renewed keeps the lease of what is under way and of what is taken now. One that nothing was added to is written again
// in good time only.
func (d *Deliverer) renewed(ctx context.Context, tx *store.Tx, taken lease, leased []int64) (store.DeliveryLease,
	error) {
	all := slices.Clone(leased)
	for _, list := range [][]*job{taken.send, taken.skip} {
		for _, j := range list {
			all = append(all, j.Number)
		}
	}
	if len(all) == len(leased) && (len(all) == 0 || d.row.Until.Sub(tx.Now()) > d.times.lease/2) {
		return d.row, nil
	}
	return tx.Deliveries().KeepLease(ctx, d.row, tx.Now().Add(d.times.lease), all)
}

// giveUpLease leaves what is not under way any more to others, at once.
func (d *Deliverer) giveUpLease(ctx context.Context) {
	if d.row.Number == 0 {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, recordTimeout)
	defer cancel()
	leased := d.queues.leasedNow(d.clock())
	err := d.db.Do(ctx, func(tx *store.Tx) error {
		until := tx.Now()
		if len(leased) > 0 {
			until = until.Add(d.times.lease)
		}
		_, err := tx.Deliveries().LeasedByOthers(ctx, d.row)
		if err != nil {
			return err
		}
		row, err := tx.Deliveries().KeepLease(ctx, d.row, until, leased)
		tx.After(func() { d.row = row })
		return err
	})
	if err != nil && ctx.Err() == nil {
		d.log.Error("failed to release the lease of webhooks", "error", err)
	}
}

// jobsOf returns what is to be sent of events that are being leased: all but those to a URL that answered 410 Gone,
// recorded by a transaction that did not see the answer, or by a process that died before it had disabled all. Those it
// disables. The number of statements does not depend on that of events or receivers.
func (d *Deliverer) jobsOf(ctx context.Context, tx *store.Tx, due []store.Delivery, leased time.Time) ([]*job, error) {
	if len(due) == 0 {
		return nil, nil
	}
	var accounts []bursar.ID
	var receivers []store.Receiver
	seen, known := map[store.Receiver]*job{}, map[bursar.ID]bool{}
	for _, delivery := range due {
		if r := store.ReceiverOf(delivery.Event); seen[r] == nil {
			seen[r], receivers = d.target(r), append(receivers, r)
		}
		if id := delivery.AccountID; !known[id] {
			known[id], accounts = true, append(accounts, id)
		}
	}
	dead, err := tx.WebhookURLs().Disabled(ctx, receivers)
	if err != nil {
		return nil, err
	}
	if err := d.disableDue(ctx, tx, due, dead); err != nil {
		return nil, err
	}
	byID, err := tx.Accounts().Each(ctx, accounts)
	if err != nil {
		return nil, err
	}
	jobs := make([]*job, 0, len(due))
	for _, delivery := range due {
		r := store.ReceiverOf(delivery.Event)
		if dead[r] {
			continue
		}
		j := *seen[r]
		j.Delivery, j.account, j.leased = delivery, byID[delivery.AccountID], leased
		jobs = append(jobs, &j)
	}
	return jobs, nil
}

// target returns what the jobs of a receiver have in common.
func (d *Deliverer) target(r store.Receiver) *job {
	j := &job{queue: queueKey{r.Account, d.hosts.of(r.URL)}}
	if j.refused = netpolicy.CheckWebhookURL(r.URL, d.allowed); j.refused == nil {
		j.to, j.refused = url.Parse(r.URL)
	}
	return j
}
