package rpc

import (
	"bytes"
	"compress/gzip"
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

// question is one HTTP exchange with whichever endpoint is asked.
type question struct {
	op       string // what the caller wanted, for errors: "call getblock"
	method   string
	path     string
	body     []byte
	read     func(reply) error // nil: the answer was delivered; *fault: it is unsound; else the error that is the answer
	checking bool              // asked by Config.Check
	unsure   bool              // an endpoint asked before may have acted on it
}

// reply is a whole answer with a status that may carry one.
type reply struct {
	status     int
	body       []byte
	retryAfter time.Duration
	fresh      bool // it came through a connection made for it
	unsure     bool
}

// exchange sends the question and reads the answer within Config.Timeout. Its error is a *fault, or the context's error
// when that is what ended it.
func (c *Client) exchange(ctx context.Context, e *endpoint, q question) (reply, error) {
	limited, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	r, stale, err := c.roundTrip(limited, e, q)
	if stale && limited.Err() == nil {
		// The node closed an idle connection, or was restarted. That is no illness: ask once more through a new one.
		c.Close()
		r, _, err = c.roundTrip(limited, e, q)
	}
	switch {
	case err == nil:
		return r, nil
	case ctx.Err() != nil:
		return reply{}, fmt.Errorf("%s: %w", e.name, ctx.Err())
	case limited.Err() != nil:
		return reply{}, &fault{text: fmt.Sprintf("no whole answer within %v", c.cfg.Timeout), sent: true}
	}
	return reply{}, err
}

// roundTrip is one HTTP request and answer. stale reports that a kept connection broke before any answer came.
func (c *Client) roundTrip(ctx context.Context, e *endpoint, q question) (r reply, stale bool, err error) {
	var reused, fresh atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GotConn: func(conn httptrace.GotConnInfo) {
		reused.Store(conn.Reused)
		fresh.Store(!conn.Reused)
	}})
	req, err := c.newRequest(ctx, e, q)
	if err != nil {
		return reply{}, false, err
	}
	// The transport itself, not http.Client: it follows no redirect, keeps no cookie, and puts no URL into its errors.
	resp, err := c.http.RoundTrip(req)
	if err != nil {
		return reply{}, reused.Load(), c.transportFault(err)
	}
	defer resp.Body.Close()
	r, err = c.receive(resp)
	r.fresh = fresh.Load()
	return r, false, err
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

// target is the address's URL with path below it. Its own query, which may hold a key, is kept.
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
		return nil, fmt.Errorf("path %s leads out of the endpoint", quote(path))
	}
	u.RawPath = strings.TrimSuffix(u.EscapedPath(), "/") + below.EscapedPath()
	u.Path = strings.TrimSuffix(u.Path, "/") + below.Path
	if u.RawQuery != "" && below.RawQuery != "" {
		u.RawQuery += "&"
	}
	u.RawQuery += below.RawQuery
	return &u, nil
}

// transportFault describes why no answer came. Only a failure to connect is certain to have told the node nothing.
func (c *Client) transportFault(err error) *fault {
	var op *net.OpError
	var dns *net.DNSError
	dialling := errors.As(err, &op) && op.Op == "dial" || errors.As(err, &dns)
	return &fault{text: plain(c.secret.text(err.Error())), sent: !dialling}
}

// receive reads the whole body of an answer, unless its status says that there is none.
func (c *Client) receive(resp *http.Response) (reply, error) {
	r := reply{status: resp.StatusCode, retryAfter: retryAfter(resp.Header.Get("Retry-After"), c.cfg.Now())}
	if why := noAnswer(resp.StatusCode); why != "" {
		excerpt, _ := io.ReadAll(io.LimitReader(resp.Body, 2<<10))
		return r, c.unsound(reply{body: excerpt, status: r.status, retryAfter: r.retryAfter}, why)
	}
	body, err := readBounded(resp, c.cfg.MaxBody)
	if err != nil {
		return r, c.unsound(r, err.Error())
	}
	r.body = body
	return r, nil
}

// noAnswer tells why a status cannot carry a node's answer, or "". JSON-RPC error objects under 429, 401 or 403 are the
// words of a gateway about the caller, not of a node about the call: taking one for a node's refusal of a transaction
// would be wrong.
func noAnswer(status int) string {
	switch {
	case status >= 300 && status < 400:
		return "redirect refused"
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return "credentials refused"
	case status == http.StatusPaymentRequired, status == http.StatusTooManyRequests:
		return "too many requests"
	case status == http.StatusRequestTimeout, status == http.StatusTooEarly, status > http.StatusInternalServerError:
		return "failing"
	}
	return ""
}

var (
	errHuge     = errors.New("the answer is larger than the bound")
	errEncoding = errors.New("the answer has an encoding that was not asked for")
)

// trustedLength is the largest promised Content-Length that is allocated before a byte of it came.
const trustedLength = 4 << 20

// readBounded reads the body, unpacked. At most limit+1 bytes are read from the wire and at most as many unpacked.
func readBounded(resp *http.Response, limit int64) ([]byte, error) {
	if resp.ContentLength > limit {
		return nil, fmt.Errorf("%w of %d bytes", errHuge, limit)
	}
	var src io.Reader = io.LimitReader(resp.Body, limit+1)
	switch strings.ToLower(resp.Header.Get("Content-Encoding")) {
	case "", "identity":
	case "gzip":
		unpacked, err := gzip.NewReader(src)
		if err != nil {
			return nil, fmt.Errorf("unpack the answer: %w", err)
		}
		src = io.LimitReader(unpacked, limit+1)
	default:
		return nil, errEncoding
	}
	body, err := readAll(src, resp.ContentLength)
	if int64(len(body)) > limit {
		return nil, fmt.Errorf("%w of %d bytes", errHuge, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("the answer broke off after %d bytes: %w", len(body), err)
	}
	return body, nil
}

// readAll reads at once into the right size what promises to be small, and what does not as it comes.
func readAll(src io.Reader, promised int64) ([]byte, error) {
	if promised <= 0 || promised > trustedLength {
		return io.ReadAll(src)
	}
	body := bytes.NewBuffer(make([]byte, 0, promised+bytes.MinRead))
	_, err := body.ReadFrom(src)
	return body.Bytes(), err
}

// retryAfter parses the header's two forms, seconds and a date; what it cannot read is no wish.
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

// unsound is the fault of an endpoint whose answer is not one. It shows the beginning of what came instead.
func (c *Client) unsound(r reply, why string) *fault {
	text := c.secret.text(why)
	if r.status != http.StatusOK {
		text = fmt.Sprintf("HTTP %d: %s", r.status, text)
	}
	if excerpt := bytes.TrimSpace(r.body); len(excerpt) > 0 {
		text += ": " + quote(c.secret.text(string(excerpt[:min(len(excerpt), 2<<10)])))
	}
	// 429 is given before the question is passed on. Everything else may have come after a node acted.
	return &fault{text: text, retryAfter: r.retryAfter, sent: r.status != http.StatusTooManyRequests}
}
