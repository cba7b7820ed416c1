package rpc

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

func TestAnEndpointComesBackAfterItsCoolDown(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	first, second := startNode(t, raw(502, "")), startNode(t, gives(`"second"`))
	c := newClient(t, Config{URLs: urlsOf(first, second), Now: clk.Now, MinPause: time.Second, MaxPause: 8 * time.Second})
	mustCall(t, c, "second")
	// Each failure after a pause doubles the next one, up to the bound.
	for i, pause := range []time.Duration{1, 2, 4, 8, 8, 8} {
		pause *= time.Second
		hits := first.hits.Load()
		if till := c.Stats()[0].PausedTill; till.Sub(clk.Now()) != pause {
			t.Fatalf("pause %d is %v, want %v", i, till.Sub(clk.Now()), pause)
		}
		clk.Advance(pause - 1)
		mustCall(t, c, "second")
		if first.hits.Load() != hits {
			t.Fatalf("asked before pause %d was over, want %v", i, hits)
		}
		clk.Advance(1)
		mustCall(t, c, "second")
		if first.hits.Load() != hits+1 {
			t.Fatalf("not asked after pause %d", i)
		}
	}
	first.becomes(gives(`"first"`))
	clk.Advance(8 * time.Second)
	mustCall(t, c, "first")
	wantState(t, c, 0, StateUp)

	// Ill again at once: the pause stays long. Ill after it had been well for longer than it was away: it is forgiven.
	first.becomes(raw(502, ""))
	mustCall(t, c, "second")
	if pause := c.Stats()[0].PausedTill.Sub(clk.Now()); pause != 8*time.Second {
		t.Errorf("pause of a flapping endpoint %v, want %v", pause, 8*time.Second)
	}
	clk.Advance(8 * time.Second)
	first.becomes(gives(`"first"`))
	mustCall(t, c, "first")
	clk.Advance(9 * time.Second)
	first.becomes(raw(502, ""))
	mustCall(t, c, "second")
	if pause := c.Stats()[0].PausedTill.Sub(clk.Now()); pause != time.Second {
		t.Errorf("pause of a forgiven endpoint %v, want %v", pause, time.Second)
	}
}

// A node is said to be back once it answered, and not when its pause is over and it is only tried again.
func TestTheReturnIsLoggedOnceTheEndpointAnswers(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	var log strings.Builder
	n := startNode(t, raw(502, ""))
	c := newClient(t, Config{URLs: urlsOf(n), Now: clk.Now, MinPause: time.Second, MaxPause: 8 * time.Second,
		Log: slog.New(slog.NewTextHandler(&log, nil))})
	for range 3 {
		mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "502")
		clk.Advance(8 * time.Second)
	}
	if strings.Contains(log.String(), "is back") {
		t.Errorf("it never answered, yet the log says:\n%s", log.String())
	}
	n.becomes(gives(`"ok"`))
	mustCall(t, c, "ok")
	mustCall(t, c, "ok")
	if times := strings.Count(log.String(), "is back"); times != 1 {
		t.Errorf("its return is logged %d times:\n%s, want 1", times, log.String())
	}
}

func TestCoolDownsAreJittered(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rand func(int64) int64
		want time.Duration
	}{{func(int64) int64 { return 0 }, time.Second}, {mostJitter, 2 * time.Second}} {
		clk := clocktest.New()
		c := newClient(t, Config{URLs: urlsOf(startNode(t, hangUp)), Now: clk.Now, Rand: tc.rand, MinPause: 2 * time.Second})
		mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "EOF")
		if pause := c.Stats()[0].PausedTill.Sub(clk.Now()); pause != tc.want {
			t.Errorf("pause %v, want %v", pause, tc.want)
		}
	}
}

func TestRetryAfterIsHonouredWithinABound(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	for header, want := range map[string]time.Duration{
		"20": 20 * time.Second,
		clk.Now().Add(40 * time.Second).Format(http.TimeFormat): 40 * time.Second,
		"999999999":                     maxRetryAfter,
		"99999999999999999999":          time.Second,
		"-5":                            time.Second,
		"tomorrow":                      time.Second,
		"Fri, 01 Jan 1999 00:00:00 GMT": time.Second,
		"0":                             time.Second,
	} {
		c := newClient(t, Config{URLs: urlsOf(startNode(t, raw(429, "", "Retry-After: "+header))), Now: clk.Now})
		mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "HTTP 429")
		if want > time.Second {
			want += want / 8 // the jitter
		}
		if pause := c.Stats()[0].PausedTill.Sub(clk.Now()); pause != want {
			t.Errorf("Retry-After %q: pause %v, want %v", header, pause, want)
		}
	}
}

// Calls that fail together are one failure: eight at once must not make the pause 128 times as long.
func TestManyFailuresAtOnceAreOneStrike(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	var arrived sync.WaitGroup
	arrived.Add(8)
	n := startNode(t, func(w http.ResponseWriter, r *http.Request) {
		arrived.Done()
		arrived.Wait()
		w.WriteHeader(502)
	})
	c := newClient(t, Config{URLs: urlsOf(n), Now: clk.Now})
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "502") })
	}
	wg.Wait()
	if s := c.Stats()[0]; s.PausedTill.Sub(clk.Now()) != time.Second || s.Faults != 8 || s.Calls != 8 {
		t.Errorf("stats %+v, want %v and 8", s, time.Second)
	}
}

func TestRetryableIsConfigurable(t *testing.T) {
	t.Parallel()
	first, second := startNode(t, says(200, `{"id":ID,"error":{"code":-7,"message":"busy"}}`)),
		startNode(t, gives(`"second"`))
	c := newClient(t, Config{URLs: urlsOf(first, second), Retryable: func(e *Error) bool {
		return e.Code == -7 && e.Message == "busy"
	}})
	mustCall(t, c, "second")
	wantState(t, c, 0, StateCoolingDown)
}

// A node that closes idle connections is not ill: the question is asked again at once, and only once.
func TestAClosedIdleConnectionIsNoFault(t *testing.T) {
	t.Parallel()
	n := startNode(t, gives(`"ok"`))
	c := newClient(t, Config{URLs: urlsOf(n)})
	mustCall(t, c, "ok")
	var cut atomic.Int64
	sound := n.handler.Load().(http.HandlerFunc)
	n.becomes(func(w http.ResponseWriter, r *http.Request) {
		if cut.Add(1) == 1 {
			hangUp(w, r)
			return
		}
		sound(w, r)
	})
	mustCall(t, c, "ok")
	if s := c.Stats()[0]; s.Faults != 0 || n.hits.Load() != 3 {
		t.Errorf("%d requests, stats %+v, want 0 and 3", n.hits.Load(), s)
	}
	n.becomes(hangUp)
	mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "EOF")
	if n.hits.Load() > 5 {
		t.Errorf("%d requests: asked more than twice", n.hits.Load()-3)
	}
}

// inMemory is a transport without a network, so that synctest's time can pass over a wait.
type inMemory func(*http.Request) (*http.Response, error)

func (f inMemory) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func silent(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func TestTimeoutsAndShortDeadlines(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := newClient(t, Config{URLs: []string{"http://a.example", "http://b.example"}, Timeout: 10 * time.Second,
			HTTP: inMemory(silent)})
		start := time.Now()
		mustBeUnavailable(t, c.Call(t.Context(), "m", nil, nil), "no complete answer within 10s")
		if took := time.Since(start); took != 20*time.Second {
			t.Errorf("two silent endpoints took %v, want %v", took, 20*time.Second)
		}
	})
	synctest.Test(t, func(t *testing.T) { // a caller that goes away says nothing about the node
		c := newClient(t, Config{URLs: []string{"http://a.example", "http://b.example"}, Timeout: 10 * time.Second,
			HTTP: inMemory(silent)})
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(9*time.Second, cancel)
		err := c.Call(ctx, "m", nil, nil)
		if !errors.Is(err, context.Canceled) || errors.Is(err, ErrUnavailable) ||
			!strings.HasPrefix(err.Error(), "call m: ") {
			t.Errorf("error %v", err)
		}
		wantState(t, c, 0, StateUp)
	})
	synctest.Test(t, func(t *testing.T) { // but a node that outlasts the patience of its callers is passed over in the end
		c := newClient(t, Config{URLs: []string{"http://a.example", "http://b.example"}, Timeout: 10 * time.Second,
			HTTP: inMemory(silent)})
		for _, patience := range []time.Duration{time.Second, 6 * time.Second} {
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			if err := c.Call(ctx, "m", nil, nil); !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, ErrUnavailable) {
				t.Errorf("error %v", err)
			}
			cancel()
		}
		wantState(t, c, 0, StateCoolingDown)
	})
}

func answerTo(request []byte, result string) *http.Response {
	body := `{"jsonrpc":"2.0","id":` + idOf(request) + `,"result":` + result + `}`
	return &http.Response{StatusCode: 200, Header: http.Header{}, ContentLength: int64(len(body)),
		Body: io.NopCloser(strings.NewReader(body))}
}

// idOf is the id of the one call in a request.
func idOf(request []byte) string {
	_, rest, _ := strings.Cut(string(request), `"id":`)
	id, _, _ := strings.Cut(rest, ",")
	return id
}
