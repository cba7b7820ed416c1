// Package client calls a Bursar service and verifies the webhooks that it sends.
//
// It owns the form of requests and responses, retries and their idempotency keys, signatures of webhooks, and the
// orders that an account signs. It never follows a redirect, so a key goes to the configured service only, and never
// turns an amount into a floating-point number: amounts are decimal texts. Its invariants: every POST and PUT carries
// an Idempotency-Key, the same in each attempt, so that a retry never makes a change twice; every call ends within its
// attempts, their waits and ctx; keys and secrets are in no error and are not printed.
//
// An error that is an [*Error] is the service's response: a change that was refused has not been made. After any other
// error the outcome of a change is not known. Repeat the call with the same idempotency key to learn it.
//
// The package needs the standard library only, and is the only one of its module whose API stays compatible.
package client

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Config says which service to call, with which key, and how often to retry.
type Config struct {
	BaseURL string // such as https://pay.example, without /api/v1
	Key     string `json:"-"` // the API key
	Secret  string `json:"-"` // the API secret, sent with withdrawals only; may be empty

	Orders *Orders // signs every withdrawal; nil: none is signed

	HTTP     *http.Client  // nil: one with a timeout of a minute for each attempt. Its redirects are switched off
	Attempts int           // of each call; 0: 4
	MaxWait  time.Duration // the longest wait between two attempts; 0: 30 s. A longer Retry-After ends the call
}

// String names the service and leaves out key and secret.
func (c Config) String() string { return "client of " + c.BaseURL }

// GoString returns String, so that %#v shows no key either.
func (c Config) GoString() string { return c.String() }

// Client calls one service as one account. It is safe for concurrent use.
type Client struct {
	config *Config // behind a pointer, so that no print of a Client shows a key
	base   string
	http   *http.Client
}

// New checks the configuration and returns a client. It sends no request.
func New(c Config) (*Client, error) {
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.RawQuery != "" || u.Fragment != "" ||
		u.User != nil {
		return nil, errors.New("client: BaseURL must be an http or https URL without user, query and fragment")
	}
	if c.Key == "" {
		return nil, errors.New("client: Key is empty")
	}
	if c.Orders != nil {
		if err := c.Orders.check(); err != nil {
			return nil, err
		}
	}
	if c.Attempts < 0 || c.MaxWait < 0 {
		return nil, fmt.Errorf("client: %d attempts with waits of up to %v are not possible", c.Attempts, c.MaxWait)
	}
	if c.Attempts == 0 {
		c.Attempts = 4
	}
	if c.MaxWait == 0 {
		c.MaxWait = 30 * time.Second
	}
	own := http.Client{Timeout: time.Minute}
	if c.HTTP != nil {
		own = *c.HTTP
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &Client{config: &c, base: strings.TrimSuffix(c.BaseURL, "/"), http: &own}, nil
}
