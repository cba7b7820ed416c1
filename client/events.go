package client

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"net/http"
	"time"
)

// NewestEvents as FeedQuery.After begins behind all events that there are.
const NewestEvents = "newest"

// FeedQuery says which events of the feed to read. An empty field does not restrict.
type FeedQuery struct {
	// FeedPage.Next of an earlier page, the EventID of the last event that you have, or NewestEvents; empty: the oldest
	After string
	Type  string // wallet, charge, account or test
	Event string // EventDeposit, EventPaid and so on
	// how long to wait for an event where there is none, in whole seconds up to 25; less than one: not at all
	Wait  time.Duration
	Limit int // 1 to 1000; 0: 1000
}

// FeedPage is a part of the feed, oldest first. Next is the position behind it, to be stored with what became of its
// events: no event ever appears behind it.
type FeedPage struct {
	Events []Event
	Next   string
}

// Events reads a page of the events that webhooks are cut from, whether or not they were delivered. The error is
// EventsArchived where events behind the position are no longer there, and NotFound for an EventID that is unknown.
func (c *Client) Events(ctx context.Context, q FeedQuery) (FeedPage, error) {
	values := map[string]any{}
	for name, text := range map[string]string{"after": q.After, "type": q.Type, "event": q.Event} {
		if text != "" {
			values[name] = text
		}
	}
	if q.Limit != 0 {
		values["limit"] = q.Limit
	}
	if q.Wait != 0 {
		values["wait"] = int(q.Wait / time.Second)
	}
	answer, err := call[struct {
		Events []json.RawMessage `json:"events"`
		Next   string            `json:"next"`
	}](ctx, c, request{method: http.MethodGet, path: "account/events", values: values})
	page := FeedPage{Next: answer.Next}
	for _, text := range answer.Events {
		event, err := readEvent(text)
		if err != nil {
			return FeedPage{}, fmt.Errorf("bursar: GET account/events: read event: %w", err)
		}
		page.Events = append(page.Events, event)
	}
	return page, err
}

// Feed reads the feed while it is ranged over. With Wait it goes on until ctx ends or a call fails, without it until
// there is nothing newer. Store the EventID of each event that you have processed, and begin there the next time:
//
//	for event, err := range c.Feed(ctx, client.FeedQuery{After: last, Wait: 20 * time.Second}) { … }
func (c *Client) Feed(ctx context.Context, q FeedQuery) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		for {
			page, err := c.Events(ctx, q)
			if err != nil {
				yield(Event{}, err)
				return
			}
			for _, event := range page.Events {
				if !yield(event, nil) {
					return
				}
			}
			if page.Next == q.After && q.Wait < time.Second {
				return
			}
			q.After = page.Next
		}
	}
}

// readEvent reads the content of a webhook, or an event of the feed.
func readEvent(text []byte) (event Event, err error) {
	if err := json.Unmarshal(text, &event); err != nil {
		return Event{}, err
	}
	if event.Charge != nil && event.Deposit == nil {
		var sum struct{ Charge *Charge }
		if err := json.Unmarshal(text, &sum); err != nil {
			return Event{}, err
		}
		event.Charge, event.Sum = nil, sum.Charge
	}
	event.Raw = string(text)
	return event, nil
}
