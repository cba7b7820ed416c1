package sim

import (
	"context"
	"fmt"

	"github.com/bursar/bursar/chain"
)

var _ chain.Listener = (*Chain)(nil)

// Listen is the method Chain.Listen, which can be made to fail.
const Listen Method = "listen"

// subscription is one listener. It ends when it is cut.
type subscription struct {
	announced func()
	cut       chan struct{}
}

// Listen announces every new block, whatever the URL is, until ctx ends or Cut ends it.
func (c *Chain) Listen(ctx context.Context, _ string, announced func()) error {
	if err := c.enter(ctx, Listen); err != nil {
		return err
	}
	s := &subscription{announced: announced, cut: make(chan struct{})}
	c.listeners[s] = true
	c.mu.Unlock()
	defer c.forget(s)
	announced()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-s.cut:
		return fmt.Errorf("%s: %w", Listen, ErrNode)
	}
}

func (c *Chain) forget(s *subscription) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.listeners, s)
}

// Cut ends every subscription that is open now, and returns how many there were.
func (c *Chain) Cut() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.listeners)
	for s := range c.listeners {
		close(s.cut)
		delete(c.listeners, s)
	}
	return n
}

// announce notifies every listener of a new block. The chain must be locked.
func (c *Chain) announce() {
	for s := range c.listeners {
		s.announced()
	}
}
