package rpc

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"sync"
)

// Session is one logical read through one endpoint: a head, its block, the receipts, the traces. When the endpoint
// fails during the read, or goes into a cool-down because of another caller's call, the read fails as a whole: every
// later call returns the same ErrUnavailable, and the next Pin chooses again. A Session is safe for concurrent use and
// needs no closing.
type Session struct {
	client   *Client
	endpoint *endpoint
	epoch    uint64
	checking bool

	mu     sync.Mutex
	broken error
}

// Pin chooses the healthiest endpoint, and checks it if a check is due, for calls whose answers must agree.
func (c *Client) Pin(ctx context.Context) (*Session, error) {
	var s *Session
	err := c.each(ctx, "choose an endpoint", func(e *endpoint, _ bool) error {
		epoch, err := c.enter(ctx, e)
		s = &Session{client: c, endpoint: e, epoch: epoch}
		return err
	})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// Survey calls head for every usable endpoint at the same time to get its height, and puts those that lag into a
// cool-down. Otherwise a poller that uses only the first endpoint would not notice that its node has stopped. The
// error is ErrUnavailable when no endpoint returned its height.
func (c *Client) Survey(ctx context.Context, head func(ctx context.Context, s *Session) (uint64, error)) error {
	usable, coolingDown := c.pool.candidates()
	c.probe()
	sessions := make([]*Session, len(usable))
	errs := make([]error, len(usable))
	var wg sync.WaitGroup
	for i, e := range usable {
		wg.Go(func() {
			errs[i] = Guarded(func() (err error) {
				sessions[i], err = c.survey(ctx, e, head)
				return err
			})
		})
	}
	wg.Wait()
	failed := &unavailableError{op: "survey", faults: coolingDown}
	notified := 0
	for i, e := range usable {
		if errs[i] != nil {
			failed.faults = append(failed.faults, endpointFault{e.name, c.faultOf(errs[i])})
			continue
		}
		notified++
		if f := c.pool.lag(e); f != nil {
			c.pool.blame(e, sessions[i].epoch, f)
		}
	}
	if notified > 0 {
		return nil
	}
	if ctx.Err() != nil {
		return fmt.Errorf("survey: %w", ctx.Err())
	}
	return failed
}

func (c *Client) survey(
	ctx context.Context, e *endpoint, head func(context.Context, *Session) (uint64, error),
) (*Session, error) {
	epoch, err := c.enter(ctx, e)
	if err != nil {
		return nil, err
	}
	s := &Session{client: c, endpoint: e, epoch: epoch}
	height, err := head(ctx, s)
	if err == nil {
		c.pool.note(e, height)
	}
	return s, err
}

// faultOf turns any error into a fault for an unavailableError.
func (c *Client) faultOf(err error) *fault {
	var f *fault
	if errors.As(err, &f) {
		return f
	}
	return &fault{text: plain(c.secret.text(err.Error()))}
}

// Name is the endpoint's scheme and host, with no credential.
func (s *Session) Name() string { return s.endpoint.name }

// String is Name.
func (s *Session) String() string { return s.Name() }

// GoString is Name: no format verb prints a credential.
func (s *Session) GoString() string { return s.Name() }

// LogValue is Name.
func (s *Session) LogValue() slog.Value { return slog.StringValue(s.Name()) }

// Call is Client.Call through this endpoint alone.
func (s *Session) Call(ctx context.Context, method string, params []any, out any) error {
	return s.client.call(ctx, s, method, params, out)
}

// Batch is Client.Batch through this endpoint alone.
func (s *Session) Batch(ctx context.Context, requests []*Request) error {
	return s.client.batch(ctx, s, requests)
}

// Get is Client.Get through this endpoint alone.
func (s *Session) Get(ctx context.Context, path string, out any) error {
	return s.client.rest(ctx, s, http.MethodGet, path, nil, out)
}

// Post is Client.Post through this endpoint alone.
func (s *Session) Post(ctx context.Context, path string, body, out any) error {
	return s.client.rest(ctx, s, http.MethodPost, path, body, out)
}

// Observe records the height that this endpoint reported. If that is more than Config.MaxLag blocks behind an endpoint
// that is up, this one goes into a cool-down and the read fails with ErrUnavailable. A height below an earlier one is
// not an error.
func (s *Session) Observe(height uint64) error {
	s.client.pool.note(s.endpoint, height)
	if f := s.client.pool.lag(s.endpoint); f != nil {
		return s.fail("observe height", f)
	}
	return nil
}

// Fail puts the endpoint into a cool-down because the adapter found its answers invalid: they contradict each other,
// an empty list for a block with transactions, a fork. The read fails as a whole; the error wraps ErrUnavailable and
// says why.
func (s *Session) Fail(why error) error {
	return s.fail("read", &fault{text: plain(s.client.secret.text(why.Error()))})
}

func (s *Session) fail(op string, f *fault) error {
	s.client.pool.blame(s.endpoint, s.epoch, f)
	return s.breakOff(op, f)
}

func (s *Session) do(ctx context.Context, op string, put putter) error {
	if err := s.usable(op); err != nil {
		return err
	}
	err := put(ctx, place{endpoint: s.endpoint, epoch: s.epoch, checking: s.checking})
	var f *fault
	switch {
	case err == nil:
		return nil
	case errors.As(err, &f):
		return s.breakOff(op, f)
	}
	return fmt.Errorf("%s: %w", op, err)
}

// usable returns an error if the read can no longer be consistent. An endpoint that was in a cool-down since the read
// began may have been restarted on another branch of the chain.
func (s *Session) usable(op string) error {
	s.mu.Lock()
	broken := s.broken
	s.mu.Unlock()
	if broken != nil {
		return broken
	}
	if s.client.pool.epoch(s.endpoint) != s.epoch {
		return s.breakOff(op, &fault{text: "the endpoint went into a cool-down during this read"})
	}
	return nil
}

// breakOff stores the first failure for all later calls.
func (s *Session) breakOff(op string, f *fault) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken == nil {
		s.broken = &unavailableError{op: op, faults: []endpointFault{{s.endpoint.name, f}}}
	}
	return s.broken
}
