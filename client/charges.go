package client

import (
	"context"
	"net/http"
	"time"
)

// Charge is a deposit request with an end.
type Charge struct {
	ChargeID   string    `json:"chargeID"`
	Currency   string    `json:"currency"`
	Address    string    `json:"address"`
	Minimum    string    `json:"minimum"` // the smallest amount of the one deposit that pays it
	Paid       bool      `json:"paid"`
	Expired    bool      `json:"expired"` // it ended unpaid
	Expires    int64     `json:"expires"` // seconds left at the time of the response
	Webhook    string    `json:"webhook"`
	Metadata   string    `json:"metadata"`
	DepositIDs []string  `json:"depositIDs"`
	CreatedAt  time.Time `json:"createdAt"`

	// The rest is set for charges whose deposits add up: Rule is "sum", and empty for others.
	Rule        string          `json:"rule"`
	Status      string          `json:"status"`
	Labels      []string        `json:"labels"`
	Attention   bool            `json:"attention"` // a payment waits for a resolution
	Version     int64           `json:"version"`   // drop what has a lower one than what you know
	Reference   string          `json:"reference"`
	Description string          `json:"description"`
	Customer    string          `json:"customer"`
	Required    Price           `json:"required"`
	Received    string          `json:"received"` // credited and counted, in the currency of Required, as the next three
	Pending     string          `json:"pending"`
	Due         string          `json:"due"`
	Over        string          `json:"over"`
	Tolerance   Tolerance       `json:"tolerance"`
	Late        string          `json:"late"`
	Other       string          `json:"other"`
	RateLock    int64           `json:"rateLock"` // seconds
	ExpiresAt   *time.Time      `json:"expiresAt"`
	Options     []ChargeOption  `json:"options"`
	Payments    []ChargePayment `json:"payments"`
	Refunds     []ChargeRefund  `json:"refunds"`
	Timeline    []ChargeMoment  `json:"timeline"`
	Redirect    ChargeRedirect  `json:"redirect"`
	Contact     string          `json:"contact"`
	Locale      string          `json:"locale"`
	LinkFormat  string          `json:"linkFormat"`
	Events      []string        `json:"events"`
	// where the payer pays; empty in events, and where there is no such page
	CheckoutURL string `json:"checkoutURL"`
	Returned    string `json:"returned"` // of Received: was too much and is refunded

	AttentionSince  *time.Time        `json:"attentionSince"` // nil: nothing waits
	RefundAddresses []RefundAddress   `json:"refundAddresses"`
	LinkID          string            `json:"linkID"`  // empty: it was made by no payment link
	Answers         map[string]string `json:"answers"` // of the payer, to the fields of the link
}

// NewCharge is a request for a charge.
type NewCharge struct {
	Currency string
	Webhook  string
	Metadata string
	Minimum  string        // empty: the currency's smallest deposit
	Life     time.Duration // whole seconds, a minute to 30 days; 0: an hour

	IdempotencyKey string // empty: a random one for this call
}

type chargeAnswer struct {
	Charge     Charge   `json:"charge"`
	Charges    []Charge `json:"charges"`
	NextCursor string   `json:"nextCursor"`
}

// CreateCharge makes a charge. Errors: UnsupportedCurrency, InvalidAmount, InvalidWebhook, BelowMinimum,
// InvalidRequest.
func (c *Client) CreateCharge(ctx context.Context, n NewCharge) (Charge, error) {
	values := map[string]any{"currency": n.Currency, "webhook": n.Webhook, "metadata": n.Metadata}
	if n.Minimum != "" {
		values["minimum"] = n.Minimum
	}
	if n.Life != 0 {
		values["expires"] = int64(n.Life / time.Second)
	}
	answer, err := call[chargeAnswer](ctx, c, request{
		method: http.MethodPost,
		path:   "charge",
		key:    n.IdempotencyKey,
		values: values,
	})
	return answer.Charge, err
}

// Charge returns a charge. The error is NotFound for one that is unknown or another account's.
func (c *Client) Charge(ctx context.Context, chargeID string) (Charge, error) {
	answer, err := call[chargeAnswer](ctx, c,
		request{method: http.MethodGet, path: "charge", values: map[string]any{"chargeID": chargeID}})
	return answer.Charge, err
}

// Charges lists the account's charges.
func (c *Client) Charges(ctx context.Context, p Page) (List[Charge], error) {
	answer, err := call[chargeAnswer](ctx, c,
		request{method: http.MethodGet, path: "account/charges", values: p.values(nil)})
	return List[Charge]{answer.Charges, answer.NextCursor}, err
}
