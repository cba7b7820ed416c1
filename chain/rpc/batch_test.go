package rpc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// echo answers every call of a batch with its first parameter, in reverse order.
func echo(w http.ResponseWriter, calls []asked) {
	answers := make([]string, 0, len(calls))
	for _, call := range slices.Backward(calls) {
		answers = append(answers, fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":%s}`, call.ID, call.Params[0]))
	}
	io.WriteString(w, "["+strings.Join(answers, ",")+"]")
}

func numbers(n int) ([]*Request, []int) {
	out := make([]int, n)
	requests := make([]*Request, n)
	for i := range requests {
		out[i] = -1
		requests[i] = &Request{Method: "echo", Params: []any{i}, Out: &out[i]}
	}
	return requests, out
}

func TestBatchMatchesByIDAndIsSplit(t *testing.T) {
	t.Parallel()
	n := startNode(t, rpcHandler(echo))
	c := newClient(t, Config{URLs: urlsOf(n), MaxBatch: 10})
	requests, out := numbers(25)
	if err := c.Batch(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	for i, got := range out {
		if got != i || requests[i].Err != nil {
			t.Errorf("request %d: %d, %v", i, got, requests[i].Err)
		}
	}
	if n.hits.Load() != 3 {
		t.Errorf("%d batches, want 3", n.hits.Load())
	}
}

func TestEachRequestOfABatchHasItsOwnError(t *testing.T) {
	t.Parallel()
	n := startNode(t, rpcHandler(func(w http.ResponseWriter, calls []asked) {
		fmt.Fprintf(w, `[{"id":%s,"result":"a"},{"id":%s,"error":{"code":-5,"message":"no"}},{"id":%s,"result":null}]`,
			calls[0].ID, calls[1].ID, calls[2].ID)
	}))
	c := newClient(t, Config{URLs: urlsOf(n)})
	var a, b, d string
	requests := []*Request{{Method: "a", Out: &a}, {Method: "b", Out: &b}, {Method: "d", Out: &d}}
	if err := c.Batch(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	var answer *Error
	if a != "a" || requests[0].Err != nil || !errors.As(requests[1].Err, &answer) || answer.Code != -5 ||
		!errors.Is(requests[2].Err, ErrNull) {
		t.Errorf("a %q; errors %v, %v, %v", a, requests[0].Err, requests[1].Err, requests[2].Err)
	}
	wantState(t, c, 0, StateUp)
}

func TestInvalidAnswersToABatchAreFaults(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		answer func(a, b json.Number) string
		text   string
	}{
		"missing": {func(a, b json.Number) string { return fmt.Sprintf(`[{"id":%s,"result":0}]`, a) }, "answers are missing"},
		"none":    {func(a, b json.Number) string { return `[]` }, "answers are missing"},
		"twice": {func(a, b json.Number) string {
			return fmt.Sprintf(`[{"id":%s,"result":0},{"id":%s,"result":0}]`, a, a)
		}, "two answers with one id"},
		"foreign": {func(a, b json.Number) string {
			return fmt.Sprintf(`[{"id":%s,"result":0},{"id":999,"result":1}]`, a)
		}, "unknown id"},
		"one too many": {func(a, b json.Number) string {
			return fmt.Sprintf(`[{"id":%s,"result":0},{"id":%s,"result":1},{"id":999,"result":1}]`, a, b)
		}, "unknown id"},
		"endless": {func(a, b json.Number) string { return "[" + strings.Repeat(`{},`, 100000) }, "unknown id"},
		"truncated": {func(a, b json.Number) string {
			return fmt.Sprintf(`[{"id":%s,"result":0},{"id":%s,"result":1}`, a, b)
		}, "not JSON"},
		"trailing": {func(a, b json.Number) string {
			return fmt.Sprintf(`[{"id":%s,"result":0},{"id":%s,"result":1}] x`, a, b)
		}, "not JSON"},
		"no object": {func(a, b json.Number) string { return `[1,2]` }, "not JSON"},
		"object, no error": {func(a, b json.Number) string {
			return fmt.Sprintf(`{"id":%s,"result":0}`, a)
		}, "requested form"},
		"one rate-limited": {func(a, b json.Number) string {
			return fmt.Sprintf(`[{"id":%s,"result":0},{"id":%s,"error":{"code":429,"message":"x"}}]`, a, b)
		}, "error 429"},
		"refused, rate limit": {func(a, b json.Number) string {
			return `{"id":null,"error":{"code":-32005,"message":"x"}}`
		}, "error -32005"},
		"one of another shape": {func(a, b json.Number) string {
			return fmt.Sprintf(`[{"id":%s,"result":0},{"id":%s,"result":"x"}]`, a, b)
		}, "result: json"},
		"one with neither": {func(a, b json.Number) string {
			return fmt.Sprintf(`[{"id":%s,"result":0},{"id":%s}]`, a, b)
		}, "neither"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ill := startNode(t, rpcHandler(func(w http.ResponseWriter, calls []asked) {
				io.WriteString(w, tc.answer(calls[0].ID, calls[1].ID))
			}))
			requests, _ := numbers(2)
			c := newClient(t, Config{URLs: urlsOf(ill)})
			err := c.Batch(t.Context(), requests)
			mustBeUnavailable(t, err, tc.text)
			for _, r := range requests {
				mustBeUnavailable(t, r.Err, tc.text)
			}
			wantState(t, c, 0, StateCoolingDown)
			c = newClient(t, Config{URLs: urlsOf(ill, startNode(t, rpcHandler(echo)))})
			requests, out := numbers(2)
			if err := c.Batch(t.Context(), requests); err != nil || !slices.Equal(out, []int{0, 1}) || requests[0].Err != nil ||
				requests[1].Err != nil {
				t.Errorf("error %v, results %v, want %+v and nil", err, out, []int{0, 1})
			}
		})
	}
}

// A node refuses a whole batch with one object (JSON-RPC 2.0, section 6): an answer to each of its calls.
func TestARefusedBatchAnswersEachOfItsCalls(t *testing.T) {
	t.Parallel()
	n := startNode(t, says(200, `{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"batch too large"}}`))
	c := newClient(t, Config{URLs: urlsOf(n)})
	requests, _ := numbers(2)
	if err := c.Batch(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	for _, r := range requests {
		var answer *Error
		if !errors.As(r.Err, &answer) || answer.Code != -32600 {
			t.Errorf("error %v", r.Err)
		}
	}
	wantState(t, c, 0, StateUp)
}

// When a later part of a batch is not answered, what was answered stays and the rest says so.
func TestABatchKeepsItsAnswersWhenALaterPartFails(t *testing.T) {
	t.Parallel()
	var parts atomic.Int64
	n := startNode(t, rpcHandler(func(w http.ResponseWriter, calls []asked) {
		if parts.Add(1) == 2 {
			w.WriteHeader(502)
			return
		}
		echo(w, calls)
	}))
	c := newClient(t, Config{URLs: urlsOf(n), MaxBatch: 2})
	requests, out := numbers(6)
	mustBeUnavailable(t, c.Batch(t.Context(), requests), "502")
	for i, r := range requests {
		if answered := r.Err == nil; answered != (i < 2) || answered != (out[i] == i) {
			t.Errorf("request %d: %d, %v", i, out[i], r.Err)
		}
	}
}

// One answer of a list says that nothing was done, another that something was: what the next endpoint refuses is
// unsure.
func TestARefusalAfterAPartlyExecutedBatchIsUnsure(t *testing.T) {
	t.Parallel()
	first := startNode(t, rpcHandler(func(w http.ResponseWriter, calls []asked) {
		fmt.Fprintf(w, `[{"id":%s,"result":"txid"},{"id":%s,"error":{"code":429,"message":"x"}}]`, calls[0].ID, calls[1].ID)
	}))
	second := startNode(t, rpcHandler(func(w http.ResponseWriter, calls []asked) {
		fmt.Fprintf(w, `[{"id":%s,"error":{"code":-25,"message":"x"}},{"id":%s,"result":"txid"}]`, calls[0].ID, calls[1].ID)
	}))
	c := newClient(t, Config{URLs: urlsOf(first, second)})
	requests := []*Request{{Method: "sendrawtransaction"}, {Method: "sendrawtransaction"}}
	if err := c.Batch(t.Context(), requests); err != nil {
		t.Fatal(err)
	}
	var answer *Error
	if !errors.As(requests[0].Err, &answer) || !answer.Unsure || requests[1].Err != nil {
		t.Errorf("errors %v, %v", requests[0].Err, requests[1].Err)
	}
}
