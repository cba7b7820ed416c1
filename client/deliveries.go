package client

import (
	"context"
	"net/http"
	"time"
)

// Delivery is an event and the state of its delivery.
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

// Attempt is one attempt of a delivery. HTTPStatus is 0 where there was no response.
type Attempt struct {
	Attempt      int64     `json:"attempt"`
	At           time.Time `json:"at"`
	Milliseconds int64     `json:"milliseconds"`
	HTTPStatus   int       `json:"httpStatus"`
	Error        string    `json:"error"`
}

// WebhookTest is the target of a test event: the webhook of a wallet, a URL, or with neither the account's own webhook.
type WebhookTest struct {
	WalletID string
	Webhook  string

	IdempotencyKey string // empty: a random one for this call
}

// TestWebhook sends a test event, of Type and Event "test", and returns the state of its delivery. It is sent at once;
// Deliveries lists the result. Errors: InvalidWebhook, InvalidRequest, NotFound, RateLimited.
func (c *Client) TestWebhook(ctx context.Context, t WebhookTest) (Delivery, error) {
	values := map[string]any{}
	if t.WalletID != "" {
		values["walletID"] = t.WalletID
	}
	if t.Webhook != "" {
		values["webhook"] = t.Webhook
	}
	answer, err := call[struct {
		Webhook Delivery `json:"webhook"`
	}](ctx, c, request{method: http.MethodPost, path: "account/webhooks/test", key: t.IdempotencyKey, values: values})
	return answer.Webhook, err
}

// Deliveries lists the account's events.
func (c *Client) Deliveries(ctx context.Context, p Page) (List[Delivery], error) {
	return c.DeliveriesBy(DeliveryFilter{})(ctx, p)
}

// DeliveryFilter selects deliveries. The zero values select all.
type DeliveryFilter struct {
	Status string // pending, delivered, failed, disabled
	Event  string
	From   time.Time // created at or after
	To     time.Time // created before
}

// DeliveriesBy returns a list of the deliveries that a filter selects, for All. A page may be empty before the list
// ends.
func (c *Client) DeliveriesBy(f DeliveryFilter) func(context.Context, Page) (List[Delivery], error) {
	values := filled(map[string]string{"status": f.Status, "event": f.Event, "from": moment(f.From), "to": moment(f.To)})
	return func(ctx context.Context, p Page) (List[Delivery], error) {
		answer, err := call[struct {
			Webhooks   []Delivery `json:"webhooks"`
			NextCursor string     `json:"nextCursor"`
		}](ctx, c, request{method: http.MethodGet, path: "account/webhooks", values: p.values(values)})
		return List[Delivery]{answer.Webhooks, answer.NextCursor}, err
	}
}

func (c *Client) redeliver(ctx context.Context, values map[string]any) (int64, error) {
	answer, err := call[struct {
		Redelivered int64 `json:"redelivered"`
	}](ctx, c, request{method: http.MethodPost, path: "account/webhooks/redeliver", values: values})
	return answer.Redelivered, err
}

// Redeliver sends one event again, to the webhook that is set now; where that answered 410 Gone, nothing is sent. The
// error is NotFound for one that is unknown or another account's.
func (c *Client) Redeliver(ctx context.Context, eventID string) error {
	_, err := c.redeliver(ctx, map[string]any{"eventID": eventID})
	return err
}

// RedeliverSince sends every event since a time within the last 30 days again, each to the webhook that is set now, and
// returns how many.
func (c *Client) RedeliverSince(ctx context.Context, since time.Time) (int64, error) {
	return c.redeliver(ctx, map[string]any{"since": since.UTC().Format(time.RFC3339Nano)})
}
