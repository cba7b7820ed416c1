package push

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// maxMessage bounds one message; the largest one that is subscribed to, the header of a block, has some 2 KiB.
const maxMessage = 256 << 10

// Kind is the meaning of a message for a subscription.
type Kind int

// The kinds of messages.
const (
	Other        Kind = iota // nothing
	Accepted                 // the subscription is open
	Announcement             // there is something new
)

// Subscription is the request of a subscription over a WebSocket, and how to read the node's messages.
type Subscription struct {
	Request []byte // JSON
	// Read returns the meaning of a message. An error ends the subscription: the request was refused, or the message is
	// unreadable.
	Read func(message []byte) (Kind, error)
}

// WebSocket subscribes at a ws:// or wss:// URL, whose user and password become basic authentication. It calls
// announced once the node has accepted the subscription, and for each announcement. It returns when the subscription
// ends, with the reason or the context's error.
func (c Config) WebSocket(ctx context.Context, raw string, wanted Subscription, announced func()) error {
	c = c.withDefaults()
	u, err := parse(raw, "ws", "wss")
	if err != nil {
		return err
	}
	err = c.webSocket(ctx, u, wanted, announced)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("subscription at %s: %w", Name(raw), c.cleaned(u, err))
}

func (c Config) webSocket(ctx context.Context, u *url.URL, wanted Subscription, announced func()) error {
	ctx, cancel := context.WithCancelCause(ctx)
	conn, err := c.connect(ctx, u)
	if err != nil {
		cancel(nil)
		return err
	}
	var pings sync.WaitGroup
	defer pings.Wait()
	defer conn.CloseNow()
	defer cancel(nil)
	pings.Go(func() { cancel(pingUntil(ctx, conn)) })
	writing, written := context.WithTimeout(ctx, replyTime)
	err = conn.Write(writing, websocket.MessageText, wanted.Request)
	written()
	if err == nil {
		err = c.readAll(ctx, conn, wanted, announced)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return cause
	}
	return err
}

// connect opens the WebSocket. Redirects are not followed: the credentials are for this host.
func (c Config) connect(ctx context.Context, u *url.URL) (*websocket.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	headers := http.Header{}
	for name, value := range c.Headers {
		headers.Set(name, value)
	}
	bare := *u
	bare.User = nil
	if u.User != nil {
		password, _ := u.User.Password()
		headers.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(u.User.Username()+":"+password)))
	}
	transport := &http.Transport{
		Proxy: http.ProxyFromEnvironment, DialContext: c.Dial, TLSHandshakeTimeout: dialTime,
		DisableKeepAlives: true, MaxResponseHeaderBytes: 64 << 10,
	}
	client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	//nolint:bodyclose // the package closes it
	conn, _, err := websocket.Dial(ctx, bare.String(), &websocket.DialOptions{HTTPClient: client, HTTPHeader: headers})
	if err != nil {
		var failed *url.Error
		if errors.As(err, &failed) { // its text contains the whole URL
			err = failed.Err
		}
		return nil, err
	}
	conn.SetReadLimit(maxMessage)
	return conn, nil
}

// pingUntil pings until the context ends, and returns ErrSilent when a ping is not answered.
func pingUntil(ctx context.Context, conn *websocket.Conn) error {
	ticker := time.NewTicker(pingEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
		limited, cancel := context.WithTimeout(ctx, replyTime)
		err := conn.Ping(limited)
		cancel()
		if err != nil && ctx.Err() == nil {
			return ErrSilent
		}
	}
}

// readAll reads messages until the subscription ends.
func (c Config) readAll(ctx context.Context, conn *websocket.Conn, wanted Subscription, announced func()) error {
	patience, open := replyTime, false
	heard := time.Now()
	for {
		limited, cancel := context.WithDeadlineCause(ctx, heard.Add(patience), ErrSilent)
		_, message, err := conn.Read(limited)
		cause := context.Cause(limited)
		cancel()
		switch {
		case err != nil && errors.Is(cause, ErrSilent) && ctx.Err() == nil:
			return ErrSilent
		case err != nil:
			return err
		}
		kind, err := wanted.Read(message)
		if err != nil {
			return err
		}
		if kind == Accepted && !open || kind == Announcement {
			patience, open, heard = c.Silence, true, time.Now()
			announced()
		}
	}
}
