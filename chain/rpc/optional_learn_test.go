package rpc

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

func TestARefusedMethodIsNoFaultOfTheEndpoint(t *testing.T) {
	t.Parallel()
	for _, tc := range refusals {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			n := tracer(t, tc.h)
			cfg := Config{URLs: urlsOf(n), MaxBody: testBody, MaxStream: testBody, Check: chainCheck("0x1")}
			if strings.Contains(tc.text, "within") {
				cfg.Timeout = 3 * time.Second // also of the calls that are answered
			}
			c := newClient(t, cfg)
			s := pinned(t, c)
			var out string
			err := s.CallOptional(t.Context(), "debug_traceBlockByHash", nil, &out)
			if !errors.Is(err, tc.want) || errors.Is(err, ErrUnavailable) || !Declined(err) ||
				!strings.Contains(err.Error(), tc.text) {
				t.Fatalf("error %v, want %v with %q", err, tc.want, tc.text)
			}
			wantState(t, c, 0, StateUp)
			if err := s.Call(t.Context(), "eth_chainId", nil, &out); err != nil {
				t.Errorf("the session does not go on: %v", err)
			}
			hits := n.hits.Load()
			err = s.CallOptional(t.Context(), "debug_traceBlockByHash", nil, &out)
			if asked := n.hits.Load() > hits; !errors.Is(err, tc.want) || asked == (tc.want == ErrNotOffered) {
				t.Errorf("the second time: asked %v, error %v", asked, err)
			}
			known, offered := s.Offers("debug_traceBlockByHash")
			if tc.want == ErrNotOffered && (!known || offered) || tc.want == ErrTooLarge && !offered ||
				tc.want == ErrTooSlow && !offered {
				t.Errorf("known %v, offered %v", known, offered)
			}
		})
	}
}

// An error that speaks of the block or of the call is the answer: the adapter knows what it means.
func TestAnAnswerToAnOptionalCallStaysOne(t *testing.T) {
	t.Parallel()
	for _, message := range []string{"required historical state unavailable (reexec=128)", "missing trie node 5a",
		"block 0x1 not found", "execution reverted"} {
		c := newClient(t,
			Config{URLs: urlsOf(tracer(t, says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"`+message+
				`"}}`)))})
		s := pinned(t, c)
		var answer *Error
		err := s.CallOptional(t.Context(), "debug_traceBlockByHash", nil, nil)
		if !errors.As(err, &answer) || answer.Message != message || errors.Is(err, ErrNotOffered) || !Declined(err) {
			t.Errorf("%q: %v", message, err)
		}
		if known, offered := s.Offers("debug_traceBlockByHash"); !known || !offered {
			t.Errorf("%q: known %v, offered %v", message, known, offered)
		}
	}
	c := newClient(t, Config{URLs: urlsOf(tracer(t, gives(`null`)))})
	var list []string
	if err := pinned(t, c).CallOptional(t.Context(), "debug_x", nil, &list); !errors.Is(err, ErrNull) || !Declined(err) {
		t.Errorf("null: %v", err)
	}
}

// The same refusal of every call is a fault, and says what to look at.
func TestWithdrawnCredentialsAreAFault(t *testing.T) {
	t.Parallel()
	for _, status := range []int{401, 403} {
		n := tracer(t, raw(status, ""))
		c := newClient(t, Config{URLs: urlsOf(n), Check: chainCheck("0x1")})
		s := pinned(t, c)
		n.becomes(raw(status, ""))
		err := s.CallOptional(t.Context(), "debug_traceBlockByHash", nil, nil)
		mustBeUnavailable(t, err, "credentials refused (check the key or password")
		if Declined(err) {
			t.Error("withdrawn credentials count as a refused method")
		}
		wantState(t, c, 0, StateCoolingDown)
		mustBeUnavailable(t, newClient(t, Config{URLs: urlsOf(n), Check: chainCheck("0x1")}).Call(t.Context(), "eth_x", nil,
			nil), "credentials refused")
	}
}

// Too many calls are no word about the method: Alchemy's monthly capacity comes with the code of a refusal (xmtpd#672).
func TestAnAllowanceThatIsUsedUpAndANodeThatIsUnwellAreFaults(t *testing.T) {
	t.Parallel()
	for name, h := range map[string]http.HandlerFunc{
		"429": raw(429, "", "Retry-After: 7"),
		"Alchemy": says(403,
			`{"jsonrpc":"2.0","id":ID,"error":{"code":-32600,"message":"Monthly capacity limit exceeded. Visit https://dashboard.alchemyapi.io/settings/billing to upgrade your scaling policy for continued service."}}`),
		"Infura (its documents, 2026)": says(402,
			`{"jsonrpc":"2.0","id":ID,"error":{"code":402,"event":-33000,"message":"Payment Required","details":"You have reached your daily credit limit. To continue making requests, upgrade your plan or purchase additional credits"}}`),
		"warming": says(500, `{"result":null,"error":{"code":-28,"message":"Loading block index…"},"id":ID}`),
		"behind":  says(200, `{"jsonrpc":"2.0","error":{"code":-32005,"message":"Node is behind by 42 slots"},"id":ID}`),
		"body":    says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":429,"message":"Too Many Requests"}}`),
	} {
		c := newClient(t, Config{URLs: urlsOf(tracer(t, h)), Check: chainCheck("0x1")})
		err := pinned(t, c).CallOptional(t.Context(), "debug_traceBlockByHash", nil, nil)
		if !errors.Is(err, ErrUnavailable) || Declined(err) {
			t.Errorf("%s: %v", name, err)
		}
		wantState(t, c, 0, StateCoolingDown)
	}
}

func TestRefusedMethodsAreLearntAgain(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	n := tracer(t, says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no key sesame12 method"}}`))
	sound := splitting("debug_", gives(`"trace"`), gives(`"0x1"`))
	c := newClient(t, Config{URLs: []string{n.URL + "/sesame12"}, Now: clk.Now, Check: chainCheck("0x1")})
	ask := func() error {
		return pinned(t, c).CallOptional(t.Context(), "debug_traceBlockByHash", nil, new(string))
	}
	if err := ask(); !errors.Is(err, ErrNotOffered) {
		t.Fatal(err)
	}
	methods := c.Stats()[0].Methods
	if len(methods) != 1 || methods[0].Offered || !strings.Contains(methods[0].Reason, "no key xxxxx method") ||
		!methods[0].Learnt.Equal(clk.Now()) {
		t.Errorf("stats %+v", methods)
	}
	refuses := n.handler.Load().(http.HandlerFunc)
	n.becomes(sound)
	clk.Advance(offerMemory - 1)
	if err := ask(); !errors.Is(err, ErrNotOffered) {
		t.Errorf("before it is forgotten: %v, want %v", err, ErrNotOffered)
	}
	clk.Advance(1)
	if err := ask(); err != nil {
		t.Errorf("after it is forgotten: %v", err)
	}
	// What was away may be another node: it is asked again.
	n.becomes(refuses)
	if err := ask(); !errors.Is(err, ErrNotOffered) {
		t.Fatal(err)
	}
	n.becomes(raw(502, ""))
	mustBeUnavailable(t, c.Call(t.Context(), "eth_x", nil, nil), "502")
	n.becomes(sound)
	clk.Advance(time.Minute)
	if err := ask(); err != nil {
		t.Errorf("after it was away: %v", err)
	}
	if m := c.Stats()[0].Methods; len(m) != 1 || !m[0].Offered || m[0].Reason != "" {
		t.Errorf("stats %+v", m)
	}
}

// A call that brings its endpoint down each time must not bring the chain to a stop.
func TestAMethodThatFailsThriceIsNotOffered(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	n := startNode(t, gives(`"0x1"`))
	c := newClient(t, Config{URLs: urlsOf(n), Now: clk.Now, Check: chainCheck("0x1")})
	for i := range 3 {
		n.becomes(gives(`"0x1"`))
		s := pinned(t, c)
		n.becomes(hangUp) // and every call behind it: the node is gone
		err := s.CallOptional(t.Context(), "debug_traceBlockByHash", nil, nil)
		if !errors.Is(err, ErrUnavailable) {
			t.Fatalf("time %d: %v, want %v", i, err, ErrUnavailable)
		}
		clk.Advance(time.Minute)
	}
	n.becomes(gives(`"0x1"`))
	s, hits := pinned(t, c), n.hits.Load()
	err := s.CallOptional(t.Context(), "debug_traceBlockByHash", nil, nil)
	if !errors.Is(err, ErrNotOffered) || !strings.Contains(err.Error(), "three times in a row") || n.hits.Load() != hits {
		t.Errorf("error %v, %d requests", err, n.hits.Load()-hits)
	}
	clk.Advance(offerMemory)
	if err := pinned(t, c).CallOptional(t.Context(), "debug_traceBlockByHash", nil, nil); err != nil {
		t.Errorf("when it is forgotten: %v", err)
	}
}

func TestAnOptionalCallGoesOnToAnEndpointThatOffersIt(t *testing.T) {
	t.Parallel()
	without := tracer(t, says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}`))
	slow := tracer(t, says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"execution timeout"}}`))
	with := tracer(t, gives(`"trace"`))
	c := newClient(t, Config{URLs: urlsOf(without, slow, with), Check: chainCheck("0x1")})
	var out string
	for range 2 {
		if err := c.CallOptional(t.Context(), "debug_x", nil, &out); err != nil || out != "trace" {
			t.Fatalf("%q, %v, want \"trace\"", out, err)
		}
	}
	for i := range 3 {
		wantState(t, c, i, StateUp)
	}
	if without.hits.Load() != 2 || slow.hits.Load() != 3 { // with a check each
		t.Errorf("asked %d and %d times, want 2 and 3", without.hits.Load(), slow.hits.Load())
	}
	gone := startNode(t, hangUp)
	c = newClient(t, Config{URLs: urlsOf(gone, without), Check: chainCheck("0x1")})
	if err := c.CallOptional(t.Context(), "debug_x", nil, &out); !errors.Is(err, ErrNotOffered) ||
		!strings.Contains(err.Error(), without.URL) {
		t.Errorf("error %v, want %v and %v in it", err, ErrNotOffered, without.URL)
	}
	c = newClient(t, Config{URLs: urlsOf(gone), Check: chainCheck("0x1")})
	mustBeUnavailable(t, c.CallOptional(t.Context(), "debug_x", nil, &out), "EOF")
}

// A check may itself ask for what not every endpoint offers.
func TestACheckMayAskOptionally(t *testing.T) {
	t.Parallel()
	for _, h := range []http.HandlerFunc{raw(403, ""), raw(502, ""),
		says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32601,"message":"no"}}`)} {
		c := newClient(t, Config{URLs: urlsOf(tracer(t, h)), Check: func(ctx context.Context, s *Session) error {
			if err := s.CallOptional(ctx, "debug_x", nil, nil); !Declined(err) {
				return err
			}
			return s.Call(ctx, "eth_chainId", nil, nil)
		}})
		mustCall(t, c, "0x1")
	}
}
