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
		k := known{accounts: map[bursar.ID]bursar.Account{}, dead: map[target]bool{}}
		jobs, taken = make([]*job, 0, len(due)), len(due)
		for _, delivery := range due {
			j, err := k.job(ctx, tx, delivery)
			if err != nil {
				return err
			}
			if j != nil {
				j.leased = leased
				jobs = append(jobs, j)
			}
		}
		return nil
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

// target is a URL of an account.
type target struct {
	account bursar.ID
	url     string
}

// known caches the accounts and URLs that one batch has read.
type known struct {
	accounts map[bursar.ID]bursar.Account
	dead     map[target]bool
}

// job returns nil for an event to a URL that answered 410 Gone, recorded by a transaction that did not see the answer:
// it ends all deliveries to that URL.
func (k *known) job(ctx context.Context, tx *store.Tx, delivery store.Delivery) (_ *job, err error) {
	to := target{delivery.AccountID, delivery.URL}
	dead, ok := k.dead[to]
	if !ok {
		if dead, err = tx.WebhookURLs().Disabled(ctx, to.account, to.url); err != nil {
			return nil, err
		}
		k.dead[to] = dead
		if dead {
			return nil, tx.WebhookURLs().Disable(ctx, to.account, to.url)
		}
	}
	if dead {
		return nil, nil
	}
	account, ok := k.accounts[to.account]
	if !ok {
		if account, err = tx.Accounts().Get(ctx, to.account); err != nil {
			return nil, err
		}
		k.accounts[to.account] = account
	}
	return &job{Delivery: delivery, account: account, queue: queueKey{delivery.AccountID, hostOf(delivery.URL)}}, nil
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
