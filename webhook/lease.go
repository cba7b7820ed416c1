package webhook

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// job is a leased event with all that is needed to send it.
type job struct {
	store.Delivery
	account bursar.Account
	queue   queueKey
	leased  time.Time // by this process's clock
}

// lease takes up to limit due events, and where there are more, up to as many of other receivers. It returns those that
// are to be sent, and how many it took.
func (d *Deliverer) lease(ctx context.Context, limit int) (jobs []*job, taken int, err error) {
	leased := d.clock()
	var next store.Receiver
	err = d.db.Do(ctx, func(tx *store.Tx) error {
		due, err := tx.Deliveries().Lease(ctx, tx.Now().Add(d.times.lease), limit)
		if err != nil {
			return err
		}
		if next = d.next; len(due) == limit {
			var others []store.Delivery
			if others, next, err = d.leaseOthers(ctx, tx, due); err != nil {
				return err
			}
			due = append(due, others...)
		}
		taken = len(due)
		jobs, err = jobsOf(ctx, tx, due, leased)
		return err
	})
	if err == nil {
		d.next = next
	}
	return jobs, taken, err
}

// leaseOthers takes due events of receivers that have none among those that were due first, in turns: one receiver's
// backlog, of hours for which it was down, would otherwise be worked off before anybody else hears of anything.
func (d *Deliverer) leaseOthers(
	ctx context.Context, tx *store.Tx, due []store.Delivery,
) ([]store.Delivery, store.Receiver, error) {
	first := map[store.Receiver]bool{}
	for _, delivery := range due {
		first[store.ReceiverOf(delivery.Event)] = true
	}
	return tx.Deliveries().LeaseFrom(ctx, tx.Now().Add(d.times.lease), len(due), d.next, first)
}

// jobsOf returns what is to be sent of events that were leased at a time: all but those to a URL that answered 410 Gone,
// recorded by a transaction that did not see the answer. It ends all deliveries to such a URL. The number of statements
// does not depend on that of events or receivers, but for such URLs.
func jobsOf(ctx context.Context, tx *store.Tx, due []store.Delivery, leased time.Time) ([]*job, error) {
	var accounts []bursar.ID
	var receivers []store.Receiver
	seen, known := map[store.Receiver]bool{}, map[bursar.ID]bool{}
	for _, delivery := range due {
		if r := store.ReceiverOf(delivery.Event); !seen[r] {
			seen[r], receivers = true, append(receivers, r)
		}
		if id := delivery.AccountID; !known[id] {
			known[id], accounts = true, append(accounts, id)
		}
	}
	dead, err := tx.WebhookURLs().Disabled(ctx, receivers)
	if err != nil {
		return nil, err
	}
	for _, r := range receivers {
		if dead[r] {
			if err := tx.WebhookURLs().Disable(ctx, r.Account, r.URL); err != nil {
				return nil, err
			}
		}
	}
	of, err := tx.Accounts().Each(ctx, accounts)
	if err != nil {
		return nil, err
	}
	jobs := make([]*job, 0, len(due))
	for _, delivery := range due {
		if !dead[store.ReceiverOf(delivery.Event)] {
			jobs = append(jobs, &job{
				Delivery: delivery,
				account:  of[delivery.AccountID],
				queue:    queueKey{delivery.AccountID, hostOf(delivery.URL)},
				leased:   leased,
			})
		}
	}
	return jobs, nil
}

// hostOf returns the host and port of a URL, normalised.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "" // such an event fails at once, in any queue
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + ":" + port
}
