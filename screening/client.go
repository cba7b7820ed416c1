package screening

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"syscall"
	"time"

	"github.com/bursar/bursar/netpolicy"
)

// Bounds of one question.
const (
	maxReply       = 16 << 10 // of the body of a reply; an answer has less than 1 KiB
	maxReplyHeader = 32 << 10
	connectTime    = 10 * time.Second
)

// Reply is an answer as the screening service sends it: its text and the signature over it.
type Reply struct {
	Text      string `json:"text"`
	Signature string `json:"signature"`
}

// Question is a request as it is sent to the screening service.
type Question struct {
	Text string `json:"text"`
}

// Client asks the screening service over HTTP. It follows no redirect and uses no proxy. It is safe for concurrent use.
type Client struct {
	url    string
	within time.Duration
	http   *http.Client
}

// NewClient returns a client of a service at a URL, which may contain a user and a password. within bounds a whole
// question; allowed are networks besides public ones in which the service may be.
func NewClient(address string, within time.Duration, allowed []netip.Prefix) *Client {
	dialer := &net.Dialer{Timeout: connectTime, ControlContext: func(
		_ context.Context, _, to string, _ syscall.RawConn,
	) error {
		at, err := netip.ParseAddrPort(to)
		if err != nil || !netpolicy.MayDial(at.Addr(), allowed) {
			return errNotAllowed
		}
		return nil
	}}
	return &Client{url: address, within: within, http: &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            dialer.DialContext,
			ForceAttemptHTTP2:      true,
			DisableCompression:     true,
			TLSHandshakeTimeout:    connectTime,
			MaxResponseHeaderBytes: maxReplyHeader,
			MaxIdleConnsPerHost:    atOnce,
			IdleConnTimeout:        time.Minute,
		}}}
}

var errNotAllowed = errors.New("the address of the screening service is not public: name its network in " +
	"screening.allow_networks")

// Ask sends a request and returns the reply, which nobody has verified yet. No error names the URL: it may contain a
// password.
func (c *Client) Ask(ctx context.Context, request string) (reply Reply, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.within)
	defer cancel()
	body, err := json.Marshal(Question{request})
	if err != nil {
		return reply, err
	}
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url, bytes.NewReader(body))
	if err != nil {
		return reply, errors.New("the URL of the screening service cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	response, err := c.http.Do(r)
	if err != nil {
		return reply, netpolicy.WithoutURL(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return reply, fmt.Errorf("the screening service replied with status %d, want 200", response.StatusCode)
	}
	text, err := io.ReadAll(io.LimitReader(response.Body, maxReply+1))
	switch {
	case err != nil:
		return reply, fmt.Errorf("read its reply: %w", err)
	case len(text) > maxReply:
		return reply, fmt.Errorf("the screening service's reply has more than %d bytes", maxReply)
	case json.Unmarshal(text, &reply) != nil:
		return Reply{}, errors.New("the screening service's reply is not the JSON that is documented")
	}
	return reply, nil
}
