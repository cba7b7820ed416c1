package rpc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

// chainCheck is a Config.Check as adapters write it.
func chainCheck(want string) func(context.Context, *Session) error {
	return func(ctx context.Context, s *Session) error {
		var id string
		if err := s.Call(ctx, "eth_chainId", nil, &id); err != nil {
			return err
		}
		if id != want {
			return &WrongChainError{Serves: id, Configured: want}
		}
		return nil
	}
}

// chainNode answers eth_chainId, which it counts, with what id holds, and everything else with a result.
func chainNode(t *testing.T, id *atomic.Value, checks *atomic.Int64, value string) *node {
	return startNode(t, rpcHandler(func(w http.ResponseWriter, calls []asked) {
		out := value
		if calls[0].Method == "eth_chainId" {
			checks.Add(1)
			out = id.Load().(string)
		}
		io.WriteString(w, `{"jsonrpc":"2.0","id":`+calls[0].ID.String()+`,"result":"`+out+`"}`)
	}))
}

func TestAnEndpointOfAnotherChainIsNotUsed(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	var id atomic.Value
	var checks atomic.Int64
	id.Store("0x5")
	wrong := chainNode(t, &id, &checks, "wrong")
	cfg := Config{URLs: urlsOf(wrong), Now: clk.Now, Check: chainCheck("0x1")}
	c := newClient(t, cfg)
	for range 2 { // the second time it is known from memory
		err := c.Call(t.Context(), "m", nil, nil)
		mustBeUnavailable(t, err, "this node serves chain 0x5, configured is 0x1")
		var w *WrongChainError
		if !errors.As(err, &w) || w.Serves != "0x5" || w.Configured != "0x1" {
			t.Fatalf("error %v", err)
		}
	}
	if checks.Load() != 1 || wrong.hits.Load() != 1 {
		t.Errorf("%d checks, %d requests, want 1 and 1", checks.Load(), wrong.hits.Load())
	}
	wantState(t, c, 0, StateWrongChain)
	if _, err := c.Pin(t.Context()); !errors.Is(err, ErrUnavailable) {
		t.Errorf("pinned a wrong chain: %v, want %v", err, ErrUnavailable)
	}

	// The others go on, and a corrected node comes back.
	well := startNode(t, gives(`"0x1"`))
	cfg.URLs = urlsOf(wrong, well)
	both := newClient(t, cfg)
	mustCall(t, both, "0x1")
	wantState(t, both, 0, StateWrongChain)
	id.Store("0x1")
	clk.Advance(time.Minute)
	mustCall(t, both, "wrong")
	wantState(t, both, 0, StateUp)
}

func TestCheckRunsOnceAndAgainAfterAFault(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	var id atomic.Value
	var checks atomic.Int64
	id.Store("0x1")
	n := chainNode(t, &id, &checks, "ok")
	sound := n.handler.Load().(http.HandlerFunc)
	c := newClient(t, Config{URLs: urlsOf(n), Now: clk.Now, Check: chainCheck("0x1")})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { mustCall(t, c, "ok") })
	}
	wg.Wait()
	if checks.Load() != 1 {
		t.Fatalf("%d checks for 8 calls at once, want 1", checks.Load())
	}
	n.becomes(raw(502, ""))
	mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "502")
	clk.Advance(time.Second)
	mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "check: HTTP 502")
	if s := c.Stats()[0]; s.PausedTill.Sub(clk.Now()) != 2*time.Second {
		t.Errorf("a failed check made a pause of %v, want %v", s.PausedTill.Sub(clk.Now()), 2*time.Second)
	}
	n.becomes(sound)
	clk.Advance(2 * time.Second)
	mustCall(t, c, "ok")
	if checks.Load() != 2 {
		t.Errorf("%d checks, want a second one", checks.Load())
	}
}

// Behind the address another node may answer after a reconnect: its answer is not taken before its chain is known.
func TestCheckRunsAgainAfterAReconnect(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	var id atomic.Value
	var checks atomic.Int64
	id.Store("0x1")
	n := chainNode(t, &id, &checks, "ok")
	c := newClient(t, Config{URLs: urlsOf(n), Now: clk.Now, Check: chainCheck("0x1")})
	mustCall(t, c, "ok")
	clk.Advance(time.Minute)
	mustCall(t, c, "ok")
	if checks.Load() != 1 {
		t.Fatalf("%d checks on one connection, want 1", checks.Load())
	}
	n.CloseClientConnections()
	mustCall(t, c, "ok")
	if checks.Load() != 2 {
		t.Fatalf("%d checks after a reconnect, want 2", checks.Load())
	}
	n.CloseClientConnections()
	clk.Advance(time.Minute)
	id.Store("0x5")
	var out string
	err := c.Call(t.Context(), "m", nil, &out)
	mustBeUnavailable(t, err, "this node serves chain 0x5")
	if out != "" {
		t.Errorf("an answer of the wrong chain was delivered: %q, want \"\"", out)
	}
}

// What was sent to a node that then turns out to be the wrong one may yet have had an effect.
func TestADiscardedAnswerLeavesTheOutcomeUnsure(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	var id atomic.Value
	var checks atomic.Int64
	id.Store("0x1")
	first := chainNode(t, &id, &checks, "ok")
	second := startNode(t, rpcHandler(func(w http.ResponseWriter, calls []asked) {
		if calls[0].Method == "eth_chainId" {
			io.WriteString(w, `{"id":`+calls[0].ID.String()+`,"result":"0x1"}`)
			return
		}
		io.WriteString(w, `{"id":`+calls[0].ID.String()+`,"error":{"code":-32000,"message":"nonce too low"}}`)
	}))
	c := newClient(t, Config{URLs: urlsOf(first, second), Now: clk.Now, Check: chainCheck("0x1")})
	mustCall(t, c, "ok")
	first.CloseClientConnections()
	clk.Advance(time.Minute)
	id.Store("0x5")
	var answer *Error
	if err := c.Call(t.Context(), "eth_sendRawTransaction", nil, nil); !errors.As(err, &answer) || !answer.Unsure {
		t.Errorf("error %v", err)
	}
	wantState(t, c, 0, StateWrongChain)
}

func TestWaitingCallersShareAFailedCheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		c := newClient(t, Config{URLs: []string{"http://a.example"}, Check: func(context.Context, *Session) error {
			checks.Add(1)
			<-time.After(time.Millisecond)
			return errors.New("no genesis block")
		}})
		var wg sync.WaitGroup
		for range 8 {
			wg.Go(func() { mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "check: no genesis block") })
		}
		wg.Wait()
		if checks.Load() != 1 {
			t.Errorf("%d checks, want 1", checks.Load())
		}
	})
}

// A caller that goes away while it checks leaves no mark, and the next in line checks instead.
func TestACheckWhoseCallerIsGoneIsMadeByTheNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var checks atomic.Int64
		c := newClient(t, Config{URLs: []string{"http://a.example"},
			HTTP: inMemory(func(r *http.Request) (*http.Response, error) {
				body, _ := io.ReadAll(r.Body)
				return answerTo(body, `"a"`), nil
			}),
			Check: func(ctx context.Context, _ *Session) error {
				if checks.Add(1) == 1 {
					<-ctx.Done()
				}
				return ctx.Err()
			}})
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() {
			if err := c.Call(ctx, "m", nil, nil); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v, want %v", err, context.Canceled)
			}
		})
		synctest.Wait()
		wg.Go(func() { mustCall(t, c, "a") })
		short, stop := context.WithTimeout(t.Context(), time.Millisecond)
		defer stop()
		if err := c.Call(short, "m", nil, nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v, want %v", err, context.DeadlineExceeded)
		}
		cancel()
		wg.Wait()
		if s := c.Stats()[0]; checks.Load() != 2 || s.Faults != 0 || s.State != StateUp {
			t.Errorf("%d checks, stats %+v, want 2 and 0 and %v", checks.Load(), s, StateUp)
		}
	})
}

// While one caller waits for the check of an endpoint that comes back, the others are served elsewhere.
func TestOnlyOneCallerWaitsForACheck(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		checking := make(chan struct{})
		c := newClient(t, Config{URLs: []string{"http://a.example", "http://b.example"},
			HTTP: inMemory(func(r *http.Request) (*http.Response, error) {
				if r.URL.Host == "a.example" {
					return silent(r)
				}
				body, _ := io.ReadAll(r.Body)
				return answerTo(body, `"b"`), nil
			}),
			Check: func(ctx context.Context, s *Session) error {
				if s.Name() == "http://a.example" {
					close(checking)
					return s.Call(ctx, "eth_chainId", nil, nil)
				}
				return nil
			}})
		done := make(chan struct{})
		start := time.Now()
		go func() {
			defer close(done)
			mustCall(t, c, "b")
			if took := time.Since(start); took != maxCheckTime {
				t.Errorf("the one that checks waited %v, want %v", took, maxCheckTime)
			}
		}()
		<-checking
		mustCall(t, c, "b")
		if took := time.Since(start); took != 0 {
			t.Errorf("another waited %v, want 0", took)
		}
		<-done
	})
}
