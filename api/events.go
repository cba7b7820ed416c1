package api

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// longestWait is how many seconds a request may wait for an event, which is less than workTime.
const longestWait = 25

// newestPosition is the value of after with which a client begins behind all events that there are.
const newestPosition = "newest"

// scannedEvents is how many events one request with a filter looks at.
const scannedEvents = maxPage

// eventTypes are the values of the field type of an event.
var eventTypes = []string{"wallet", "charge", "account", "test"}

// feedQuery says which events a request wants.
type feedQuery struct {
	account bursar.ID
	after   int64     // a number; 0: from the oldest
	event   bursar.ID // in place of after: behind this one
	newest  bool      // in place of after: behind all that there is
	begins  bool      // none of them was sent
	kind    bursar.EventKind
	about   string // the field type
	limit   int
	wait    time.Duration
}

type eventsAnswer struct {
	Events []json.RawMessage `json:"events"` // each is what a webhook has as response.webhook
	Next   string            `json:"next"`   // the position behind the last event that was looked at
}

// listEvents is GET account/events.
func (a *api) listEvents(ctx context.Context, c *call) (any, error) {
	q := feedQueryOf(c)
	if c.in.err != nil {
		return nil, c.in.err
	}
	answer, position, err := a.readFeed(ctx, q)
	if err != nil || len(answer.Events) > 0 || q.wait == 0 {
		return answer, err
	}
	leave, err := a.feeds.enter(q.account)
	if err != nil {
		return nil, err
	}
	defer leave()
	waiting, cancel := context.WithTimeout(ctx, q.wait)
	defer cancel()
	for err == nil && len(answer.Events) == 0 && a.feeds.await(waiting, q.account, position) {
		q.after, q.event, q.newest, q.begins = position, bursar.ID{}, false, false
		answer, position, err = a.readFeed(ctx, q)
	}
	return answer, err
}

func feedQueryOf(c *call) feedQuery {
	q := feedQuery{account: c.identity.Account, limit: maxPage, begins: true}
	if after, sent := c.in.optional("after"); sent {
		q.begins = false
		var ok bool
		if q.after, ok = feedList.parsePosition(after); after == newestPosition {
			q.after, q.newest = 0, true
		} else if !ok {
			var err error
			if q.event, err = bursar.ParseID(after); err != nil {
				c.in.refuse("after", "after must be the next of an earlier answer, an eventID, or newest")
			}
		}
	}
	if limit, sent := c.in.whole("limit", 1, maxPage); sent {
		q.limit = limit
	}
	if seconds, sent := c.in.whole("wait", 0, longestWait); sent {
		q.wait = time.Duration(seconds) * time.Second
	}
	if kind, sent := c.in.optional("event"); sent {
		if q.kind = bursar.EventKind(kind); !slices.Contains(bursar.EventKinds(), q.kind) {
			c.in.refuse("event", "event must be one of %v", bursar.EventKinds())
		}
	}
	if about, sent := c.in.optional("type"); sent {
		if q.about = about; !slices.Contains(eventTypes, about) {
			c.in.refuse("type", "type must be one of %v", eventTypes)
		}
	}
	return q
}

var errArchived = bursar.RefuseField(bursar.CodeEventsArchived, "after",
	"events behind this position are archived; leave after out to continue with the oldest event that is here")

// errAhead is the refusal of a position that is no number yet. Positions that were given are settled, and what is
// settled stays: the database was restored from before, and the numbers up to the position are given to other events.
var errAhead = bursar.RefuseField(bursar.CodeEventsArchived, "after",
	"this position is ahead of the feed, as after an older backup was restored; leave after out to continue with the "+
		"oldest event that is here")

// readFeed reads one page, and the number up to which events were looked at.
func (a *api) readFeed(ctx context.Context, q feedQuery) (answer eventsAnswer, position int64, err error) {
	r := store.FeedQuery{Account: q.account, After: q.after, Limit: q.limit}
	if q.kind != "" || q.about != "" {
		r.Limit = scannedEvents
	}
	err = a.DB.Read(ctx, func(tx *store.Tx) (err error) {
		r.Settled, err = tx.Feed().Settled(ctx)
		return err
	})
	if err != nil {
		return answer, 0, err
	}
	if q.newest {
		r.After = r.Settled
	}
	var page store.FeedPage
	err = a.DB.View(ctx, func(tx *store.Tx) (err error) {
		if !q.event.IsZero() {
			if r.After, err = tx.Feed().NumberOf(ctx, q.account, q.event); err != nil {
				return store.AsRefusal(err)
			}
			r.After = min(r.After, r.Settled) // a webhook reports it while an earlier one may not be committed
		}
		page, err = tx.Feed().Read(ctx, r)
		return err
	})
	if err != nil {
		return answer, 0, err
	}
	switch {
	case r.After < page.Start && !q.begins:
		return answer, 0, errArchived
	case r.After > max(r.Settled, page.Start):
		return answer, 0, errAhead
	}
	answer.Events, position, err = q.choose(page.Events)
	position = max(position, r.After, page.Start)
	answer.Next = feedList.cursor(position)
	return answer, position, err
}

// choose returns the bodies of those of some events that are asked for, and the number of the last that was looked at.
func (q feedQuery) choose(events []bursar.Event) (bodies []json.RawMessage, position int64, err error) {
	bodies = []json.RawMessage{}
	for _, e := range events {
		if len(bodies) == q.limit {
			break
		}
		position = e.Number
		if q.kind != "" && q.kind != e.Kind {
			continue
		}
		body, about, err := innerBody(e)
		if err != nil {
			return nil, 0, err
		}
		if q.about == "" || q.about == about {
			bodies = append(bodies, body)
		}
	}
	return bodies, position, nil
}

// innerBody returns the part of an event's body that is the event, and its type.
func innerBody(e bursar.Event) (body json.RawMessage, about string, err error) {
	var whole struct {
		Response struct {
			Webhook json.RawMessage `json:"webhook"`
		} `json:"response"`
	}
	var inner struct {
		Type string `json:"type"`
	}
	if err = json.Unmarshal(e.Body, &whole); err == nil {
		err = json.Unmarshal(whole.Response.Webhook, &inner)
	}
	if err != nil {
		return nil, "", fmt.Errorf("read the body of event %s: %w", e.ID, err)
	}
	return whole.Response.Webhook, inner.Type, nil
}
