package webhook

import (
	"context"
	"net/url"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// job is a claimed event with all that is needed to send it.
type job struct {
	store.Delivery
	account bursar.Account
	queue   queueKey
	leased  time.Time // by this process's clock
}

// lease takes up to limit due events and returns those that are to be sent, and how many were taken.
func (d *Deliverer) lease(ctx context.Context, limit int) (jobs []*job, taken int, err error) {
	leased := d.clock()
	err = d.db.Do(ctx, func(tx *store.Tx) error {
		due, err := tx.Deliveries().Lease(ctx, tx.Now().Add(d.times.lease), limit)
		if err != nil {
			return err
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
	return jobs, taken, err
}

// target is a URL of an account.
type target struct {
	account bursar.ID
	url     string
}

// known is what one batch has read of accounts and URLs.
type known struct {
	accounts map[bursar.ID]bursar.Account
	dead     map[target]bool
}

// job returns nothing for an event to a URL that answered 410 Gone, which was recorded by somebody who did not know: it
// ends all the deliveries to that URL.
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

// hostOf returns the host and port that a URL leads to, without the distinctions that make no difference.
func hostOf(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return "" // such an event fails at once, in any lane
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	return strings.ToLower(strings.TrimSuffix(u.Hostname(), ".")) + ":" + port
}
