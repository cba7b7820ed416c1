package rpc

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bursar/bursar/bursartest/clocktest"
)

// choosy answers batches of at most most calls, and refuses larger ones as refuse does.
func choosy(t *testing.T, most int, refuse http.HandlerFunc, sizes *[]int) *node {
	var mu sync.Mutex
	note := func(size int) {
		mu.Lock()
		defer mu.Unlock()
		*sizes = append(*sizes, size)
	}
	return startNode(t, func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		again := func() *http.Request {
			r.Body = io.NopCloser(strings.NewReader(string(body)))
			return r
		}
		size := strings.Count(string(body), `"method"`)
		if strings.HasPrefix(string(body), "[") && size > most {
			note(-size)
			refuse(w, again())
			return
		}
		note(size)
		if strings.HasPrefix(string(body), "[") {
			rpcHandler(echo)(w, again())
			return
		}
		rpcHandler(func(w http.ResponseWriter, calls []asked) {
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, calls[0].ID, calls[0].Params[0])
		})(w, again())
	})
}

// The ways in which nodes and gateways refuse a batch as a whole.
var batchRefusals = map[string]http.HandlerFunc{
	"erigon (erigon#7072)": says(200,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"batch limit 100 exceeded: 142 requests given"}}`),
	"Gnosis (alpha-wallet-ios#5021)": says(200,
		`{"jsonrpc":"2.0","error":{"code":-32600,"message":"Too many [\"eth_getLogs\"] methods in the batch"},"id":null}`),
	"Alchemy (clickhouse-evm#4)": says(200,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Unsupported methods [trace_block] in batch call. See available methods at https://docs.alchemy.com/alchemy/documentation/apis"}}`),
	"jsonrpsee without batches": says(200,
		`{"jsonrpc":"2.0","error":{"code":-32005,"message":"Batched requests are not supported by this server"},"id":null}`),
	"Hedera's relay (json-rpc-relay)": says(400,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32202,"message":"Batch requests are disabled"}}`),
	"dRPC's free plan, not in the form of JSON-RPC (Ambire's RPC_BATCH_CONFIG: status 500, code 31)": says(500,
		`{"message":"Batch of more than 3 requests are not allowed on free tier, to use this feature register paid `+
			`account at drpc.org","code":31}`),
	"every call of the list for itself": func(w http.ResponseWriter, r *http.Request) {
		rpcHandler(func(w http.ResponseWriter, calls []asked) {
			answers := make([]string, len(calls))
			for i, call := range calls {
				answers[i] = fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"error":{"code":-32600,`+
					`"message":"Batch of more than 3 requests are not allowed on free tier"}}`, call.ID)
			}
			fmt.Fprintf(w, "[%s]", strings.Join(answers, ","))
		})(w, r)
	},
	"a body too large (agave's 50 kB)": raw(413, "Payload Too Large"),
	"bad request":                      raw(400, "bad request"),
	"forbidden":                        raw(403, ""),
	"not allowed":                      raw(405, ""),
}

func TestARefusedBatchIsSplit(t *testing.T) {
	t.Parallel()
	for name, refuse := range batchRefusals {
		for _, most := range []int{0, 10} {
			t.Run(fmt.Sprintf("%s, at most %d", name, most), func(t *testing.T) {
				t.Parallel()
				var sizes []int
				c := newClient(t, Config{URLs: urlsOf(choosy(t, most, refuse, &sizes)), MaxConns: 1})
				for round := range 2 {
					requests, out := numbers(100)
					if err := c.Batch(t.Context(), requests); err != nil {
						t.Fatal(err)
					}
					for i, got := range out {
						if got != i || requests[i].Err != nil {
							t.Fatalf("request %d: %d, %v", i, got, requests[i].Err)
						}
					}
					if round == 0 {
						sizes = sizes[:0]
					}
				}
				for _, size := range sizes {
					if size < 0 {
						t.Errorf("a batch of %d was tried again", -size)
					}
				}
				wantState(t, c, 0, StateUp)
				if s := c.Stats()[0]; s.BatchWhy == "" || s.MaxBatch > max(most, 1) {
					t.Errorf("stats %+v", s)
				}
			})
		}
	}
}

func TestTheKnownBatchSizeExpires(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	var sizes []int
	c := newClient(t, Config{URLs: urlsOf(choosy(t, 1, raw(413, ""), &sizes)), Now: clk.Now})
	ask := func() {
		t.Helper()
		requests, _ := numbers(4)
		sizes = nil
		if err := c.Batch(t.Context(), requests); err != nil {
			t.Fatal(err)
		}
	}
	ask()
	clk.Advance(batchMemory)
	if ask(); len(sizes) == 0 || sizes[0] != -4 {
		t.Errorf("asked %v, want some and %v", sizes, -4)
	}
}

func TestTheSizeOfABatchIsASetting(t *testing.T) {
	t.Parallel()
	var sizes []int
	n := choosy(t, 7, raw(413, ""), &sizes)
	c := newClient(t, Config{URLs: urlsOf(n), Quota: Quota{Batch: 7}})
	requests, _ := numbers(15)
	if err := c.Batch(t.Context(), requests); err != nil || fmt.Sprint(sizes) != "[7 7 1]" {
		t.Errorf("asked %v, %v, want %q", sizes, err, "[7 7 1]")
	}
}

// Every request has its own outcome when a batch is asked call by call, and sends stay unsure where they were.
func TestSingleCallsInPlaceOfABatchKeepTheirOutcomes(t *testing.T) {
	t.Parallel()
	n := startNode(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		switch {
		case strings.HasPrefix(string(body), "["):
			w.WriteHeader(413)
		case strings.Contains(string(body), `"method":"null"`):
			gives(`null`)(w, r)
		case strings.Contains(string(body), `"method":"refused"`):
			says(500, `{"id":ID,"error":{"code":-25,"message":"x"}}`)(w, r)
		default:
			gives(`"a"`)(w, r)
		}
	})
	var a, b, d string
	ask := func(c *Client) []*Request {
		t.Helper()
		requests := []*Request{{Method: "a", Out: &a}, {Method: "null", Out: &b}, {Method: "refused", Out: &d}}
		if err := c.Batch(t.Context(), requests); err != nil {
			t.Fatal(err)
		}
		return requests
	}
	var answer *Error
	r := ask(newClient(t, Config{URLs: urlsOf(n)}))
	if a != "a" || r[0].Err != nil || !errors.Is(r[1].Err, ErrNull) || !errors.As(r[2].Err, &answer) ||
		answer.Code != -25 || answer.Unsure {
		t.Errorf("a %q, errors %v, %v, %v", a, r[0].Err, r[1].Err, r[2].Err)
	}
	if r = ask(newClient(t, Config{URLs: urlsOf(startNode(t, hangUp), n)})); !errors.As(r[2].Err, &answer) ||
		!answer.Unsure {
		t.Errorf("after an endpoint that broke off: %v", r[2].Err)
	}
	c := newClient(t, Config{URLs: urlsOf(startNode(t, splittingLists(raw(413, ""), hangUp)), n)})
	if r = ask(c); !errors.As(r[2].Err, &answer) || !answer.Unsure {
		t.Errorf("after an endpoint that broke off between the calls: %v", r[2].Err)
	}
}

func splittingLists(lists, others http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if strings.HasPrefix(string(body), "[") {
			lists(w, r)
			return
		}
		others(w, r)
	}
}

// A refusal of the answer's size may come after the calls were acted on.
func TestABatchWithTooLargeAnAnswerMayHaveBeenExecuted(t *testing.T) {
	t.Parallel()
	n := startNode(t, splittingLists(says(200,
		`{"jsonrpc":"2.0","id":null,"error":{"code":-32011,"message":"The batch response was too large"}}`),
		says(200, `{"id":ID,"error":{"code":-25,"message":"x"}}`)))
	c := newClient(t, Config{URLs: urlsOf(n)})
	requests := []*Request{{Method: "send"}, {Method: "send"}}
	var answer *Error
	if err := c.Batch(t.Context(), requests); err != nil || !errors.As(requests[0].Err, &answer) || !answer.Unsure {
		t.Errorf("%v, %v", err, requests[0].Err)
	}
}

// Credentials that are refused are a fault in a batch too, and leave nothing behind that was learnt of batches.
func TestABatchWithWithdrawnCredentials(t *testing.T) {
	t.Parallel()
	clk := clocktest.New()
	n := startNode(t, raw(403, ""))
	c := newClient(t, Config{URLs: urlsOf(n), Now: clk.Now})
	requests, _ := numbers(10)
	mustBeUnavailable(t, c.Batch(t.Context(), requests), "credentials refused")
	wantState(t, c, 0, StateCoolingDown)
	// Single calls of before that were given up may still arrive, so the lists are counted.
	var lists atomic.Int64
	n.becomes(rpcHandler(func(w http.ResponseWriter, calls []asked) {
		if len(calls) > 1 {
			lists.Add(1)
		}
		echo(w, calls)
	}))
	clk.Advance(time.Minute)
	if err := c.Batch(t.Context(), requests); err != nil || lists.Load() != 1 {
		t.Errorf("%v after %d lists, want 1", err, lists.Load())
	}
}
