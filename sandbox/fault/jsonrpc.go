package fault

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

const maxRequest = 32 << 20 // bytes; the nodes' own limits are lower or the same

// call is one JSON-RPC request. Members that are not needed are passed on unchanged.
type call struct {
	members map[string]json.RawMessage
	method  string
	params  []json.RawMessage
}

// memory answers calls from an earlier state. ask sends another call to the node, as the same client.
type memory interface {
	answer(c call, ask func(method string, params ...any) (json.RawMessage, error),
		pass func(c call) (json.RawMessage, error)) (json.RawMessage, error)
}

// rpcError is a node's refusal, passed on unchanged.
type rpcError struct{ raw json.RawMessage }

func (e *rpcError) Error() string { return "the node refuses: " + string(e.raw) }

func refuse(code int, message string) error {
	raw, _ := json.Marshal(map[string]any{"code": code, "message": message}) // of an int and a string: never fails
	return &rpcError{raw}
}

// remembering serves JSON-RPC over HTTP, single or in batches, from a memory.
type remembering struct {
	node   http.Handler
	memory memory
}

func (f remembering) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "cannot read the request", http.StatusRequestEntityTooLarge)
		return
	}
	var batch []json.RawMessage
	if json.Unmarshal(body, &batch) != nil {
		f.write(w, f.one(r, body))
		return
	}
	answers := make([]json.RawMessage, 0, len(batch))
	for _, one := range batch {
		answers = append(answers, f.one(r, one))
	}
	whole, err := json.Marshal(answers)
	if err != nil {
		http.Error(w, "the node's answer is not JSON", http.StatusBadGateway)
		return
	}
	f.write(w, whole)
}

func (remembering) write(w http.ResponseWriter, body []byte) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(body) // the client is gone if this fails
}

// one answers a single request. What the memory does not understand goes to the node.
func (f remembering) one(r *http.Request, body []byte) []byte {
	var c call
	if json.Unmarshal(body, &c.members) != nil || json.Unmarshal(c.members["method"], &c.method) != nil {
		return f.exchange(r, body)
	}
	if raw := c.members["params"]; raw != nil && json.Unmarshal(raw, &c.params) != nil {
		return f.exchange(r, body) // named parameters
	}
	ask := func(method string, params ...any) (json.RawMessage, error) { return f.ask(r, method, params) }
	result, err := f.memory.answer(c, ask, func(c call) (json.RawMessage, error) { return f.pass(r, c) })
	return reply(c, result, err)
}

func reply(c call, result json.RawMessage, err error) []byte {
	answer := map[string]any{"id": c.members["id"]}
	if version, ok := c.members["jsonrpc"]; ok {
		answer["jsonrpc"] = version
	}
	switch refused, ok := err.(*rpcError); {
	case ok:
		answer["error"] = refused.raw
	case err != nil:
		answer["error"] = map[string]any{"code": -32603, "message": err.Error()}
	default:
		answer["result"] = result
		if _, ok := c.members["jsonrpc"]; !ok {
			answer["error"] = nil // version 1 has both
		}
	}
	raw, err := json.Marshal(answer)
	if err != nil {
		return []byte(`{"id":null,"error":{"code":-32603,"message":"internal error"}}`)
	}
	return raw
}

// pass sends a call to the node with its present parameters.
func (f remembering) pass(r *http.Request, c call) (json.RawMessage, error) {
	params := make([]any, len(c.params))
	for i, p := range c.params {
		params[i] = p
	}
	return f.ask(r, c.method, params)
}

func (f remembering) ask(r *http.Request, method string, params []any) (json.RawMessage, error) {
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		return nil, fmt.Errorf("ask %s: %w", method, err)
	}
	var answer struct {
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if err := json.Unmarshal(f.exchange(r, body), &answer); err != nil {
		return nil, fmt.Errorf("ask %s: %w", method, err)
	}
	if len(answer.Error) > 0 && string(answer.Error) != "null" {
		return nil, &rpcError{answer.Error}
	}
	if answer.Result == nil {
		return nil, fmt.Errorf("ask %s: the node gives an empty answer", method)
	}
	return answer.Result, nil
}

// exchange sends one request body through the node, with the headers of the original request.
func (f remembering) exchange(r *http.Request, body []byte) []byte {
	inner := r.Clone(r.Context())
	inner.Body, inner.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	inner.Header.Del("Accept-Encoding")
	answer := &recorder{header: http.Header{}}
	f.node.ServeHTTP(answer, inner)
	return answer.body.Bytes()
}

// recorder keeps an answer.
type recorder struct {
	header http.Header
	body   bytes.Buffer
}

func (a *recorder) Header() http.Header         { return a.header }
func (a *recorder) Write(p []byte) (int, error) { return a.body.Write(p) }
func (a *recorder) WriteHeader(int)             {}
