package api

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// requestsPath lists requests. Reading it is not logged where it succeeds: who follows the log would fill it.
const requestsPath = v1 + "account/requests"

// note has a request of the interface logged: what the service knows of it, and nothing that the client wrote. A path
// that is no endpoint's is left out, because anything may be in it.
func (a *api) note(r *http.Request, noted *store.LoggedRequest, status int) {
	if a.Requests == nil || !strings.HasPrefix(r.URL.Path, v1) || noted.Path == requestsPath && status < 400 {
		return
	}
	noted.Method = "other"
	if slices.Contains([]string{http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch,
		http.MethodDelete, http.MethodOptions}, r.Method) {
		noted.Method = r.Method
	}
	noted.Status, noted.Took = int64(status), a.DB.Now().Sub(noted.At)
	a.Requests.Note(*noted)
}

// requestView is a request as its account sees it.
type requestView struct {
	RequestID bursar.ID        `json:"requestID"`
	At        time.Time        `json:"at"`
	KeyID     bursar.ID        `json:"keyID"`
	Method    string           `json:"method"`
	Path      string           `json:"path"`
	Status    int64            `json:"status"`
	Code      bursar.ErrorCode `json:"code"`
	Millis    int64            `json:"milliseconds"`
	LeftOut   int64            `json:"leftOut"`
}

func viewRequest(r store.LoggedRequest) requestView {
	return requestView{
		RequestID: r.ID,
		At:        r.At,
		KeyID:     r.Key,
		Method:    r.Method,
		Path:      r.Path,
		Status:    r.Status,
		Code:      r.Code,
		Millis:    r.Took.Milliseconds(),
		LeftOut:   r.LeftOut,
	}
}

type requestsAnswer struct {
	Requests   []requestView `json:"requests"`
	NextCursor string        `json:"nextCursor,omitempty"`
}

// listRequests is GET account/requests.
func (a *api) listRequests(ctx context.Context, c *call) (any, error) {
	page := c.in.page(requestList)
	f := store.RequestFilter{Account: c.identity.Account}
	if status, sent := c.in.optional("status"); sent && !f.OfStatus(status) {
		c.in.refuse("status", "status must be a status such as 422, or a class of them such as 4xx")
	}
	f.ID, _ = c.in.optionalID("requestID")
	if path, sent := c.in.optional("path"); sent {
		f.Path = v1 + strings.Trim(strings.TrimPrefix(path, v1), "/")
		if a.routes[f.Path] == nil {
			c.in.refuse("path", "path must be the path of an endpoint, such as account/withdraw")
		}
	}
	if c.in.err != nil {
		return nil, c.in.err
	}
	answer := requestsAnswer{Requests: []requestView{}}
	err := a.DB.View(ctx, func(tx *store.Tx) error {
		list, err := tx.RequestLog().List(ctx, f, page)
		list, answer.NextCursor = cut(list, page, requestList, func(r store.LoggedRequest) int64 { return r.Number })
		for _, r := range list {
			answer.Requests = append(answer.Requests, viewRequest(r))
		}
		return err
	})
	return answer, err
}
