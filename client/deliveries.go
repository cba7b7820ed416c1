package client

import (
	"context"
	"net/http"
	"time"
)

// Delivery is an event and how far its delivery has come.
type Delivery struct {
	EventID       string     `json:"eventID"`
	Event         string     `json:"event"`
	Subject       string     `json:"subject"` // the ID of the deposit, charge or withdrawal
	Webhook       string     `json:"webhook"`
	Status        string     `json:"status"` // pending, delivered, failed, disabled
	NextAttemptAt *time.Time `json:"nextAttemptAt"`
	DeliveredAt   *time.Time `json:"deliveredAt"`
	CreatedAt     time.Time  `json:"createdAt"`
	Attempts      []Attempt  `json:"attempts"`
}

// Attempt is one try to deliver. HTTPStatus is 0 where there was no answer.
type Attempt struct {
	Attempt      int64     `json:"attempt"`
	At           time.Time `json:"at"`
	Milliseconds int64     `json:"milliseconds"`
	HTTPStatus   int       `json:"httpStatus"`
	Error        string    `json:"error"`
}

// Deliveries lists the account's events.
func (c *Client) Deliveries(ctx context.Context, p Page) (List[Delivery], error) {
	answer, err := call[struct {
		Webhooks   []Delivery `json:"webhooks"`
		NextCursor string     `json:"nextCursor"`
	}](ctx, c, request{method: http.MethodGet, path: "account/webhooks", values: p.values(nil)})
	return List[Delivery]{answer.Webhooks, answer.NextCursor}, err
}

func (c *Client) redeliver(ctx context.Context, values map[string]any) (int64, error) {
	answer, err := call[struct {
		Redelivered int64 `json:"redelivered"`
	}](ctx, c, request{method: http.MethodPost, path: "account/webhooks/redeliver", values: values})
	return answer.Redelivered, err
}

// Redeliver sends one event again. The error is NotFound for one that is unknown or another account's.
func (c *Client) Redeliver(ctx context.Context, eventID string) error {
	_, err := c.redeliver(ctx, map[string]any{"eventID": eventID})
	return err
}

// RedeliverSince sends every event again that was made since a time within the last 30 days, and returns how many.
func (c *Client) RedeliverSince(ctx context.Context, since time.Time) (int64, error) {
	return c.redeliver(ctx, map[string]any{"since": since.UTC().Format(time.RFC3339Nano)})
}
