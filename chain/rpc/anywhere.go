package rpc

import (
	"context"
	"errors"
	"fmt"
)

// ErrLacks says that every endpoint answered and none keeps the requested data, such as old blocks.
var ErrLacks = errors.New("no endpoint keeps it")

// Anywhere runs a read at one endpoint after the other, the healthiest first, until a run succeeds or fails with an
// error for which lacks is false. lacks reports whether an error says that the endpoint is healthy and does not keep
// the requested data. If that is so at every endpoint, the error is ErrLacks with the message of each. An endpoint
// that cannot be asked may keep the data: then the error is that endpoint's, and never ErrLacks.
func Anywhere[T any](
	ctx context.Context, c *Client, read func(context.Context, *Session) (T, error), lacks func(error) bool,
) (T, error) {
	var none T
	first, err := c.Pin(ctx)
	if err != nil {
		return none, err
	}
	answer, err := read(ctx, first)
	if err == nil || !lacks(err) {
		return answer, err
	}
	lacking, away := []error{fmt.Errorf("%s: %w", first.Name(), err)}, error(nil)
	for _, e := range c.Endpoints() {
		if e.Name == first.Name() {
			continue
		}
		s, err := c.On(ctx, e.Name)
		if err == nil {
			answer, err = read(ctx, s)
		}
		switch {
		case err == nil:
			return answer, nil
		case lacks(err):
			lacking = append(lacking, fmt.Errorf("%s: %w", e.Name, err))
		default:
			away = errors.Join(away, fmt.Errorf("%s: %w", e.Name, err))
		}
	}
	if away != nil {
		return none, away
	}
	return none, fmt.Errorf("%w: %w", ErrLacks, errors.Join(lacking...))
}
