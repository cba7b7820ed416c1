package client

import (
	"context"
	"net/http"
	"strings"
	"time"
)

// RefundAddress is where a payer wants the payments of a currency refunded to: their own word, until you refund to it.
type RefundAddress struct {
	Currency   string    `json:"currency"`
	Address    string    `json:"address"`
	Tag        string    `json:"tag"` // the address's memo, where it has one
	ProposedAt time.Time `json:"proposedAt"`
	Named      int       `json:"named"`  // how often one was named: above 1, it took the place of another
	Locked     bool      `json:"locked"` // a payment of the currency is refunded
}

// Link is a reusable template of charges: each payer who submits its page gets a charge of their own.
type Link struct {
	LinkID        string     `json:"linkID"`
	Token         string     `json:"token"` // opens its page
	Currencies    []string   `json:"currencies"`
	PriceCurrency string     `json:"priceCurrency"`
	Amount        string     `json:"amount"` // empty: each payer says how much
	Fields        []string   `json:"fields"`
	MaxUses       int64      `json:"maxUses"` // 0: no bound
	Expires       int64      `json:"expires"` // seconds that each charge lasts
	Description   string     `json:"description"`
	Webhook       string     `json:"webhook"`
	Metadata      string     `json:"metadata"`
	CreatedAt     time.Time  `json:"createdAt"`
	ClosesAt      *time.Time `json:"closesAt"` // nil: never by itself
	ClosedAt      *time.Time `json:"closedAt"` // nil unless you closed it
}

// NewLink is a request for a payment link: the terms of its charges, of which Reference and Customer are not used.
// Without Amount and Price each payer says how much.
type NewLink struct {
	NewSum
	Fields  []string // what each payer is asked for, at most 10
	MaxUses int64    // 0: no bound
	Closes  time.Time
}

type linkAnswer struct {
	Link       Link   `json:"link"`
	Links      []Link `json:"links"`
	NextCursor string `json:"nextCursor"`
}

// CreateLink makes a payment link. Errors: UnsupportedCurrency, InvalidAmount, InvalidWebhook, BelowMinimum,
// InvalidRequest.
func (c *Client) CreateLink(ctx context.Context, n NewLink) (Link, error) {
	n.Reference, n.Customer = "", ""
	values := n.NewSum.values()
	if len(n.Fields) > 0 {
		values["fields"] = strings.Join(n.Fields, ",")
	}
	if n.MaxUses != 0 {
		values["maxUses"] = n.MaxUses
	}
	if !n.Closes.IsZero() {
		values["closesAt"] = n.Closes.UTC().Format(time.RFC3339Nano)
	}
	answer, err := call[linkAnswer](ctx, c, request{
		method: http.MethodPost,
		path:   "link",
		key:    n.IdempotencyKey,
		values: values,
	})
	return answer.Link, err
}

// Link returns a payment link. The error is NotFound for one that is unknown or another account's.
func (c *Client) Link(ctx context.Context, linkID string) (Link, error) {
	answer, err := call[linkAnswer](ctx, c,
		request{method: http.MethodGet, path: "link", values: map[string]any{"linkID": linkID}})
	return answer.Link, err
}

// CloseLink ends a payment link for ever. Its charges stay as they are.
func (c *Client) CloseLink(ctx context.Context, linkID string) (Link, error) {
	answer, err := call[linkAnswer](ctx, c,
		request{method: http.MethodPost, path: "link/close", values: map[string]any{"linkID": linkID}})
	return answer.Link, err
}

// LinkFilter says which payment links to list. An empty field does not restrict; several must all match.
type LinkFilter struct {
	Open     string // "true": those that make charges now; "false": those that were closed or have ended
	Currency string // in which their charges can be paid
	Metadata string // exactly
	From     time.Time
	To       time.Time
}

// LinksBy returns a list of the payment links that a filter selects, to call or to range over with All.
func (c *Client) LinksBy(f LinkFilter) func(context.Context, Page) (List[Link], error) {
	values := set(map[string]string{"open": f.Open, "currency": f.Currency, "metadata": f.Metadata,
		"from": moment(f.From), "to": moment(f.To)})
	return func(ctx context.Context, p Page) (List[Link], error) {
		answer, err := call[linkAnswer](ctx, c,
			request{method: http.MethodGet, path: "account/links", values: p.values(values)})
		return List[Link]{answer.Links, answer.NextCursor}, err
	}
}

// Links lists the account's payment links.
func (c *Client) Links(ctx context.Context, p Page) (List[Link], error) {
	return c.LinksBy(LinkFilter{})(ctx, p)
}
