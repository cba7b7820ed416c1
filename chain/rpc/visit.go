package rpc

import (
	"context"
	"sync"
)

// Visit calls visit once for every endpoint of a client, in any state, all at the same time, and returns the results
// in configured order. err says why the endpoint may not be asked, such as that it serves another chain; the session
// then has only its name. An endpoint in a cool-down is not asked before the cool-down is over. A visit that panics is
// made once more, with the panic as err.
func Visit[T any](ctx context.Context, c *Client, visit func(ctx context.Context, s *Session, err error) T) []T {
	found := make([]T, len(c.pool.endpoints))
	var wg sync.WaitGroup
	for i, e := range c.pool.endpoints {
		wg.Go(func() {
			epoch, err := c.enter(ctx, e)
			if err != nil {
				err = c.faultOf(err) // without other endpoints' names and without credentials
			}
			s := &Session{client: c, endpoint: e, epoch: epoch}
			once := func(err error) error {
				return Guarded(func() error {
					found[i] = visit(ctx, s, err)
					return nil
				})
			}
			if panicked := once(err); panicked != nil {
				_ = once(panicked) // a second panic leaves the zero result
			}
		})
	}
	wg.Wait()
	return found
}
