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
	lane    laneKey
	tries   int       // attempts of the schedule that failed before this one
	number  int64     // of this attempt in the log
	claimed time.Time // by this process's clock
}

// claim takes up to limit due events and returns those that are to be sent, and how many were taken.
func (d *Deliverer) claim(ctx context.Context, limit int) ([]*job, int, error) {
	claimed := time.Now()
	var due []store.Delivery
	err := d.db.Do(ctx, func(tx *store.Tx) (err error) {
		due, err = tx.ClaimDeliveries(ctx, tx.Now().Add(d.times.claim), limit)
		return err
	})
	if err != nil || len(due) == 0 {
		return nil, 0, err
	}
	k := known{accounts: map[bursar.ID]bursar.Account{}, dead: map[target]bool{}}
	jobs := make([]*job, 0, len(due))
	err = d.db.View(ctx, func(tx *store.Tx) error {
		for _, delivery := range due {
			j, err := k.job(ctx, tx, delivery)
			if err != nil {
				return err
			}
			if j != nil {
				j.claimed = claimed
				jobs = append(jobs, j)
			}
		}
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	return jobs, len(due), d.disable(ctx, k.dead)
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

// job returns nothing for an event to a URL that answered 410 Gone.
func (k *known) job(ctx context.Context, tx *store.Tx, delivery store.Delivery) (_ *job, err error) {
	to := target{delivery.AccountID, delivery.URL}
	dead, ok := k.dead[to]
	if !ok {
		if dead, err = tx.Disabled(ctx, to.account, to.url); err != nil {
			return nil, err
		}
		k.dead[to] = dead
	}
	if dead {
		return nil, nil
	}
	j := &job{Delivery: delivery, number: delivery.Attempts, lane: laneKey{delivery.AccountID, hostOf(delivery.URL)}}
	if j.account, ok = k.accounts[to.account]; !ok {
		if j.account, err = tx.Account(ctx, to.account); err != nil {
			return nil, err
		}
		k.accounts[to.account] = j.account
	}
	if delivery.Attempts > 1 {
		err = j.count(ctx, tx)
	}
	return j, err
}

// count finds the place in the schedule from the attempts on record, since a claim that came to nothing is none. A
// schedule begins after a success, and anew after its end: such an event is here because somebody asked for it again.
func (j *job) count(ctx context.Context, tx *store.Tx) error {
	past, err := tx.Attempts(ctx, j.Number)
	if err != nil {
		return err
	}
	for _, a := range past {
		j.tries = (j.tries + 1) % len(schedule)
		if delivered(int(a.Code)) {
			j.tries = 0
		}
		j.number = max(j.number, a.Number+1)
	}
	return nil
}

// disable ends the deliveries to URLs that are dead already, which were recorded by somebody who did not know.
func (d *Deliverer) disable(ctx context.Context, dead map[target]bool) error {
	for to, is := range dead {
		if !is {
			continue
		}
		err := d.db.Do(ctx, func(tx *store.Tx) error { return tx.DisableURL(ctx, to.account, to.url) })
		if err != nil {
			return err
		}
	}
	return nil
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
