package rpc

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"
)

// raw answers with a status, headers as "Name: value" and a body, without looking at the request.
func raw(status int, body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		for _, h := range headers {
			name, value, _ := strings.Cut(h, ": ")
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		io.WriteString(w, body)
	}
}

func hangUp(w http.ResponseWriter, _ *http.Request) {
	conn, _, err := w.(http.Hijacker).Hijack()
	if err == nil {
		conn.Close()
	}
}

// hang keeps the caller waiting until it gives up.
func hang(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	<-r.Context().Done()
}

// trickle sends a byte now and then for as long as the caller listens.
func trickle(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-r.Context().Done():
			return
		case <-tick.C:
			if _, err := io.WriteString(w, " "); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	}
}

func bomb(size int) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	chunk := bytes.Repeat([]byte{' '}, 1<<16)
	for range size / len(chunk) {
		z.Write(chunk)
	}
	z.Close()
	return b.String()
}

const testBody = 1 << 20 // the bound in the tests below

// faults is every way in which an endpoint can fail to answer, and what the error must report of it.
var faults = []struct {
	name string
	h    http.HandlerFunc
	text string
}{
	{"connection closed", hangUp, "EOF"},
	{"silent", hang, "no complete answer within"},
	{"trickling", trickle, "no complete answer within"},
	{"moved", raw(301, "", "Location: http://127.0.0.1:1/"), "HTTP 301: redirect refused"},
	{"moved temporarily", raw(307, "", "Location: /other"), "HTTP 307: redirect refused"},
	{"wrong password", raw(401, ""), "HTTP 401: credentials refused"},
	{"project id refused, as an error object",
		says(401, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32002,"message":"rejected due to project ID settings"}}`),
		"HTTP 401: credentials refused"},
	{"forbidden", raw(403, "<html>Forbidden</html>"), "HTTP 403: credentials refused"},
	{"rate limit", raw(429, "slow down"), `HTTP 429: too many requests: "slow down"`},
	{"rate limit as an error object", says(429, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32000,"message":"x"}}`),
		"HTTP 429: too many requests"},
	{"work queue full", raw(503, "Work queue depth exceeded"), `HTTP 503: failing: "Work queue depth exceeded"`},
	{"gateway timeout", raw(504, "<html>504</html>"), "HTTP 504: failing"},
	{"500 without an error object", raw(500, "Internal Server Error"), "HTTP 500: "},
	{"not found page", raw(404, "<!doctype html><title>404</title>"), "HTTP 404: HTML instead of JSON"},
	{"HTML with 200", raw(200, "\n<html>login</html>"), "HTML instead of JSON"},
	{"empty", raw(200, ""), "empty answer"},
	{"no content", raw(204, ""), "HTTP 204: empty answer"},
	{"text", raw(200, "OK"), "requested form"},
	{"truncated JSON", says(200, `{"jsonrpc":"2.0","id":ID,"result":{"hash":"00`), "not JSON: unexpected EOF"},
	{"truncated body", raw(200, `{"jsonrpc":`, "Content-Length: 1000"), "broke off after 11 bytes"},
	{"data behind the answer", says(200, `{"jsonrpc":"2.0","id":ID,"result":1}{}`),
		"not JSON: invalid character '{' after top-level value"},
	{"member twice", says(200, `{"id":ID,"result":1,"result":2}`), "duplicate object member name"},
	{"member twice in the result", says(200, `{"id":ID,"result":{"a":1,"a":2}}`), "duplicate object member name"},
	{"invalid UTF-8", says(200, "{\"id\":ID,\"result\":\"\xff\"}"), "invalid UTF-8"},
	{"nested without end", says(200, `{"id":ID,"result":`+strings.Repeat("[", 20000)), "exceeded max depth"},
	{"list for an object", says(200, `[{"id":ID,"result":"x"}]`), "requested form"},
	{"foreign id", says(200, `{"jsonrpc":"2.0","id":4711,"result":"x"}`), "answer with an unknown id"},
	{"id as text", says(200, `{"jsonrpc":"2.0","id":"ID","result":"x"}`), "answer with an unknown id"},
	{"no id", says(200, `{"jsonrpc":"2.0","result":"x"}`), "answer with an unknown id"},
	{"error without id", says(200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`),
		"answer with an unknown id"},
	{"neither result nor error", says(200, `{"jsonrpc":"2.0","id":ID}`), "neither a result nor an error"},
	{"both result and error", says(200, `{"id":ID,"result":"x","error":{"code":1,"message":"y"}}`),
		"both a result and an error"},
	{"result with an error status", says(500, `{"id":ID,"result":"x","error":null}`),
		"HTTP 500: a result with an error status"},
	{"error that is text", says(200, `{"id":ID,"error":"Unauthorized"}`), "the error is not an object"},
	{"error without a code", says(200, `{"id":ID,"error":{"message":"no"}}`), "the error is not an object"},
	{"error with a fraction for a code", says(200, `{"id":ID,"error":{"code":-1.5,"message":"no"}}`),
		"the error is not an object"},
	{"result of another shape", says(200, `{"id":ID,"result":{"a":1}}`), " unmarshal JSON object into Go string"},
	{"warming up", says(500, `{"result":null,"error":{"code":-28,"message":"Loading block index…"},"id":ID}`),
		"node answered error -28"},
	{"limit exceeded", says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32005,"message":"limit exceeded"}}`),
		"node answered error -32005"},
	{"geth timed out", says(200, `{"jsonrpc":"2.0","id":ID,"error":{"code":-32002,"message":"request timed out"}}`),
		"node answered error -32002"},
	{"huge with its length told", raw(200, strings.Repeat(" ", testBody+1)), "larger than the bound"},
	{"huge in pieces", raw(200, strings.Repeat(" ", testBody+1), "Transfer-Encoding: chunked"), "larger than the bound"},
	{"gzip bomb", raw(200, bomb(8<<20), "Content-Encoding: gzip"), "larger than the bound"},
	{"gzip broken", raw(200, "xxxxxxxxxxxxxxxx", "Content-Encoding: gzip"), "decompress the answer"},
	{"gzip truncated", raw(200, bomb(1 << 16)[:40], "Content-Encoding: gzip"), "broke off"},
	{"other encoding", raw(200, "x", "Content-Encoding: br"), "encoding that was not requested"},
}

func TestEveryFaultIsFailedOverAndStartsACoolDown(t *testing.T) {
	t.Parallel()
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			t.Parallel()
			ill, well := startNode(t, f.h), startNode(t, gives(`"well"`))
			cfg := Config{MinPause: time.Minute, MaxBody: testBody}
			if strings.Contains(f.text, "within") {
				cfg.Timeout = 200 * time.Millisecond
			}
			cfg.URLs = urlsOf(ill)
			alone := newClient(t, cfg)
			var out string
			mustBeUnavailable(t, alone.Call(t.Context(), "m", nil, &out), f.text)
			wantState(t, alone, 0, StateCoolingDown)
			hits := ill.hits.Load()
			mustBeUnavailable(t, alone.Call(t.Context(), "m", nil, &out), "in a cool-down for")
			if ill.hits.Load() != hits || hits > 2 {
				t.Errorf("asked %d times, then %d times while paused", hits, ill.hits.Load()-hits)
			}

			cfg.URLs = urlsOf(ill, well)
			if cfg.Timeout > 0 {
				cfg.Timeout = 5 * time.Second // the sound answer must come within it on a busy machine
			}
			both := newClient(t, cfg)
			mustCall(t, both, "well")
			wantState(t, both, 0, StateCoolingDown)
			wantState(t, both, 1, StateUp)
		})
	}
}

// What a node answers is never a fault, whatever the HTTP status: the endpoint stays up and no other is asked.
func TestErrorObjectsAreAnswers(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		status int
		body   string
		want   Error
	}{
		"bitcoind, 500": {500, `{"result":null,"error":{"code":-26,"message":"txn-mempool-conflict"},"id":ID}`,
			Error{Code: -26, HTTP: 500, Message: "txn-mempool-conflict"}},
		"bitcoind, 404": {404, `{"result":null,"error":{"code":-32601,"message":"Method not found"},"id":ID}`,
			Error{Code: -32601, HTTP: 404, Message: "Method not found"}},
		"bitcoind, 400": {400, `{"result":null,"error":{"code":-32600,"message":"bad"},"id":ID}`,
			Error{Code: -32600, HTTP: 400, Message: "bad"}},
		"geth": {200, `{"jsonrpc":"2.0","id":ID,"error":{"code":3,"message":"execution reverted","data":"0x08c379a0"}}`,
			Error{Code: 3, HTTP: 200, Message: "execution reverted", Data: []byte(`"0x08c379a0"`)}},
		"solana, refused in preflight": {200,
			`{"jsonrpc":"2.0","error":{"code":-32002,"message":"Transaction simulation failed"},"id":ID}`,
			Error{Code: -32002, HTTP: 200, Message: "Transaction simulation failed"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			first, second := startNode(t, says(tc.status, tc.body)), startNode(t, gives(`"x"`))
			c := newClient(t, Config{URLs: urlsOf(first, second)})
			var out string
			err := c.Call(t.Context(), "sendrawtransaction", nil, &out)
			var got *Error
			if !errors.As(err, &got) || errors.Is(err, ErrUnavailable) {
				t.Fatalf("error %v", err)
			}
			if got.Code != tc.want.Code || got.HTTP != tc.want.HTTP || got.Message != tc.want.Message ||
				string(got.Data) != string(tc.want.Data) || got.Unsure {
				t.Errorf("got %+v, want %+v", got, tc.want)
			}
			if !strings.HasPrefix(err.Error(), "call sendrawtransaction: node answered error") {
				t.Errorf("error text %q, want %q first", err, "call sendrawtransaction: node answered error")
			}
			if second.hits.Load() != 0 {
				t.Error("another endpoint was asked, want 0")
			}
			wantState(t, c, 0, StateUp)
		})
	}
}

// A refusal after another endpoint may have accepted the same transaction must not look like a plain refusal.
func TestRefusalAfterUnknownOutcomeIsUnsure(t *testing.T) {
	t.Parallel()
	refuses := says(500, `{"result":null,"error":{"code":-25,"message":"missing inputs"},"id":ID}`)
	for name, tc := range map[string]struct {
		first  http.HandlerFunc
		unsure bool
	}{
		"broke off":   {hangUp, true},
		"bad gateway": {raw(502, ""), true},
		"rate limit":  {raw(429, ""), false},
		"warming up":  {says(500, `{"result":null,"error":{"code":-28,"message":"x"},"id":ID}`), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c := newClient(t, Config{URLs: urlsOf(startNode(t, tc.first), startNode(t, refuses))})
			var got *Error
			if err := c.Call(t.Context(), "sendrawtransaction", nil, nil); !errors.As(err, &got) || got.Unsure != tc.unsure {
				t.Errorf("error %v, unsure %v, want %v", err, got != nil && got.Unsure, tc.unsure)
			}
			requests := []*Request{{Method: "sendrawtransaction"}}
			b := newClient(t, Config{URLs: urlsOf(startNode(t, tc.first), startNode(t, refuses))})
			if err := b.Batch(t.Context(), requests); err != nil || !errors.As(requests[0].Err, &got) ||
				got.Unsure != tc.unsure {
				t.Errorf("batch: error %v, %v, unsure %v, want %v", err, requests[0].Err, got.Unsure, tc.unsure)
			}
		})
	}
	t.Run("never reached", func(t *testing.T) {
		t.Parallel()
		gone := startNode(t, hangUp)
		gone.Close()
		c := newClient(t, Config{URLs: urlsOf(gone, startNode(t, refuses))})
		var got *Error
		if err := c.Call(t.Context(), "m", nil, nil); !errors.As(err, &got) || got.Unsure {
			t.Errorf("error %v", err)
		}
	})
}

func TestGzipIsRead(t *testing.T) {
	t.Parallel()
	n := startNode(t, rpcHandler(func(w http.ResponseWriter, calls []asked) {
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		io.WriteString(z, `{"jsonrpc":"2.0","id":`+calls[0].ID.String()+`,"result":"`+strings.Repeat("a", 5000)+`"}`)
		z.Close()
	}))
	c := newClient(t, Config{URLs: urlsOf(n)})
	mustCall(t, c, strings.Repeat("a", 5000))
	for url, want := range map[string]bool{"http://127.0.0.1:1": false, "http://[::1]": false, "http://localhost:1": false,
		"https://node.example": true, "http://10.0.0.1": true} {
		if e, _, err := parseEndpoint(url); err != nil || e.gzip != want {
			t.Errorf("%s: gzip %v, error %v, want %v", url, e.gzip, err, want)
		}
	}
}
