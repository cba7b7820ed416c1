package client

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// maxAnswer is the maximum size of a response: a thousand deposits with the longest metadata are far smaller.
const maxAnswer = 64 << 20

// request is one call of an endpoint.
type request struct {
	method, path string // the path after /api/v1/
	values       map[string]any
	key          string // Idempotency-Key; empty: a random one
	secret       bool   // send X-API-SECRET
	signature    string // Bursar-Signature; empty: none
}

// envelope is the form of every response.
type envelope struct {
	Success   bool            `json:"success"`
	Response  json.RawMessage `json:"response"`
	Error     refusal         `json:"error"`
	RequestID string          `json:"requestID"`
}

// refusal is an error as the service writes it.
type refusal struct {
	Code    Code   `json:"code"`
	Message string `json:"message"`
	Field   string `json:"field"`
	Docs    string `json:"docs"`

	Permission string `json:"permission"`
}

// call sends a request, repeats it where that is safe and may help, and decodes the response into a value.
func call[T any](ctx context.Context, c *Client, r request) (response T, err error) {
	target, body, err := r.encode(c.base)
	if err != nil {
		return response, err
	}
	if r.method != http.MethodGet && r.key == "" {
		r.key = drawKey()
	}
	raw, err := c.insist(ctx, func() (json.RawMessage, error) { return c.once(ctx, r, target, body) })
	if err != nil {
		return response, fmt.Errorf("bursar: %s %s: %w", r.method, r.path, err)
	}
	if err := json.Unmarshal(raw, &response); err != nil {
		return response, fmt.Errorf("bursar: %s %s: read the response: %w", r.method, r.path, err)
	}
	return response, nil
}

// filled returns the parameters that are not empty.
func filled(texts map[string]string) map[string]any {
	values := map[string]any{}
	for name, text := range texts {
		if text != "" {
			values[name] = text
		}
	}
	return values
}

// encode writes the parameters of a GET as a query and those of a change as a JSON body.
func (r request) encode(base string) (target string, body []byte, err error) {
	target = base + "/api/v1/" + r.path
	if r.method != http.MethodGet {
		body, err = json.Marshal(r.values)
		if err != nil {
			return "", nil, fmt.Errorf("bursar: %s %s: write the body: %w", r.method, r.path, err)
		}
		return target, body, nil
	}
	query := url.Values{}
	for name, v := range r.values {
		query.Set(name, fmt.Sprint(v))
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	return target, nil, nil
}

// once makes one attempt. Its error is an *Error for a response that is no success; any other error is a failed
// exchange.
func (c *Client) once(ctx context.Context, r request, target string, body []byte) (json.RawMessage, error) {
	h, err := http.NewRequestWithContext(ctx, r.method, target, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	h.Header.Set("X-API-KEY", c.config.Key)
	h.Header.Set("Accept", "application/json")
	if body != nil {
		h.Header.Set("Content-Type", "application/json")
		h.Header.Set("Idempotency-Key", r.key)
	}
	if r.secret && c.config.Secret != "" {
		h.Header.Set("X-API-SECRET", c.config.Secret)
	}
	if r.signature != "" {
		h.Header.Set(signatureHeader, r.signature)
	}
	response, err := c.http.Do(h)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("read the response: %w", err)
	}
	return open(response, text)
}

// plainPage is a page that is not JSON.
type plainPage struct {
	Text       string `json:"text"`
	NextCursor string `json:"nextCursor"`
}

// open returns the content of a success, and an *Error for every other response.
func open(response *http.Response, text []byte) (json.RawMessage, error) {
	if response.StatusCode == http.StatusOK && strings.HasPrefix(response.Header.Get("Content-Type"), "text/csv") &&
		len(text) <= maxAnswer {
		return json.Marshal(plainPage{string(text), response.Header.Get("Bursar-Next-Cursor")})
	}
	var e envelope
	err := json.Unmarshal(text, &e)
	if response.StatusCode == http.StatusOK && err == nil && e.Success && len(e.Response) > 0 {
		return e.Response, nil
	}
	refusal := &Error{Status: response.StatusCode, RequestID: response.Header.Get("X-Request-ID"),
		RetryAfter: retryAfter(response.Header)}
	if err == nil && !e.Success && e.Error.Code != "" {
		refusal.Code, refusal.Message = e.Error.Code, e.Error.Message
		refusal.Field, refusal.Docs, refusal.Permission = e.Error.Field, e.Error.Docs, e.Error.Permission
		return nil, refusal
	}
	refusal.Message = "the response is not from this service"
	if len(text) > maxAnswer {
		refusal.Message = "the response is too long"
	}
	return nil, refusal
}

// retryAfter reads a number of seconds, or a date, which proxies may send, by the response's own clock.
func retryAfter(h http.Header) time.Duration {
	value := h.Get("Retry-After")
	if seconds, err := strconv.Atoi(value); err == nil && seconds >= 0 && seconds < 1<<30 {
		return time.Duration(seconds) * time.Second
	}
	until, err := http.ParseTime(value)
	now, err2 := http.ParseTime(h.Get("Date"))
	if err != nil || err2 != nil {
		return 0
	}
	return max(0, until.Sub(now))
}
