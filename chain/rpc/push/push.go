// Package push subscribes to a node's announcements of blocks: over ZeroMQ (bitcoind, litecoind, java-tron) and over
// WebSocket (the others).
//
// It owns one subscription from dialling to its end. It never reconnects by itself, never reads a block from an
// announcement, and never logs: its caller decides what to do after an announcement and after the end.
//
// Invariants:
//   - A subscription ends when the node closes it, sends an unreadable message, stops answering pings, or announces
//     nothing for Config.Silence. A broken connection is always noticed.
//   - Memory is bounded whatever a node sends: bodies are skipped, messages and frames have a maximum size.
//   - No credential of a URL is in an error.
package push

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"time"
)

// ErrSilent ends a subscription that announced nothing for Config.Silence, or whose node answers no ping.
var ErrSilent = errors.New("the subscription is silent")

const (
	dialTime  = 15 * time.Second // to connect, and for the handshake
	replyTime = 15 * time.Second // to accept a subscription, to receive a message, to finish a started one
	pingEvery = 20 * time.Second
)

// Config says how to connect to nodes. The zero value is ready to use, with the defaults that are named here.
type Config struct {
	// Headers are sent with a WebSocket's handshake. Their values are credentials.
	Headers map[string]string
	// Silence is after how long without an announcement a subscription ends; 0: 10 minutes.
	Silence time.Duration
	// Dial opens a connection; nil: net.Dialer's DialContext.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (c Config) withDefaults() Config {
	if c.Silence <= 0 {
		c.Silence = 10 * time.Minute
	}
	if c.Dial == nil {
		c.Dial = (&net.Dialer{Timeout: dialTime, KeepAlive: pingEvery}).DialContext
	}
	return c
}

// Name returns the part of a push URL that may be printed: its scheme and host, with "/…" if there is more. For a URL
// that does not parse, which has no safe part, it returns "an unreadable URL".
func Name(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" && u.Scheme != schemeIPC {
		return "an unreadable URL"
	}
	name := u.Scheme + "://" + u.Host
	if strings.Trim(u.Path, "/") != "" || u.RawQuery != "" {
		name += "/…"
	}
	return name
}

// parse parses a push URL with one of the schemes. Its errors quote nothing of the URL except the scheme.
func parse(raw string, schemes ...string) (*url.URL, error) {
	u, err := url.Parse(raw)
	if err != nil {
		return nil, errors.New("the push URL cannot be read (special characters in a password must be percent-encoded)")
	}
	if !slices.Contains(schemes, u.Scheme) {
		return nil, fmt.Errorf("a push URL of this chain begins with %s://", strings.Join(schemes, ":// or "))
	}
	if u.Scheme != schemeIPC && u.Hostname() == "" {
		return nil, errors.New("the push URL has no host")
	}
	return u, nil
}

// cleanedError is an error without credentials in its text; errors.Is still recognises the cause.
type cleanedError struct {
	text string
	err  error
}

func (e *cleanedError) Error() string { return e.text }
func (e *cleanedError) Unwrap() error { return e.err }

// cleaned hides the credentials of a URL and of headers in an error's text.
func (c Config) cleaned(u *url.URL, err error) error {
	if err == nil {
		return nil
	}
	secrets := []string{u.EscapedPath(), u.RawQuery}
	if password, has := u.User.Password(); has {
		secrets = append(secrets, password, u.User.String())
	}
	for _, segment := range strings.Split(u.Path, "/") {
		if len(segment) >= 8 {
			secrets = append(secrets, segment)
		}
	}
	for _, values := range u.Query() {
		secrets = append(secrets, values...)
	}
	for _, value := range c.Headers {
		secrets = append(secrets, value)
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	text := err.Error()
	for _, secret := range secrets {
		if len(secret) > 1 {
			text = strings.ReplaceAll(text, secret, "xxxxx")
		}
	}
	return &cleanedError{text: cut(text, 600), err: err}
}

// cut bounds the text of an error, which may quote a node.
func cut(text string, most int) string {
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}
