package rpc

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

func TestASessionStaysOnItsEndpoint(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	first, second := startNode(t, raw(502, "")), startNode(t, gives(`"second"`))
	c := newClient(t, Config{URLs: urlsOf(first, second), Now: clk.Now})
	mustCall(t, c, "second")
	s, err := c.Pin(t.Context())
	if err != nil || s.Name() != second.URL {
		t.Fatalf("pinned %v, error %v, want %v", s, err, second.URL)
	}
	first.becomes(gives(`"first"`))
	clk.Advance(time.Minute)
	mustCall(t, c, "first")
	var out string
	requests := []*Request{{Method: "m", Out: &out}}
	second.becomes(says(200, `[{"id":ID,"result":"batch"}]`))
	if err := s.Batch(t.Context(), requests); err != nil || out != "batch" {
		t.Errorf("batch: %q, %v, want \"batch\"", out, err)
	}
	second.becomes(gives(`"still second"`))
	if err := s.Call(t.Context(), "m", nil, &out); err != nil || out != "still second" {
		t.Errorf("call: %q, %v, want \"still second\"", out, err)
	}
}

func TestASessionFailsAsAWhole(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	first, second := startNode(t, gives(`"first"`)), startNode(t, gives(`"second"`))
	c := newClient(t, Config{URLs: urlsOf(first, second), Now: clk.Now})
	s, err := c.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first.becomes(hangUp)
	mustBeUnavailable(t, s.Call(t.Context(), "m", nil, nil), "EOF")
	hits := first.hits.Load()
	first.becomes(gives(`"first"`))
	clk.Advance(time.Minute)
	mustCall(t, c, "first")
	mustBeUnavailable(t, s.Call(t.Context(), "m", nil, nil), "EOF")
	if first.hits.Load() != hits+1 || second.hits.Load() != 0 {
		t.Errorf("a broken session asked on, want %v and 0", hits+1)
	}
	// The next round chooses again, and elsewhere if need be.
	first.becomes(hangUp)
	mustCall(t, c, "second")
	if next, err := c.Pin(t.Context()); err != nil || next.Name() != second.URL {
		t.Errorf("pinned %v, error %v, want %v", next, err, second.URL)
	}
}

// Another caller saw the endpoint fail: it may be another node since, so the read cannot be whole.
func TestASessionEndsWhenItsEndpointEntersACoolDown(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	first := startNode(t, gives(`"first"`))
	c := newClient(t, Config{URLs: urlsOf(first), Now: clk.Now})
	s, err := c.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	first.becomes(raw(502, ""))
	mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "502")
	first.becomes(gives(`"first"`))
	clk.Advance(time.Minute)
	mustCall(t, c, "first")
	mustBeUnavailable(t, s.Call(t.Context(), "m", nil, nil), "the endpoint went into a cool-down during this read")
}

func TestAnswersAndCancelsDoNotEndASession(t *testing.T) {
	t.Parallel()
	n := startNode(t, says(500, `{"result":null,"error":{"code":-5,"message":"not found"},"id":ID}`))
	c := newClient(t, Config{URLs: urlsOf(n)})
	s, err := c.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var answer *Error
	if err := s.Call(t.Context(), "m", nil, nil); !errors.As(err, &answer) || answer.Code != -5 {
		t.Errorf("error %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Call(gone, "m", nil, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want %v", err, context.Canceled)
	}
	n.becomes(gives(`"ok"`))
	if err := s.Call(t.Context(), "m", nil, nil); err != nil {
		t.Errorf("the session ended: %v", err)
	}
}

// An adapter that finds a contradiction puts the endpoint aside itself.
func TestFailPutsTheEndpointIntoACoolDown(t *testing.T) {
	t.Parallel()
	first, second := startNode(t, gives(`"first"`)), startNode(t, gives(`"second"`))
	c := newClient(t, Config{URLs: urlsOf(first, second)})
	s, err := c.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	mustBeUnavailable(t, s.Fail(errors.New("receipts do not match\nthe header")), `receipts do not match\nthe header`)
	mustBeUnavailable(t, s.Call(t.Context(), "m", nil, nil), "receipts do not match")
	mustCall(t, c, "second")
	wantState(t, c, 0, StateCoolingDown)
}

func TestALaggingEndpointIsTheLastResort(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	first, second := startNode(t, gives(`"first"`)), startNode(t, gives(`"second"`))
	checks := map[string]int{}
	var mu sync.Mutex
	c := newClient(t, Config{URLs: urlsOf(first, second), Now: clk.Now, MaxLag: 3,
		Check: func(_ context.Context, s *Session) error {
			mu.Lock()
			defer mu.Unlock()
			checks[s.Name()]++
			return nil
		}})
	heights := map[string]uint64{first.URL: 100, second.URL: 103}
	head := func(ctx context.Context, s *Session) (uint64, error) {
		return heights[s.Name()], s.Call(ctx, "head", nil, nil)
	}
	survey := func() {
		t.Helper()
		if err := c.Survey(t.Context(), head); err != nil {
			t.Fatal(err)
		}
	}
	survey()
	wantState(t, c, 0, StateUp) // three behind is allowed
	heights[second.URL] = 104
	survey()
	wantState(t, c, 0, StateLagging)
	mustCall(t, c, "second")

	// It is the last resort while the other fails.
	second.becomes(raw(502, ""))
	mustCall(t, c, "first")
	mustCall(t, c, "first")
	wantState(t, c, 0, StateLagging)
	if checks[first.URL] != 2 {
		t.Errorf("%d checks of an endpoint that was paused once, want 2", checks[first.URL])
	}
	s, err := c.Pin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Observe(100); err != nil {
		t.Errorf("lagging behind nobody who is up: %v", err)
	}

	// It comes back by itself, is paused again while it lags, and stays once it has caught up.
	second.becomes(gives(`"second"`))
	clk.Advance(time.Minute)
	survey()
	wantState(t, c, 0, StateLagging)
	wantState(t, c, 1, StateUp)
	heights[first.URL] = 104
	clk.Advance(time.Minute)
	survey()
	mustCall(t, c, "first")
	if stats := c.Stats(); stats[0].Height != 104 || stats[0].State != StateUp || !stats[0].PausedTill.IsZero() {
		t.Errorf("stats %+v, want 104 and %v and zero", stats[0], StateUp)
	}
}

func TestObserveComparesHeights(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	first, second := startNode(t, gives(`"first"`)), startNode(t, gives(`"second"`))
	c := newClient(t, Config{URLs: urlsOf(first, second), Now: clk.Now, MaxLag: 3})
	pin := func() *Session {
		t.Helper()
		s, err := c.Pin(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	observe := func(s *Session, height uint64) {
		t.Helper()
		if err := s.Observe(height); err != nil {
			t.Fatal(err)
		}
	}
	a := pin()
	observe(a, 100)
	observe(a, 90) // backwards: only hashes show what that means
	mustBeUnavailable(t, a.Fail(errors.New("x")), "x")
	b := pin()
	observe(b, 100)
	clk.Advance(time.Minute)
	a = pin()
	if a.Name() != first.URL {
		t.Fatalf("pinned %v, want %v", a, first.URL)
	}
	mustBeUnavailable(t, a.Observe(96), "lags: at block 96, another endpoint is at 100")
	mustBeUnavailable(t, a.Call(t.Context(), "m", nil, nil), "lags")
	mustCall(t, c, "second")
}

func TestASurveyOfFailingEndpointsIsUnavailable(t *testing.T) {
	t.Parallel()
	c := newClient(t, Config{URLs: urlsOf(startNode(t, raw(502, "")), startNode(t, hangUp)), MaxLag: 1})
	head := func(ctx context.Context, s *Session) (uint64, error) { return 0, s.Call(ctx, "head", nil, nil) }
	err := c.Survey(t.Context(), head)
	mustBeUnavailable(t, err, "502")
	mustBeUnavailable(t, err, "EOF")
	mustBeUnavailable(t, c.Survey(t.Context(), head), "in a cool-down for")
}

func TestGetAndPost(t *testing.T) {
	t.Parallel()
	var got, body atomic.Value
	n := startNode(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got.Store(r.Method + " " + r.RequestURI)
		body.Store(string(b))
		switch {
		case strings.Contains(r.RequestURI, "missing"):
			w.WriteHeader(404)
			io.WriteString(w, ` {"message":"no such account"} `)
		case strings.Contains(r.RequestURI, "broken"):
			w.WriteHeader(500)
			io.WriteString(w, `{}`)
		default:
			io.WriteString(w, `{"block":{"n":1}}`+"\n")
		}
	})
	c := newClient(t, Config{URLs: []string{n.URL + "/api/?key=k"}, MinPause: time.Nanosecond})
	var out struct {
		Block struct {
			N int `json:"n"`
		} `json:"block"`
	}
	if err := c.Post(t.Context(), "/wallet/getblock", map[string]any{"id_or_num": "5"}, &out); err != nil ||
		out.Block.N != 1 {
		t.Errorf("post: %+v, %v, want 1", out, err)
	}
	if got.Load() != "POST /api/wallet/getblock?key=k" || body.Load() != `{"id_or_num":"5"}` {
		t.Errorf("sent %v with %v, want POST /api/wallet/getblock?key=k and %v",
			got.Load(), body.Load(), `{"id_or_num":"5"}`)
	}
	var value []byte
	if err := c.Get(t.Context(), "/v1/a%2Fb?x=1", &value); err != nil || string(value) != `{"block":{"n":1}}` {
		t.Errorf("get: %s, %v, want %q", value, err, `{"block":{"n":1}}`)
	}
	if got.Load() != "GET /api/v1/a%2Fb?key=k&x=1" || body.Load() != "" {
		t.Errorf("sent %v with the body %q, want %s and none", got.Load(), body.Load(), "GET /api/v1/a%2Fb?key=k&x=1")
	}
	if err := c.Post(t.Context(), "", nil, nil); err != nil || got.Load() != "POST /api/?key=k" {
		t.Errorf("post to the endpoint itself: sent %v, %v, want POST /api/?key=k", got.Load(), err)
	}
	var answer *Error
	if err := c.Get(t.Context(), "/missing?x=1", &out); !errors.As(err, &answer) || answer.Code != 404 ||
		string(answer.Data) != `{"message":"no such account"}` {
		t.Errorf("error %v", err)
	}
	mustBeUnavailable(t, c.Get(t.Context(), "/broken", &out), "GET /broken: no endpoint answered")
}
