package api

import (
	"context"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// deliveryView is an event and the state of its delivery.
type deliveryView struct {
	EventID       bursar.ID        `json:"eventID"`
	Event         bursar.EventKind `json:"event"`
	Subject       bursar.ID        `json:"subject"` // of the deposit, charge or withdrawal
	Webhook       string           `json:"webhook"`
	Status        string           `json:"status"` // pending, delivered, failed, disabled
	NextAttemptAt *time.Time       `json:"nextAttemptAt"`
	DeliveredAt   *time.Time       `json:"deliveredAt"`
	CreatedAt     time.Time        `json:"createdAt"`
	Attempts      []attemptView    `json:"attempts"`
}

// attemptView is one attempt. HTTPStatus is 0 where there was no response.
type attemptView struct {
	Attempt    int64     `json:"attempt"`
	At         time.Time `json:"at"`
	Millis     int64     `json:"milliseconds"`
	HTTPStatus int64     `json:"httpStatus"`
	Error      string    `json:"error"`
}

func viewDelivery(d store.Delivery, attempts []store.Attempt) deliveryView {
	view := deliveryView{
		EventID:   d.ID,
		Event:     d.Kind,
		Subject:   d.Subject,
		Webhook:   d.URL,
		Status:    d.Status,
		CreatedAt: d.CreatedAt,
		Attempts:  []attemptView{},
	}
	if d.Status == store.DeliveryPending {
		view.NextAttemptAt = &d.NextAt
	}
	if !d.DeliveredAt.IsZero() {
		view.DeliveredAt = &d.DeliveredAt
	}
	for _, a := range attempts {
		view.Attempts = append(view.Attempts, attemptView{a.Number, a.At, a.Duration.Milliseconds(), a.Code, a.Error})
	}
	return view
}

type deliveriesAnswer struct {
	Webhooks   []deliveryView `json:"webhooks"`
	NextCursor string         `json:"nextCursor,omitempty"`
}

// listDeliveries is GET account/webhooks.
func (a *api) listDeliveries(ctx context.Context, c *call) (any, error) {
	page := c.in.page(deliveryList)
	f := store.EventFilter{Status: chosen(&c.in, "status", store.DeliveryStates()),
		Kind: chosen(&c.in, "event", bursar.EventKinds())}
	f.From, _ = c.in.instant("from")
	f.To, _ = c.in.instant("to")
	if c.in.err != nil {
		return nil, c.in.err
	}
	var next int64
	var list []store.Delivery
	var attempts map[int64][]store.Attempt
	answer := deliveriesAnswer{Webhooks: []deliveryView{}}
	err := a.DB.View(ctx, func(tx *store.Tx) (err error) {
		if list, next, err = tx.Deliveries().Select(ctx, c.identity.Account, f, page); err != nil {
			return err
		}
		list, answer.NextCursor = cutAt(next, list, page, deliveryList, func(d store.Delivery) int64 { return d.Number })
		var numbers []int64
		for _, d := range list {
			numbers = append(numbers, d.Number)
		}
		attempts, err = tx.Deliveries().AttemptsOf(ctx, numbers)
		return err
	})
	for _, d := range list {
		answer.Webhooks = append(answer.Webhooks, viewDelivery(d, attempts[d.Number]))
	}
	return answer, err
}

// redeliverWithin is the longest period whose events can be sent again in one request.
const redeliverWithin = 30 * 24 * time.Hour

type redeliverAnswer struct {
	Redelivered int64 `json:"redelivered"`
}

// redeliverStep is how many events one statement makes due.
const redeliverStep = 1000

// redeliver is POST account/webhooks/redeliver: one event by eventID, or all events since a time.
func (a *api) redeliver(ctx context.Context, c *call) (any, error) {
	id, one := c.in.optionalID("eventID")
	since, all := c.in.instant("since")
	if c.in.err == nil && one == all {
		c.in.refuse("eventID", "either eventID or since is required, not both")
	}
	if all && c.now.Sub(since) > redeliverWithin {
		c.in.refuse("since", "since must lie within the last %d days", int(redeliverWithin.Hours()/24))
	}
	if c.in.err != nil {
		return nil, c.in.err
	}
	var answer redeliverAnswer
	err := a.DB.Do(ctx, func(tx *store.Tx) (err error) {
		if one {
			answer, err = redeliverOne(ctx, tx, c.identity.Account, id)
		} else {
			answer, err = redeliverSince(ctx, tx, c.identity.Account, since)
		}
		if err != nil {
			return err
		}
		return c.keep(tx, answer)
	})
	if err == nil && a.Redelivered != nil {
		a.Redelivered()
	}
	return answer, err
}

func redeliverOne(ctx context.Context, tx *store.Tx, account, id bursar.ID) (answer redeliverAnswer, err error) {
	due, err := tx.Deliveries().Redeliver(ctx, account, id)
	if due {
		answer.Redelivered = 1
	}
	return answer, store.AsRefusal(err)
}

func redeliverSince(
	ctx context.Context, tx *store.Tx, account bursar.ID, since time.Time,
) (answer redeliverAnswer, err error) {
	r := store.Redelivery{Account: account, Since: since, Limit: redeliverStep}
	for {
		due, last, err := tx.Deliveries().RedeliverSome(ctx, r)
		if err != nil || last == 0 {
			return answer, err
		}
		answer.Redelivered += due
		r.After = last
	}
}
