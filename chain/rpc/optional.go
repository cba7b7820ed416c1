package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
)

// The errors of CallOptional besides *Error, ErrNull and ErrUnavailable. None of these is a fault of the endpoint.
var (
	// ErrNotOffered: the endpoint does not offer the method, by code, HTTP status or a message about the plan.
	ErrNotOffered = errors.New("the endpoint does not offer this method")
	// ErrTooLarge: the answer exceeded the bound, ours or the node's.
	ErrTooLarge = errors.New("the answer is too large")
	// ErrTooSlow: no complete answer within the time limit, ours or the node's.
	ErrTooSlow = errors.New("the answer takes too long")
	// ErrUnsound: the answer is invalid, or the connection broke, while the endpoint answers ordinary calls.
	ErrUnsound = errors.New("the answer is invalid")
)

// Declined reports whether an error of CallOptional says that the method gave no result this time, while the endpoint
// is healthy: a *Error, ErrNull, ErrNotOffered, ErrTooLarge, ErrTooSlow or ErrUnsound. Others are ErrUnavailable or
// the context's.
func Declined(err error) bool {
	var answer *Error
	var d *declined
	return errors.As(err, &answer) || errors.As(err, &d) || errors.Is(err, ErrNull)
}

// declined is one of the errors above with the endpoint's reason, free of credentials.
type declined struct {
	kind   error
	reason string
}

func (d *declined) Error() string { return d.kind.Error() + ": " + d.reason }

func (d *declined) Unwrap() error { return d.kind }

// CallOptional calls a method that not every endpoint offers, or that may fail for a single block, such as a trace.
// out is as in Call. Besides *Error and ErrNull it returns
//   - ErrNotOffered, which is remembered for this endpoint and method for 10 minutes, or until a cool-down;
//   - ErrTooLarge, ErrTooSlow, ErrUnsound.
//
// None of these puts the endpoint into a cool-down or breaks the session: only the call has failed, as long as the
// endpoint passes its check right afterwards. Too many calls (429) and an endpoint that fails its check are faults as
// in Call. A method that ends in a fault three times in a row counts as not offered.
func (s *Session) CallOptional(ctx context.Context, method string, params []any, out any) error {
	q, err := s.client.optionalQuestion(method, params, out)
	if err != nil {
		return err
	}
	return s.do(ctx, q.op, s.client.puttingOptional(q))
}

// CallOptional is Session.CallOptional through one endpoint after another, until one answers with a result, *Error or
// ErrNull. Endpoints that are known not to offer the method are not asked. The error is that of the last endpoint that
// declined, or ErrUnavailable if none declined.
func (c *Client) CallOptional(ctx context.Context, method string, params []any, out any) error {
	q, err := c.optionalQuestion(method, params, out)
	if err != nil {
		return err
	}
	put := c.puttingOptional(q)
	var last error
	err = c.do(ctx, q.op, func(ctx context.Context, at place) error {
		err := put(ctx, at)
		var d *declined
		if errors.As(err, &d) {
			last = fmt.Errorf("%s: %s: %w", q.op, at.name, err)
			return &fault{text: d.Error()} // go on to the next; this is no blame
		}
		return err
	})
	if last != nil && errors.Is(err, ErrUnavailable) {
		return last
	}
	return err
}

// Offers reports what is known about this endpoint: whether the method was answered or refused since its last
// cool-down.
func (s *Session) Offers(method string) (known, offered bool) {
	o, known := s.client.pool.offer(s.endpoint, method)
	return known, known && o.offered
}

func (c *Client) optionalQuestion(method string, params []any, out any) (question, error) {
	q, err := c.callQuestion(method, params, out)
	q.optional, q.rpcMethod = true, method
	return q, err
}

func (c *Client) puttingOptional(q question) putter {
	return func(ctx context.Context, at place) error {
		if o, known := c.pool.offer(at.endpoint, q.rpcMethod); known && !o.offered {
			return &declined{ErrNotOffered, o.reason}
		}
		return c.attempt(ctx, at, q)
	}
}

// evaluate decides whether the outcome of an optional call is about the method or about the endpoint. Only in the
// second case it stays a fault.
func (c *Client) evaluate(ctx context.Context, at place, q question, err error) error {
	var d *declined
	var answer *Error
	var ft *fault
	switch {
	case err == nil, errors.Is(err, ErrNull), errors.As(err, &answer):
		c.pool.learn(at, q.rpcMethod, offer{offered: true})
		return err
	case errors.As(err, &d):
		return c.decline(at, q, d, err)
	case !errors.As(err, &ft) || ctx.Err() != nil:
		return err
	case ft.unreached:
		return err
	}
	d = &declined{kindOf(ft), ft.text}
	if d.kind == nil || d.kind == ErrUnsound {
		// This counts against the method too: otherwise a chain would stop at a call that crashes its endpoint each time.
		c.pool.strike(at, q.rpcMethod, ft.text)
	}
	if d.kind == nil || !c.wellAfter(ctx, at, d.kind) {
		return err
	}
	return c.decline(at, q, d, d)
}

// decline records a refusal. A method whose answer was too large or too slow still counts as offered: the next block's
// may fit.
func (c *Client) decline(at place, q question, d *declined, err error) error {
	switch d.kind {
	case ErrNotOffered:
		c.pool.learn(at, q.rpcMethod, offer{reason: d.reason})
		c.cfg.Log.Info("node endpoint does not offer a method", slog.String("endpoint", at.name),
			slog.String("method", q.rpcMethod),
			slog.String("reason", d.reason))
	case ErrTooLarge, ErrTooSlow:
		c.pool.learn(at, q.rpcMethod, offer{offered: true})
	}
	return err
}

// wellAfter reports whether the endpoint passes its check now, as after a reconnect: withdrawn credentials are refused
// for every call. An answer that is too large or too slow is proof enough that the endpoint works.
func (c *Client) wellAfter(ctx context.Context, at place, kind error) bool {
	if at.checking || kind == ErrTooLarge || kind == ErrTooSlow {
		return true
	}
	_, err := c.verify(ctx, at.endpoint, c.cfg.Now().Add(1))
	return err == nil
}

// kindOf returns the error for a fault of an optional call while the endpoint is healthy, or nil if it stays a fault.
func kindOf(ft *fault) error {
	switch {
	case ft.limited, ft.unwell:
		return nil
	case ft.huge:
		return ErrTooLarge
	case ft.slow, ft.status == http.StatusRequestTimeout, ft.status == http.StatusGatewayTimeout, ft.status == 524:
		return ErrTooSlow
	case refuses(ft.status):
		return ErrNotOffered
	}
	return ErrUnsound
}

// refuses are the statuses by which gateways refuse a method. Whether they refuse every call is found by a check.
func refuses(status int) bool {
	switch status {
	case http.StatusBadRequest, http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden,
		http.StatusNotFound,
		http.StatusMethodNotAllowed, http.StatusNotImplemented, http.StatusUnavailableForLegalReasons:
		return true
	}
	return false
}

// mayRefuse reports whether question.read must see an error status: it may have the error object of an optional call,
// or be the refusal of a batch.
func mayRefuse(status int, q question) bool {
	switch {
	case status == http.StatusTooManyRequests, status == http.StatusProxyAuthRequired, status >= 300 && status < 400:
		return false
	}
	return q.optional || q.batch && status == http.StatusForbidden
}
