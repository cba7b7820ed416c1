package rpc

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// question is one HTTP exchange, with any endpoint.
type question struct {
	op        string // the caller's operation, for errors: "call getblock"
	method    string
	path      string
	body      []byte
	calls     int               // how many calls it has: quotas count these
	limit     int64             // bytes of the answer; 0 is Config.MaxBody
	read      func(reply) error // nil: the answer was delivered; *fault: it is invalid; else the error that is the answer
	discard   func()            // clears what read delivered
	checking  bool              // asked by Config.Check
	unsure    bool              // an endpoint that was asked before may have acted on it
	optional  bool              // asked by CallOptional
	rpcMethod string            // of an optional call
	batch     bool              // a list of calls
}

// reply is an HTTP response with a status that may have an answer. question.read reads its body from the connection.
type reply struct {
	status     int
	stream     *body
	body       []byte // the body, once it was read as a whole
	retryAfter time.Duration
	unsure     bool
	optional   bool
	batch      int // calls in the list that was asked; 0: none
	meter      *meter
}

// whole reads the body into memory.
func (r *reply) whole() error {
	body, err := r.stream.whole()
	r.meter.add(int64(len(body)))
	if err == nil {
		r.body = body
	}
	return err
}

// excerpt returns the beginning of the body.
func (r *reply) excerpt() []byte {
	if r.body != nil || r.stream == nil {
		return r.body[:min(len(r.body), excerptLength)]
	}
	return r.stream.excerpt
}

// failure returns why the body broke off, or nil.
func (r *reply) failure() error {
	if r.stream == nil {
		return nil
	}
	return r.stream.failed
}

// exchange sends the question, reads the answer within Config.Timeout and returns the result of question.read. fresh
// reports that the answer came through a new connection. The error is a *fault if there was no valid answer, the
// context's error if that ended it, or the answer.
func (c *Client) exchange(ctx context.Context, e *endpoint, q question) (fresh bool, err error) {
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	fresh, stale, err := c.roundTrip(limited, e, q)
	if stale && limited.Err() == nil {
		// The node closed an idle connection, or was restarted. That is not a fault: ask once more through a new one.
		c.Close()
		fresh, _, err = c.roundTrip(limited, e, q)
	}
	var ft *fault
	late := limited.Err() != nil // read first: whether the caller's context has ended is then certain below
	switch {
	case !errors.As(err, &ft):
		return fresh, err
	case ctx.Err() != nil:
		return fresh, fmt.Errorf("%s: %w", e.name, ctx.Err())
	case late:
		return fresh, &fault{text: fmt.Sprintf("no complete answer within %v", c.cfg.Timeout), sent: true, slow: true}
	}
	return fresh, err
}

// roundTrip makes one HTTP request and reads the answer. stale reports that a kept connection broke before any answer
// came.
func (c *Client) roundTrip(ctx context.Context, e *endpoint, q question) (fresh, stale bool, err error) {
	var reused, made atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(conn httptrace.GotConnInfo) {
		reused.Store(conn.Reused)
		made.Store(!conn.Reused)
	}})
	req, err := c.newRequest(ctx, e, q)
	if err != nil {
		return false, false, err
	}
	// The transport is used directly and not an http.Client: it follows no redirect, keeps no cookie, and puts no URL
	// into its errors.
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		return false, reused.Load(), c.transportFault(err)
	}
	defer resp.Body.Close()
	return made.Load(), false, c.receive(ctx, resp, q)
}

func (c *Client) newRequest(ctx context.Context, e *endpoint, q question) (*http.Request, error) {
	at := e.branchOf(q.path)
	target, err := at.target(q.path)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, q.method, "", bytes.NewReader(q.body))
	if err != nil {
		return nil, fmt.Errorf("make request: %w", err)
	}
	req.URL, req.Host = target, target.Host
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "bursar")
	req.Header.Set("Accept-Encoding", "identity")
	if e.gzip {
		req.Header.Set("Accept-Encoding", "gzip")
	}
	if q.method == http.MethodPost {
		req.Header.Set("Content-Type", "application/json")
	}
	if at.user != "" || at.password != "" {
		req.SetBasicAuth(at.user, at.password)
	}
	for name, value := range c.cfg.Headers {
		req.Header.Set(name, value)
	}
	return req, nil
}

// target returns the address's URL with path below it. The URL's own query, which may contain a key, is kept.
func (b branch) target(path string) (*url.URL, error) {
	u := b.url
	if path == "" {
		return &u, nil
	}
	below, err := url.Parse(path)
	if err != nil || below.Host != "" || below.Scheme != "" || below.Fragment != "" || !strings.HasPrefix(path, "/") {
		return nil, fmt.Errorf("path %s is not of the form /path?query", quote(path))
	}
	if strings.Contains(below.Path, "/..") {
		return nil, fmt.Errorf("path %s leads outside the endpoint", quote(path))
	}
	u.RawPath = strings.TrimSuffix(u.EscapedPath(), "/") + below.EscapedPath()
	u.Path = strings.TrimSuffix(u.Path, "/") + below.Path
	if u.RawQuery != "" && below.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += below.RawQuery
	return &u, nil
}

// transportFault describes why no answer came. Only after a failure to connect is it certain that the node did not
// receive the question.
func (c *Client) transportFault(err error) *fault {
	var op *net.OpError
	var dns *net.DNSError
	dialling := errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
	return &fault{text: plain(c.secret.text(err.Error())), sent: !dialling, unreached: dialling}
}

// receive passes the body of an answer to question.read, unless the status says that there is none.
func (c *Client) receive(ctx context.Context, resp *http.Response, q question) error {
	r := reply{status: resp.StatusCode, unsure: q.unsure, optional: q.optional, meter: meterOf(ctx)}
	if q.batch {
		r.batch = q.calls
	}
	r.retryAfter = retryAfter(resp.Header.Get("Retry-After"), c.cfg.Now())
	if why := noAnswer(resp.StatusCode); why != "" && !mayRefuse(resp.StatusCode, q) {
		r.body, _ = io.ReadAll(io.LimitReader(resp.Body, excerptLength))
		return c.noAnswerFault(r, why)
	}
	var err error
	if r.stream, err = newBody(resp, cmp.Or(q.limit, c.cfg.MaxBody)); err != nil {
		return c.unsound(r, err.Error())
	}
	return q.read(r)
}

// noAnswerFault returns the fault for a status without an answer. Some providers refuse too many calls with 403 or
// 503, and only the message says so: "The key exceeds the frequency limit(15), and the query server is suspended for
// 30s" (TronGrid).
func (c *Client) noAnswerFault(r reply, why string) *fault {
	if !quotaPhrases.in(string(r.body)) {
		return c.unsound(r, why)
	}
	if r.retryAfter == 0 && strings.Contains(string(r.body), "suspended for 30s") {
		r.retryAfter = 30 * time.Second
	}
	ft := c.unsound(r, "too many requests")
	ft.limited, ft.sent = true, false
	return ft
}

// noAnswer returns why a status cannot have a node's answer, or "". JSON-RPC error objects under 429, 401 or 403 come
// from a gateway and are about the caller, not from a node about the call: taking one for a node's refusal of a
// transaction would be wrong.
func noAnswer(status int) string {
	switch {
	case status >= 300 && status < 400:
		return "redirect refused"
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return "credentials refused (check the key or password, and what the provider permits for it)"
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests:
		return "too many requests"
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status > http.StatusInternalServerError:
		return "failing"
	}
	return ""
}

// retryAfter parses the header's two forms, seconds and a date; it returns 0 for any other.
func retryAfter(header string, now time.Time) time.Duration {
	if header == "" {
		return 0
	}
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, min(at.Sub(now), maxRetryAfter))
	}
	return 0
}

// unsound returns the fault of an endpoint whose answer is invalid. It shows the beginning of what came instead.
func (c *Client) unsound(r reply, why string) *fault {
	text := c.secret.text(why)
	if r.status != http.StatusOK {
		text = fmt.Sprintf("HTTP %d: %s", r.status, text)
	}
	if excerpt := bytes.TrimSpace(r.excerpt()); len(excerpt) > 0 {
		text += ": " + quote(c.secret.text(string(excerpt[:min(len(excerpt), 2<<10)])))
	}
	// 429 is sent before the question is passed on. Any other status may have come after a node acted.
	limited := r.status == http.StatusTooManyRequests
	huge := errors.Is(r.failure(), errHuge)
	return &fault{text: text, retryAfter: r.retryAfter, sent: !limited, limited: limited, huge: huge, status: r.status}
}
