package main

import (
	"context"
	"time"

	"github.com/bursar/bursar/client"
)

// watchedDeliveries is how many of an account's newest events are looked at for what is sent again.
const watchedDeliveries = 100

// againEvery is how long the feed is waited for where events that are sent again are forwarded too.
const againEvery = 5 * time.Second

// redeliveries finds the events that somebody has sent again: the feed has each event once.
type redeliveries struct {
	known map[string]deliveryState
	begun bool
}

// deliveryState is what was seen of an event's delivery.
type deliveryState struct {
	attempts int
	ended    bool      // delivered or given up
	next     time.Time // attempt
}

// sentAgain is an event that is sent again, and the one before it in the feed.
type sentAgain struct{ event, before string }

// in returns the events of the newest deliveries that somebody has sent again since the last look, oldest first. The
// first look finds none.
func (r *redeliveries) in(newest []client.Delivery) (again []sentAgain) {
	known := map[string]deliveryState{}
	for i := len(newest) - 1; i >= 0; i-- {
		d := newest[i]
		now := deliveryState{attempts: len(d.Attempts), ended: d.Status != "pending"}
		if d.NextAttemptAt != nil {
			now.next = *d.NextAttemptAt
		}
		was, seen := r.known[d.EventID]
		known[d.EventID] = now
		if !seen || i+1 == len(newest) || !was.repeatedBy(now) {
			continue
		}
		again = append(again, sentAgain{event: d.EventID, before: newest[i+1].EventID})
	}
	if !r.begun {
		again = nil
	}
	r.known, r.begun = known, true
	return again
}

// repeatedBy reports whether a delivery began again: it had ended and goes on, or its next attempt is earlier than it
// was. The schedule of a delivery that nobody repeats only moves it away.
func (was deliveryState) repeatedBy(now deliveryState) bool {
	if was.ended {
		return !now.ended || now.attempts > was.attempts
	}
	return !now.ended && now.attempts == was.attempts && now.next.Before(was.next)
}

// forwardAgain forwards what was sent again since the last look.
func (cmd *listenCommand) forwardAgain(ctx context.Context, c *call, service *client.Client, f *forwarder,
	r *redeliveries) error {
	newest, err := service.Deliveries(ctx, client.Page{Limit: watchedDeliveries})
	if err != nil {
		if ctx.Err() == nil {
			c.Note("what is sent again is not known now: %v", err)
		}
		return nil // the feed says what is wrong
	}
	for _, again := range r.in(newest.Items) {
		page, err := service.Events(ctx, client.FeedQuery{After: again.before})
		if err != nil {
			c.Note("%s is sent again, and could not be read: %v", again.event, err)
			continue
		}
		for _, e := range page.Events {
			if e.EventID != again.event {
				continue
			}
			if err := cmd.pass(ctx, c, f, e); err != nil {
				return err
			}
			break
		}
	}
	return nil
}
