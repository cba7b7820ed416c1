package rpc

import (
	"context"
	"sync"
)

// Visit has visit called once for every endpoint of a client, in whatever state it is, all at the same time, and
// returns what the calls have, in configured order. err is why the endpoint may not be asked, such as that it serves
// another chain; the session is good for its name then and for nothing else. An endpoint that is put aside is not asked
// before its pause is over. A visit that panics is made once more, with the panic as err.
func Visit[T any](ctx context.Context, c *Client, visit func(ctx context.Context, s *Session, err error) T) []T {
	found := make([]T, len(c.pool.endpoints))
	var wg sync.WaitGroup
	for i, e := range c.pool.endpoints {
		wg.Go(func() {
			epoch, err := c.enter(ctx, e)
			if err != nil {
				err = c.faultOf(err) // names no other endpoint, and no credential
			}
			s := &Session{client: c, endpoint: e, epoch: epoch}
			once := func(err error) error {
				return Guarded(func() error {
					found[i] = visit(ctx, s, err)
					return nil
				})
			}
			if panicked := once(err); panicked != nil {
				_ = once(panicked) // twice is enough: it found nothing
			}
		})
	}
	wg.Wait()
	return found
}
