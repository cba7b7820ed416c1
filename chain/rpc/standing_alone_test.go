package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

// fakeHosts is a transport without a network: each host answers as its function does. Time passes as synctest has it.
type fakeHosts map[string]func(*http.Request) (*http.Response, error)

func (f fakeHosts) RoundTrip(r *http.Request) (*http.Response, error) { return f[r.URL.Host](r) }

// refused is what a dial to a host without a listener ends in.
func refused(*http.Request) (*http.Response, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connect: connection refused")}
}

func sound(r *http.Request) (*http.Response, error) {
	body, _ := io.ReadAll(r.Body)
	return answerTo(body, `"`+r.URL.Host+`"`), nil
}

func status(code int, headers ...string) func(*http.Request) (*http.Response, error) {
	return func(*http.Request) (*http.Response, error) {
		h := http.Header{}
		for i := 0; i+1 < len(headers); i += 2 {
			h.Set(headers[i], headers[i+1])
		}
		return &http.Response{StatusCode: code, Header: h, Body: io.NopCloser(strings.NewReader(""))}, nil
	}
}

func checkByCall(ctx context.Context, s *Session) error { return s.Call(ctx, "eth_chainId", nil, nil) }

// tick lets a tenth of a second of synctest's time pass.
func tick() { <-time.After(tenth) }

const tenth = 100 * time.Millisecond

// pollUntil calls every 100 ms until a call succeeds, and returns how long that took.
func pollUntil(t *testing.T, c *Client) time.Duration {
	start := time.Now()
	for time.Since(start) < time.Hour {
		if c.Call(t.Context(), "m", nil, nil) == nil {
			return time.Since(start)
		}
		tick()
	}
	t.Fatal("it never came back")
	return 0
}

// The only endpoint, or all of them, however long it failed: tried again within two seconds if it answers at all,
// within a second if it could not be reached. A wish of the node's is obeyed.
func TestTheOnlyEndpointIsTriedAgainWithinTwoSeconds(t *testing.T) {
	for name, tc := range map[string]struct {
		ill  func(*http.Request) (*http.Response, error)
		most time.Duration
	}{
		"unreachable":    {refused, time.Second},
		"bad gateway":    {status(502), 2 * time.Second},
		"no credentials": {status(401), 2 * time.Second},
		"too many":       {status(429), 2 * time.Second},
		"broke off":      {func(*http.Request) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }, 2 * time.Second},
		"asked to wait":  {status(429, "Retry-After", "20"), 23 * time.Second},
		"asked by a date": {status(503, "Retry-After", time.Date(2000, 1, 1, 0, 10, 20, 0, time.UTC).Format(http.TimeFormat)),
			60 * time.Second}, // 20 s and the jitter of a wish of 5 min
	} {
		for _, hosts := range [][]string{{"http://a.example"}, {"http://a.example", "http://b.example"}} {
			synctest.Test(t, func(t *testing.T) {
				var well atomic.Bool
				turn := func(r *http.Request) (*http.Response, error) {
					if well.Load() {
						return sound(r)
					}
					return tc.ill(r)
				}
				c := newClient(t, Config{URLs: hosts, Check: checkByCall, HTTP: fakeHosts{"a.example": turn, "b.example": turn}})
				// Ill for ten minutes: synctest begins at midnight, so the date above is 20 s later.
				time.AfterFunc(10*time.Minute+tenth/2, func() { well.Store(true) })
				for !well.Load() {
					if err := c.Call(t.Context(), "m", nil, nil); err == nil {
						t.Fatal("it answered, want an error")
					}
					tick()
				}
				if took := pollUntil(t, c); took > tc.most {
					t.Errorf("%s, %d endpoints: used again after %v, want at most %v", name, len(hosts), took, tc.most)
				}
			})
		}
	}
}

func TestRetryAfterIsObeyedByTheOnlyEndpoint(t *testing.T) {
	for header, want := range map[string]time.Duration{
		"20": 20 * time.Second,
		time.Date(2000, 1, 1, 0, 0, 40, 0, time.UTC).Format(http.TimeFormat): 40 * time.Second,
		"100000": maxRetryAfter,
	} {
		synctest.Test(t, func(t *testing.T) {
			var asked []time.Duration
			start := time.Now()
			c := newClient(t, Config{URLs: []string{"http://a.example"},
				HTTP: inMemory(func(r *http.Request) (*http.Response, error) {
					asked = append(asked, time.Since(start))
					if len(asked) > 1 {
						return sound(r)
					}
					return status(429, "Retry-After", header)(r)
				})})
			pollUntil(t, c)
			if len(asked) != 2 || asked[1] < want || asked[1] > want+want/8+time.Second {
				t.Errorf("Retry-After %q: asked at %v, want 2 of them and at least %v and at most %v", header, asked, want,
					want+want/8+time.Second)
			}
		})
	}
}

// The one that fails last does not leave a call without an endpoint: what is in a cool-down for the sake of others is
// tried.
func TestACoolDownEndsWhenAllOthersFail(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	first, second := startNode(t, raw(502, "")), startNode(t, gives(`"second"`))
	c := newClient(t, Config{URLs: urlsOf(first, second), Now: clk.Now})
	for range 5 { // up to a pause of 16 s
		mustCall(t, c, "second")
		clk.Advance(16 * time.Second)
	}
	mustCall(t, c, "second")
	first.becomes(gives(`"first"`))
	second.becomes(raw(502, ""))
	clk.Advance(3 * time.Second)
	hits := second.hits.Load()
	mustCall(t, c, "first")
	if second.hits.Load() != hits+1 {
		t.Errorf("the other was asked %d times, want %v", second.hits.Load()-hits, hits+1)
	}
}

// A preferred endpoint that could not be reached is used again within seconds of its return, and no call waits for it.
func TestAReturningEndpointIsProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var well atomic.Bool
		var dials atomic.Int64
		c := newClient(t, Config{URLs: []string{"http://a.example", "http://b.example"}, Check: checkByCall, HTTP: fakeHosts{
			"b.example": sound,
			"a.example": func(r *http.Request) (*http.Response, error) {
				if well.Load() {
					return sound(r)
				}
				dials.Add(1)
				select { // a host that swallows what is sent
				case <-time.After(dialTime):
				case <-r.Context().Done():
				}
				return refused(r)
			},
		}})
		start := time.Now()
		for time.Since(start) < 10*time.Minute {
			began := time.Now()
			if err := c.Call(t.Context(), "m", nil, nil); err != nil {
				t.Fatal(err)
			}
			if took := time.Since(began); took > dialTime || took > 0 && time.Since(start) > dialTime+tenth {
				t.Fatalf("a call took %v", took)
			}
			tick()
		}
		if n := dials.Load(); n > 10*60 {
			t.Errorf("%d dials in ten minutes, want at most %v", n, 10*60)
		}
		well.Store(true)
		back := time.Now()
		for c.Stats()[0].State != StateUp {
			mustCall(t, c, "b.example")
			tick()
		}
		mustCall(t, c, "a.example")
		if took := time.Since(back); took > dialTime+probeEvery+2*tenth {
			t.Errorf("used again after %v", took)
		}
	})
}

// An endpoint that answers, if badly, keeps its growing pause while another one serves.
func TestAFailingEndpointIsNotProbed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var asked atomic.Int64
		c := newClient(t, Config{URLs: []string{"http://a.example", "http://b.example"}, Check: checkByCall, HTTP: fakeHosts{
			"b.example": sound,
			"a.example": func(r *http.Request) (*http.Response, error) {
				asked.Add(1)
				return status(502)(r)
			},
		}})
		for start := time.Now(); time.Since(start) < 10*time.Minute; tick() {
			mustCall(t, c, "b.example")
		}
		if n := asked.Load(); n > 20 {
			t.Errorf("asked %d times in ten minutes, want at most 20", n)
		}
	})
}

// Behind a load balancer heights go back and forth. The only endpoint is never behind anybody.
func TestTheOnlyEndpointNeverLags(t *testing.T) {
	t.Parallel()
	c := newClient(t, Config{URLs: urlsOf(startNode(t, gives(`"0x1"`))), MaxLag: 1})
	s := pinned(t, c)
	for _, height := range []uint64{100, 90, 101, 0, 99} {
		if err := s.Observe(height); err != nil {
			t.Errorf("height %d: %v", height, err)
		}
	}
	head := func(context.Context, *Session) (uint64, error) { return 5, nil }
	if err := c.Survey(t.Context(), head); err != nil {
		t.Error(err)
	}
	wantState(t, c, 0, StateUp)
}

func TestOnUsesTheNamedEndpoint(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	first, second := startNode(t, gives(`"first"`)), startNode(t, gives(`"second"`))
	c := newClient(t, Config{URLs: []string{first.URL, second.URL + "/key0123456789"}, Now: clk.Now, Check: checkByCall})
	list := c.Endpoints()
	if len(list) != 2 || list[0] != (Endpoint{first.URL, "127.0.0.1"}) || list[1].Name != second.URL+"/…" {
		t.Fatalf("endpoints %v, want 2 of them and %+v and %v", list, Endpoint{first.URL, "127.0.0.1"}, second.URL+"/…")
	}
	var out string
	s, err := c.On(t.Context(), list[1].Name)
	if err != nil || s.Call(t.Context(), "m", nil, &out) != nil || out != "second" {
		t.Fatalf("%q, %v, want nil and %q", out, err, "second")
	}
	if _, err := c.On(t.Context(), "http://nobody.example"); err == nil || errors.Is(err, ErrUnavailable) {
		t.Errorf("an unknown name: %v", err)
	}
	second.becomes(raw(502, ""))
	mustBeUnavailable(t, s.Call(t.Context(), "m", nil, nil), "502")
	_, err = c.On(t.Context(), list[1].Name)
	mustBeUnavailable(t, err, "in a cool-down for")
	second.becomes(gives(`"back"`))
	clk.Advance(time.Minute)
	if s, err = c.On(t.Context(), list[1].Name); err != nil || s.Call(t.Context(), "m", nil, &out) != nil ||
		out != "back" {
		t.Errorf("after its cool-down: %q, %v, want nil and %q", out, err, "back")
	}
}
