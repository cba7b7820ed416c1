// Package rpc queries nodes for all chain adapters: JSON-RPC over HTTP and plain HTTP APIs.
//
// It owns the endpoints of one chain: their order, health, bounds, quotas, credentials and the decoding of the
// envelope. It does not know what a call means and never polls by itself. No goroutine outlives a call, except the
// probe of an endpoint that could not be reached: one for each such endpoint, for at most four seconds, while other
// endpoints serve calls.
//
// Invariants:
//   - An error that is a *Error (errors.As) or ErrNull is the answer of a node. Any other error of a call that was sent
//     means that its outcome is unknown. The two never mix: an *Error is never hidden inside ErrUnavailable. The other
//     errors of CallOptional are for calls that change nothing.
//   - Every call may be sent more than once, at most twice to one endpoint, and once more for each time that the
//     endpoint refused a batch with the call. Every call must be safe to repeat; sending a signed raw transaction is.
//   - No answer is accepted from an endpoint that Config.Check has not passed since its last fault, or through a new
//     connection that was made more than a few seconds after that check.
//   - Results are decoded while they arrive, into the caller's variable, which is cleared again if the answer turns out
//     to be invalid. Its contents are valid only if the call returned nil.
//   - Bodies, batches, connections, cool-downs and time are bounded. A credential of a URL is in no error, log line or
//     String.
//   - The only endpoint that could serve is tried again within two seconds, unless it asked for more (Retry-After).
package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// Client asks the endpoints of one chain. It is safe for concurrent use.
type Client struct {
	cfg    Config
	pool   *pool
	secret redactor
	http   http.RoundTripper
	nextID atomic.Uint64
	sizes  sizes
}

// New checks the configuration and returns a client. It sends nothing: nodes that are down do not prevent a start. The
// error about a bad URL names it by its position in the list and, where that is safe, by its host.
func New(cfg Config) (*Client, error) {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return nil, fmt.Errorf("configure rpc: %w", err)
	}
	endpoints, secret, err := parseEndpoints(cfg)
	if err != nil {
		return nil, fmt.Errorf("configure rpc: %w", err)
	}
	return &Client{cfg: cfg, pool: newPool(cfg, endpoints), secret: secret, http: cfg.HTTP}, nil
}

// Call calls one JSON-RPC method and decodes its result into out. The endpoints are tried in order of health until one
// answers; each gets Config.Timeout.
//
// out is a pointer, or nil when the result does not matter. It is overwritten, never merged into. A *jsontext.Value or
// *[]byte receives the raw result. A null result is an ErrNull unless out is raw or points to a pointer or an
// interface: a null list is not an empty list.
//
// Errors: *Error when a node answered with one; ErrUnavailable when no endpoint gave an answer; the context's own
// error.
func (c *Client) Call(ctx context.Context, method string, params []any, out any) error {
	return c.call(ctx, c, method, params, out)
}

// Batch calls several methods in JSON-RPC batches of at most Config.MaxBatch. Each request gets its own Err. The
// returned error is nil when every request was answered, even if by an *Error of its own; otherwise the requests that
// were not answered have that error in Err too. The batches of one Batch may be answered by different endpoints: Pin
// keeps them on one.
func (c *Client) Batch(ctx context.Context, requests []*Request) error {
	return c.batch(ctx, c, requests)
}

// Get reads path (with an optional query) below the endpoint's URL and decodes the JSON answer into out as Call does.
// Statuses 400 to 499 that carry JSON are an *Error whose Code is the status.
func (c *Client) Get(ctx context.Context, path string, out any) error {
	return c.rest(ctx, c, http.MethodGet, path, nil, out)
}

// Post sends body as JSON to path and decodes the answer as Get does. An empty path is the endpoint's URL itself.
func (c *Client) Post(ctx context.Context, path string, body, out any) error {
	return c.rest(ctx, c, http.MethodPost, path, body, out)
}

// Stats returns the state of every endpoint, in configured order.
func (c *Client) Stats() []EndpointStats { return c.pool.stats() }

// Close closes idle connections. The client stays usable.
func (c *Client) Close() {
	if t, ok := c.http.(interface{ CloseIdleConnections() }); ok {
		t.CloseIdleConnections()
	}
}

// String names the endpoints without their credentials.
func (c *Client) String() string {
	names := make([]string, len(c.pool.endpoints))
	for i, e := range c.pool.endpoints {
		names[i] = e.name
	}
	return "rpc client of " + strings.Join(names, ", ")
}

// GoString is String: no format verb prints a credential.
func (c *Client) GoString() string { return c.String() }

// LogValue is String: no log line prints a credential.
func (c *Client) LogValue() slog.Value { return slog.StringValue(c.String()) }

// asker sends a question to an endpoint: a Client to any, a Session to its own.
type asker interface {
	do(ctx context.Context, op string, put putter) error
}

// putter sends a question to one endpoint that enter has returned.
type putter func(ctx context.Context, at place) error

// place is the endpoint that is asked, with the circumstances.
type place struct {
	*endpoint
	epoch    uint64
	checking bool // asked by Config.Check
	unsure   bool // another endpoint received the question before, and its outcome is unknown
}

// putting returns the putter of a single question.
func (c *Client) putting(q question) putter {
	return func(ctx context.Context, at place) error { return c.attempt(ctx, at, q) }
}

// do sends the question to one endpoint after another until one answers.
func (c *Client) do(ctx context.Context, op string, put putter) error {
	return c.each(ctx, op, func(e *endpoint, unsure bool) error {
		epoch, err := c.enter(ctx, e)
		if err != nil {
			return err
		}
		return put(ctx, place{endpoint: e, epoch: epoch, unsure: unsure})
	})
}

// each runs f with the endpoints in order of health until one run does not end in a fault. When all endpoints that
// were up have failed, those whose cool-down has become shorter because of that are tried too.
func (c *Client) each(ctx context.Context, op string, f func(e *endpoint, unsure bool) error) error {
	var tried []*endpoint
	failed := &unavailableError{op: op}
	unsure := false
	for {
		usable, coolingDown := c.pool.candidates()
		if len(tried) == 0 && len(coolingDown) > 0 {
			c.probe()
		}
		left := slices.DeleteFunc(usable, func(e *endpoint) bool { return slices.Contains(tried, e) })
		if len(left) == 0 {
			failed.add(coolingDown)
			return failed
		}
		for _, e := range left {
			err := f(e, unsure)
			if err == nil {
				return nil
			}
			var ft *fault
			if !errors.As(err, &ft) {
				return fmt.Errorf("%s: %w", op, err)
			}
			unsure = unsure || ft.sent
			tried = append(tried, e)
			failed.faults = append(failed.faults, endpointFault{e.name, ft})
		}
	}
}

// attempt sends the question to one endpoint that enter has returned, and updates its health.
func (c *Client) attempt(ctx context.Context, at place, q question) error {
	if err := c.withinQuota(ctx, at, q.calls); err != nil {
		var ft *fault
		if errors.As(err, &ft) && !at.checking {
			c.pool.blame(at.endpoint, at.epoch, ft)
		}
		return err
	}
	started := c.cfg.Now()
	q.unsure, q.checking = at.unsure, at.checking
	fresh, err := c.exchange(ctx, at.endpoint, q)
	var ft *fault
	if fresh && !q.checking && !errors.As(err, &ft) && ctx.Err() == nil {
		if failed := c.reverify(ctx, at.endpoint); failed != nil {
			q.discard()
			err = failed
		}
	}
	if q.optional {
		err = c.evaluate(ctx, at, q, err)
	}
	c.pool.count(at.endpoint, err == nil)
	switch {
	case at.checking: // the caller of the check evaluates it as a whole
	case errors.As(err, &ft):
		c.pool.blame(at.endpoint, at.epoch, ft)
	case err != nil && !q.optional && errors.Is(ctx.Err(), context.DeadlineExceeded) &&
		c.cfg.Now().Sub(started) >= c.cfg.Timeout/2:
		// The caller's own deadline ended the wait, but this endpoint was silent for long: without blame a hung node would
		// always be asked first by callers with short deadlines.
		c.pool.blame(at.endpoint, at.epoch, &fault{text: "no answer before the caller's deadline"})
	}
	return err
}
