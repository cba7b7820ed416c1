package notice

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"github.com/bursar/bursar/netpolicy"
)

const connectTime = 10 * time.Second

// Hook sends messages to a URL in the form of a chat program. It follows no redirect and uses no proxy. It is safe for
// concurrent use.
type Hook struct {
	url    string
	format Format
	token  func() (string, error) // of Matrix; nil: none
	http   *http.Client
}

// NewHook returns a transport. The URL may contain a secret and is in no error. A token, if there is one, is read for
// each message. security is nil for the system's authorities.
func NewHook(address string, format Format, token func() (string, error), security *tls.Config) *Hook {
	dialer := &net.Dialer{Timeout: connectTime}
	dial := func(ctx context.Context, network, to string) (net.Conn, error) {
		return loopback(dialer)(ctx, network, to)
	}
	if u, err := url.Parse(address); err == nil && u.Scheme == "https" {
		dial = dialer.DialContext
	}
	return &Hook{address, format, token, &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            dial,
			TLSClientConfig:        security,
			ForceAttemptHTTP2:      true,
			TLSHandshakeTimeout:    connectTime,
			MaxResponseHeaderBytes: 32 << 10,
			DisableKeepAlives:      true, // messages are rare
		}}}
}

// Send implements Transport. Any status from 200 to 299 means that the message was taken.
func (h *Hook) Send(ctx context.Context, m Message) error {
	method, address, body := http.MethodPost, h.url, h.format.body(m)
	if h.format == Matrix { // the transaction ID keeps a repetition from becoming a second message
		method, address = http.MethodPut, h.url+"/"+url.PathEscape(m.ID)
	}
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	r, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(text))
	if err != nil {
		return errors.New("the URL of the receiver cannot be used")
	}
	r.Header.Set("Content-Type", "application/json")
	if h.token != nil {
		token, err := h.token()
		if err != nil {
			return err
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	response, err := h.http.Do(r)
	if err != nil {
		return netpolicy.WithoutURL(err)
	}
	defer response.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(response.Body, 1<<16))
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return fmt.Errorf("the receiver answered with status %d", response.StatusCode)
	}
	return nil
}

// Check implements Transport: it connects. Only a message shows whether messages are accepted.
func (h *Hook) Check(ctx context.Context) (string, error) {
	u, err := url.Parse(h.url)
	if err != nil {
		return "", errors.New("the URL of the receiver cannot be used")
	}
	root := url.URL{Scheme: u.Scheme, Host: u.Host, Path: "/"}
	r, err := http.NewRequestWithContext(ctx, http.MethodHead, root.String(), nil)
	if err != nil {
		return "", errors.New("the URL of the receiver cannot be used")
	}
	response, err := h.http.Do(r)
	if err != nil {
		return "", netpolicy.WithoutURL(err)
	}
	return u.Host + " answers", response.Body.Close()
}
