package rpc

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// enter makes sure that the endpoint has passed its check since its last cool-down, and returns the epoch of that
// check. Its error is a *fault or the context's.
func (c *Client) enter(ctx context.Context, e *endpoint) (uint64, error) {
	if epoch, ok := c.pool.checkedSince(e, time.Time{}); ok {
		return epoch, nil
	}
	return c.verify(ctx, e, time.Time{})
}

// reverify checks again before an answer through a new connection is accepted: another node may be behind the address
// now. The answer is discarded when the check fails.
func (c *Client) reverify(ctx context.Context, e *endpoint) error {
	since := c.cfg.Now().Add(-recheckAfter)
	if _, ok := c.pool.checkedSince(e, since); ok || c.cfg.Check == nil {
		return nil
	}
	_, err := c.verify(ctx, e, since)
	var ft *fault
	if errors.As(err, &ft) {
		thrown := *ft
		thrown.sent = true
		return &thrown
	}
	return err
}

// verify runs the check unless another caller has done so since. One runs at a time; the others wait for its result.
func (c *Client) verify(ctx context.Context, e *endpoint, since time.Time) (uint64, error) {
	select {
	case e.gate <- struct{}{}:
		defer func() { <-e.gate }()
	case <-ctx.Done():
		return 0, fmt.Errorf("wait for the check of %s: %w", e.name, ctx.Err())
	}
	epoch, ok := c.pool.checkedSince(e, since)
	if ok {
		return epoch, nil
	}
	if fault := c.pool.coolingDown(e); fault != nil {
		return 0, fault
	}
	err := c.check(ctx, e, epoch)
	if err == nil {
		c.pool.passed(e, epoch)
		return epoch, nil
	}
	var ft *fault
	if errors.As(err, &ft) {
		c.pool.blame(e, epoch, ft)
	}
	return 0, err
}

// check runs Config.Check and turns its error into a fault, unless it is the caller's context that ended it.
func (c *Client) check(ctx context.Context, e *endpoint, epoch uint64) error {
	if c.cfg.Check == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, min(c.cfg.Timeout, maxCheckTime))
	defer cancel()
	err := c.cfg.Check(limited, &Session{client: c, endpoint: e, epoch: epoch, checking: true})
	if err == nil {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("check %s: %w", e.name, ctx.Err())
	}
	var wrong *WrongChainError
	if errors.As(err, &wrong) {
		clean := &WrongChainError{Serves: c.secret.text(wrong.Serves), Configured: c.secret.text(wrong.Configured)}
		return &fault{text: clean.Error(), wrong: clean}
	}
	var failed *unavailableError
	if errors.As(err, &failed) && len(failed.faults) == 1 {
		first := *failed.faults[0].fault
		first.text, first.sent = "check: "+first.text, false
		return &first
	}
	return &fault{text: "check: " + plain(c.secret.text(err.Error()))}
}
