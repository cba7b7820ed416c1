package rpc

import (
	"context"
	"errors"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Many callers, nodes that fail at random: anyone who gets a result gets its own, and every error is of a known kind.
func TestManyCallersOfFlappingNodes(t *testing.T) {
	t.Parallel()
	var flap atomic.Int64
	flapping := func(sound http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			switch flap.Add(1) % 11 {
			case 3:
				hangUp(w, r)
			case 7:
				w.WriteHeader(429)
			default:
				sound(w, r)
			}
		}
	}
	each := func(w http.ResponseWriter, calls []asked) {
		if len(calls) == 1 {
			says1(w, calls[0])
			return
		}
		echo(w, calls)
	}
	a, b := startNode(t, flapping(rpcHandler(each))), startNode(t, flapping(rpcHandler(each)))
	c := newClient(t, Config{URLs: urlsOf(a, b), MinPause: time.Microsecond, MaxPause: time.Millisecond, MaxLag: 2,
		Rand:  rand.Int64N,
		Check: func(ctx context.Context, s *Session) error { return s.Call(ctx, "echo", []any{0}, nil) }})
	var answered atomic.Int64
	var wg sync.WaitGroup
	for worker := range 8 {
		wg.Go(func() {
			for i := range 100 {
				if err := oneOfEach(t, c, worker*1000+i); err == nil {
					answered.Add(1)
				} else if !errors.Is(err, ErrUnavailable) {
					t.Errorf("error %v, want %v", err, ErrUnavailable)
				}
			}
		})
	}
	wg.Wait()
	if answered.Load() == 0 {
		t.Error("no round was answered")
	}
}

func says1(w http.ResponseWriter, call asked) {
	w.Write([]byte(`{"jsonrpc":"2.0","id":` + call.ID.String() + `,"result":` + string(call.Params[0]) + `}`))
}

func oneOfEach(t *testing.T, c *Client, n int) error {
	var got int
	if err := c.Call(t.Context(), "echo", []any{n}, &got); err != nil {
		return err
	}
	if got != n {
		t.Errorf("asked %d, answered %d", n, got)
	}
	s, err := c.Pin(t.Context())
	if err != nil {
		return err
	}
	requests, out := numbers(3)
	if err := s.Batch(t.Context(), requests); err != nil {
		return err
	}
	if out[0] != 0 || out[1] != 1 || out[2] != 2 {
		t.Errorf("batch %v, want 0 and 1 and 2", out)
	}
	c.Stats()
	return s.Observe(uint64(n % 5))
}
