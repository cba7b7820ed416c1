package sim

import (
	"context"
	"errors"
	"fmt"
)

// Method names a method that can be made to fail.
type Method string

// The methods that can fail.
const (
	Head      Method = "head"
	At        Method = "at"
	Find      Method = "find"
	After     Method = "after"
	Quote     Method = "quote"
	Build     Method = "draft"
	Broadcast Method = "broadcast"
	Expired   Method = "expired"
	Holdings  Method = "holdings"
	BlockOn   Method = "block through one endpoint"
	Previous  Method = "previous transaction"
	NonceAt   Method = "nonce"
)

// Outcome is the result of a broadcast that goes wrong.
type Outcome string

// The ways in which a broadcast goes wrong.
const (
	TakenUnknown Outcome = "taken, but the answer is an error" // the transaction is in the mempool like any other
	LostUnknown  Outcome = "lost, and the answer is an error"
	LostSilently Outcome = "lost, but the answer is good"
)

// ErrNode is the error of a fault for which no other was given.
var ErrNode = errors.New("the node does not answer")

// ErrPruned is the error about a block that the node no longer has.
var ErrPruned = errors.New("the node does not keep this block any more")

// Fail makes the next calls of a method fail with an error, or with ErrNode when it is nil.
func (c *Chain) Fail(method Method, times int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range times {
		c.faults[method] = append(c.faults[method], orElse(err, ErrNode))
	}
}

// FailBroadcasts sets the outcome of the next broadcasts that would have succeeded. "Already known" does not count as
// one.
func (c *Chain) FailBroadcasts(outcome Outcome, times int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range times {
		c.outcomes = append(c.outcomes, outcome)
	}
}

// ClearFaults removes the faults that have not happened yet.
func (c *Chain) ClearFaults() {
	c.mu.Lock()
	defer c.mu.Unlock()
	clear(c.faults)
	c.outcomes = nil
}

// HoldFinality stops finality, or lets it go on.
func (c *Chain) HoldFinality(hold bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.heldAt = c.finalHeight()
	c.held = hold
}

// enter starts a call of the chain interface that every endpoint answers alike: without an error the chain is locked,
// and the caller must unlock it.
func (c *Chain) enter(ctx context.Context, method Method) error {
	_, err := c.enterOn(ctx, method, c.chosen)
	return err
}

// admit lets a call in that no fault was set for: without an error the chain is locked.
func (c *Chain) admit(ctx context.Context, method Method) error {
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	c.mu.Lock()
	if pending := c.faults[method]; len(pending) > 0 {
		c.faults[method] = pending[1:]
		c.mu.Unlock()
		return fmt.Errorf("%s: %w", method, pending[0])
	}
	return nil
}

func (c *Chain) nextOutcome() Outcome {
	if len(c.outcomes) == 0 {
		return ""
	}
	outcome := c.outcomes[0]
	c.outcomes = c.outcomes[1:]
	return outcome
}
