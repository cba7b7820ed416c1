package client

import (
	"context"
	"net/http"
	"time"
)

// LoggedRequest is a request that was made with one of the account's keys. Neither parameters nor bodies are kept.
type LoggedRequest struct {
	RequestID    string    `json:"requestID"`
	At           time.Time `json:"at"`
	KeyID        string    `json:"keyID"`
	Method       string    `json:"method"`
	Path         string    `json:"path"`
	Status       int       `json:"status"`
	Code         Code      `json:"code"` // of a refusal; empty: a success
	Milliseconds int64     `json:"milliseconds"`
	LeftOut      int64     `json:"leftOut"` // requests of the second before that are not in the list
}

// RequestFilter selects requests. The zero values select all.
type RequestFilter struct {
	Status    string // one, such as 422, or a class, such as 4xx
	Path      string // of an endpoint, with or without /api/v1/
	RequestID string
}

// Requests returns the list of what was asked with the account's keys, newest first, to call or to range over with All.
// A request appears within a second or two, and is kept for some days.
func (c *Client) Requests(f RequestFilter) func(context.Context, Page) (List[LoggedRequest], error) {
	values := filled(map[string]string{"status": f.Status, "path": f.Path, "requestID": f.RequestID})
	return func(ctx context.Context, p Page) (List[LoggedRequest], error) {
		answer, err := call[struct {
			Requests   []LoggedRequest `json:"requests"`
			NextCursor string          `json:"nextCursor"`
		}](ctx, c, request{method: http.MethodGet, path: "account/requests", values: p.values(values)})
		return List[LoggedRequest]{answer.Requests, answer.NextCursor}, err
	}
}
