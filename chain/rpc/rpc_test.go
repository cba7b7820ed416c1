package rpc

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

// asked is one JSON-RPC request as a node sees it. The test nodes use encoding/json, so that both sides of a call do
// not share one reading of JSON.
type asked struct {
	Version string            `json:"jsonrpc"`
	ID      json.Number       `json:"id"`
	Method  string            `json:"method"`
	Params  []json.RawMessage `json:"params"`
}

// node is an HTTP server whose behaviour can be exchanged while it runs.
type node struct {
	*httptest.Server
	handler atomic.Value // http.HandlerFunc
	hits    atomic.Int64
}

func startNode(t testing.TB, h http.HandlerFunc) *node {
	t.Helper()
	n := &node{}
	n.handler.Store(h)
	n.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n.hits.Add(1)
		n.handler.Load().(http.HandlerFunc)(w, r)
	}))
	t.Cleanup(n.Close)
	return n
}

func (n *node) becomes(h http.HandlerFunc) { n.handler.Store(h) }

// rpcHandler reads a request, single or batch, and gives its calls to answer, which writes the body.
func rpcHandler(answer func(w http.ResponseWriter, calls []asked)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client went away
		}
		var calls []asked
		switch {
		case bytes.HasPrefix(body, []byte("[")):
			err = json.Unmarshal(body, &calls)
		case bytes.HasPrefix(body, []byte("{")):
			calls = make([]asked, 1)
			err = json.Unmarshal(body, &calls[0])
		default:
			calls = []asked{{ID: "0"}} // not JSON-RPC
		}
		if err != nil {
			http.Error(w, "bad request: "+err.Error(), http.StatusTeapot)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		answer(w, calls)
	}
}

// says answers every single call with a status and a body in which ID stands for the call's id.
func says(status int, body string) http.HandlerFunc {
	return rpcHandler(func(w http.ResponseWriter, calls []asked) {
		w.WriteHeader(status)
		io.WriteString(w, strings.ReplaceAll(body, "ID", calls[0].ID.String()))
	})
}

// gives answers every call with one result.
func gives(value string) http.HandlerFunc {
	return says(http.StatusOK, `{"jsonrpc":"2.0","id":ID,"result":`+value+`}`)
}

// mostJitter makes every pause as long as it can be, so that tests can name it.
func mostJitter(n int64) int64 { return n - 1 }

func newClient(t testing.TB, cfg Config) *Client {
	t.Helper()
	if cfg.Rand == nil {
		cfg.Rand = mostJitter
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

func urlsOf(nodes ...*node) []string {
	urls := make([]string, len(nodes))
	for i, n := range nodes {
		urls[i] = n.URL
	}
	return urls
}

func mustCall(t testing.TB, c *Client, want string) {
	t.Helper()
	var got string
	if err := c.Call(t.Context(), "hello", nil, &got); err != nil {
		t.Errorf("call: %v", err)
	} else if got != want {
		t.Errorf("answered by %q, want %q", got, want)
	}
}

// mustBeUnavailable wants an error that cannot be taken for a node's answer.
func mustBeUnavailable(t testing.TB, err error, contains string) {
	t.Helper()
	var answer *Error
	if !errors.Is(err, ErrUnavailable) || errors.As(err, &answer) {
		t.Errorf("error %v is not plainly ErrUnavailable", err)
	}
	if !strings.Contains(err.Error(), contains) {
		t.Errorf("error %q does not tell of %q", err, contains)
	}
}

func wantState(t testing.TB, c *Client, place int, want State) {
	t.Helper()
	if got := c.Stats()[place]; got.State != want {
		t.Fatalf("endpoint %d is %q (%s), want %q", place, got.State, got.LastFault, want)
	}
}

func TestCallSendsTheEnvelope(t *testing.T) {
	t.Parallel()
	var got asked
	var user, password, contentType, path string
	n := startNode(t, func(w http.ResponseWriter, r *http.Request) {
		user, password, _ = r.BasicAuth()
		contentType, path = r.Header.Get("Content-Type"), r.URL.RequestURI()
		rpcHandler(func(w http.ResponseWriter, calls []asked) {
			got = calls[0]
			fmt.Fprintf(w, ` {"result":{"height":7},"error":null,"id":%s}`+"\n", calls[0].ID)
		})(w, r)
	})
	c := newClient(t, Config{URLs: []string{strings.Replace(n.URL, "http://", "http://me:p%40ss%2F1@", 1) + "/v3?key=abc"},
		Version: V1})
	var out struct {
		Height int `json:"height"`
	}
	if err := c.Call(t.Context(), "getblock", []any{"00ff", 2, true}, &out); err != nil {
		t.Fatal(err)
	}
	if out.Height != 7 || got.Method != "getblock" || got.Version != "1.0" ||
		fmt.Sprintf("%s", got.Params) != `["00ff" 2 true]` {
		t.Errorf("sent %+v, received %+v, want 7 and %q and %q and %q", got, out, "getblock", "1.0", `["00ff" 2 true]`)
	}
	if user != "me" || password != "p@ss/1" || contentType != "application/json" || path != "/v3?key=abc" {
		t.Errorf("user %q password %q type %q path %q, "+
			`want "me", "p@ss/1", "application/json" and "/v3?key=abc"`, user, password, contentType, path)
	}
	if err := c.Call(t.Context(), "stop", nil, nil); err != nil || got.Params == nil {
		t.Errorf("without parameters: %v, params %v", err, got.Params)
	}
}

func TestWrongUseIsRefusedBeforeSending(t *testing.T) {
	t.Parallel()
	n := startNode(t, gives(`"x"`))
	c := newClient(t, Config{URLs: urlsOf(n)})
	ctx := t.Context()
	var none *string
	for name, err := range map[string]error{
		"out by value":      c.Call(ctx, "m", nil, ""),
		"out nil pointer":   c.Call(ctx, "m", nil, none),
		"bad parameter":     c.Call(ctx, "m", []any{make(chan int)}, nil),
		"bad batch out":     c.Batch(ctx, []*Request{{Method: "m"}, {Method: "n", Out: 3}}),
		"bad batch param":   c.Batch(ctx, []*Request{{Method: "m", Params: []any{func() {}}}}),
		"foreign host":      c.Get(ctx, "//evil.example/x", nil),
		"absolute URL":      c.Get(ctx, "http://evil.example/x", nil),
		"no leading slash":  c.Get(ctx, "wallet", nil),
		"out of the folder": c.Get(ctx, "/a/../../b", nil),
		"encoded dots":      c.Get(ctx, "/a/%2e%2e/b", nil),
		"bad body":          c.Post(ctx, "/a", make(chan int), nil),
	} {
		if err == nil || errors.Is(err, ErrUnavailable) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if hits := n.hits.Load(); hits != 0 {
		t.Errorf("%d requests were sent, want 0", hits)
	}
	if err := c.Batch(ctx, nil); err != nil {
		t.Errorf("empty batch: %v", err)
	}
}

func TestNullResults(t *testing.T) {
	t.Parallel()
	c := newClient(t, Config{URLs: urlsOf(startNode(t, says(200, `{"result":null,"error":null,"id":ID}`)))})
	ctx := t.Context()
	var s string
	var list []int
	var set map[string]int
	for name, out := range map[string]any{"string": &s, "list": &list, "map": &set} {
		if err := c.Call(ctx, "m", nil, out); !errors.Is(err, ErrNull) || errors.Is(err, ErrUnavailable) {
			t.Errorf("null into a %s: %v", name, err)
		}
	}
	p, a, raw, blob := &s, any(1), jsontext.Value("x"), []byte("x")
	for name, out := range map[string]any{"pointer": &p, "interface": &a, "raw": &raw, "bytes": &blob, "nothing": nil} {
		if err := c.Call(ctx, "m", nil, out); err != nil {
			t.Errorf("null into %s: %v", name, err)
		}
	}
	if p != nil || a != nil || string(raw) != "null" || string(blob) != "null" {
		t.Errorf("null was not delivered: %v %v %s %s", p, a, raw, blob)
	}
	wantState(t, c, 0, StateUp)
}

// A result is written over what out held: a map that kept an old entry would be a deposit that is not there.
func TestResultsAreNotMerged(t *testing.T) {
	t.Parallel()
	c := newClient(t, Config{URLs: urlsOf(startNode(t, gives(`{"b":2}`)))})
	out := map[string]int{"a": 1}
	if err := c.Call(t.Context(), "m", nil, &out); err != nil || len(out) != 1 || out["b"] != 2 {
		t.Errorf("out %v, error %v, want 1 of them and 2", out, err)
	}
}

func TestRawResultIsExact(t *testing.T) {
	t.Parallel()
	const exact = `{"value":0.10000000, "n" : [1]}`
	c := newClient(t, Config{URLs: urlsOf(startNode(t, gives(exact)))})
	var raw jsontext.Value
	if err := c.Call(t.Context(), "m", nil, &raw); err != nil || string(raw) != exact {
		t.Errorf("raw %s, error %v, want %v", raw, err, exact)
	}
}
