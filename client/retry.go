package client

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/http"
	"time"
)

// firstPause is the pause after the first attempt; each next one is twice as long. The wait is between half of it and
// all.
const firstPause = 250 * time.Millisecond

// drawKey returns a random idempotency key, unique in practice.
func drawKey() string { return "go-" + rand.Text() }

// insist makes attempts until one succeeds, is refused for good, or none is left. Every attempt may be repeated:
// reading changes nothing, and changes carry one Idempotency-Key.
func (c *Client) insist(ctx context.Context, attempt func() (json.RawMessage, error)) (json.RawMessage, error) {
	for n, pause := 1, min(firstPause, c.config.MaxWait); ; n, pause = n+1, min(2*pause, c.config.MaxWait) {
		response, err := attempt()
		if err == nil || n >= c.config.Attempts || ctx.Err() != nil || !passing(err) {
			return response, err
		}
		wait := jittered(pause)
		var refusal *Error
		if errors.As(err, &refusal) && refusal.RetryAfter > 0 {
			wait = refusal.RetryAfter
		}
		if wait > c.config.MaxWait {
			return nil, err
		}
		if !sleep(ctx, wait) {
			return nil, fmt.Errorf("%w, while waiting after: %w", ctx.Err(), err)
		}
	}
}

// passing reports whether the next attempt may succeed: after too many requests, an unavailable service or gateway, and
// broken exchanges.
func passing(err error) bool {
	var refusal *Error
	if !errors.As(err, &refusal) {
		return true
	}
	switch refusal.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// jittered spreads the retries of clients that failed at the same time.
func jittered(pause time.Duration) time.Duration {
	half := int64(pause / 2)
	extra, err := rand.Int(rand.Reader, big.NewInt(half+1))
	if err != nil {
		return pause
	}
	return time.Duration(half + extra.Int64())
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return true
	}
}
