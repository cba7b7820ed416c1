package bitcoin

import (
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
)

const (
	maxBody  = 32 << 20 // bitcoind's MAX_SIZE for a request body
	maxBatch = 10_000
)

// Error codes from bitcoind's rpc/protocol.h.
const (
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeParse          = -32700
	codeMisc           = -1
	codeType           = -3
	codeAddressOrKey   = -5
	codeParameter      = -8
	codeDecode         = -22
	codeVerify         = -25
	codeRejected       = -26
	codeInChain        = -27
)

// rpcError is the error member of an answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *rpcError) Error() string { return e.Message }

func fail(code int, format string, args ...any) error {
	return &rpcError{code, fmt.Sprintf(format, args...)}
}

// request is one call. A missing id stays nil, a null one is "null".
type request struct {
	version2 bool
	id       json.RawMessage
	method   string
	params   json.RawMessage
}

// serveHTTP is HTTPReq_JSONRPC of bitcoind.
func (n *Node) serveHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.URL.Path != "/":
		w.WriteHeader(http.StatusNotFound)
		return
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
		_, _ = io.WriteString(w, "JSONRPC server handles only POST requests")
		return
	case !n.authorized(r):
		w.Header().Set("WWW-Authenticate", `Basic realm="jsonrpc"`)
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	status, answer := n.answerBody(r.Context(), body)
	if answer == nil {
		w.WriteHeader(http.StatusNoContent)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(append(answer, '\n')) // the client is gone if this fails
}

func (n *Node) authorized(r *http.Request) bool {
	user, password, ok := r.BasicAuth()
	got, want := sha256.Sum256([]byte(user+":"+password)), sha256.Sum256([]byte(n.cfg.User+":"+n.cfg.Password))
	return ok && subtle.ConstantTimeCompare(got[:], want[:]) == 1
}

// answerBody answers a single call or a batch. A nil answer means that nothing is sent.
func (n *Node) answerBody(ctx context.Context, body []byte) (int, []byte) {
	body = bytes.TrimSpace(body)
	if !json.Valid(body) {
		return http.StatusInternalServerError, reply(request{}, nil, fail(codeParse, "Parse error"))
	}
	switch body[0] {
	case '{':
		return n.answerOne(ctx, body)
	case '[':
		return n.answerBatch(ctx, body)
	}
	return http.StatusInternalServerError, reply(request{}, nil, fail(codeParse, "Top-level object parse error"))
}

func (n *Node) answerOne(ctx context.Context, body []byte) (int, []byte) {
	req, err := parseRequest(body)
	var result any
	if err == nil {
		result, err = n.call(ctx, req)
	}
	switch {
	case req.version2 && req.id == nil:
		return http.StatusNoContent, nil
	case err == nil || req.version2:
		return http.StatusOK, reply(req, result, err)
	}
	return statusOf(err), reply(req, nil, err)
}

// statusOf is the HTTP status of a failed JSON-RPC 1 call.
func statusOf(err error) int {
	var e *rpcError
	if errors.As(err, &e) && e.Code == codeInvalidRequest {
		return http.StatusBadRequest
	}
	if errors.As(err, &e) && e.Code == codeNoMethod {
		return http.StatusNotFound
	}
	return http.StatusInternalServerError
}

func (n *Node) answerBatch(ctx context.Context, body []byte) (int, []byte) {
	var calls []json.RawMessage
	if err := json.Unmarshal(body, &calls); err != nil || len(calls) > maxBatch {
		return http.StatusInternalServerError,
			reply(request{}, nil, fail(codeInvalidRequest, "batch of more than %d calls", maxBatch))
	}
	answers := make([]json.RawMessage, 0, len(calls))
	for _, c := range calls {
		if _, answer := n.answerOne(ctx, c); answer != nil {
			answers = append(answers, answer)
		}
	}
	if len(answers) == 0 && len(calls) > 0 {
		return http.StatusNoContent, nil
	}
	raw, err := json.Marshal(answers)
	if err != nil {
		return http.StatusInternalServerError, reply(request{}, nil, err)
	}
	return http.StatusOK, raw
}

// parseRequest reads a call. What it could read is returned even with an error, because the answer needs the id and
// version.
func parseRequest(body []byte) (request, error) {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(body, &fields); err != nil {
		return request{id: json.RawMessage("null")}, fail(codeInvalidRequest, "Invalid Request object")
	}
	req := request{id: fields["id"], params: fields["params"]}
	if raw := fields["jsonrpc"]; raw != nil && string(raw) != "null" {
		var version string
		if json.Unmarshal(raw, &version) != nil {
			return req, fail(codeInvalidRequest, "jsonrpc field must be a string")
		}
		if version != "1.0" && version != "2.0" {
			return req, fail(codeInvalidRequest, "JSON-RPC version not supported")
		}
		req.version2 = version == "2.0"
	}
	raw := fields["method"]
	if raw == nil || string(raw) == "null" {
		return req, fail(codeInvalidRequest, "Missing method")
	}
	if json.Unmarshal(raw, &req.method) != nil {
		return req, fail(codeInvalidRequest, "Method must be a string")
	}
	return req, nil
}

// reply encodes an answer: version 1 has both result and error, version 2 one of them.
func reply(req request, result any, err error) []byte {
	var e *rpcError
	if err != nil && !errors.As(err, &e) {
		e = &rpcError{codeMisc, err.Error()}
	}
	if e == nil {
		raw, encodeErr := json.Marshal(result)
		if encodeErr != nil {
			e = &rpcError{codeMisc, encodeErr.Error()}
		}
		result = json.RawMessage(raw)
	}
	var answer any
	switch {
	case !req.version2 && e != nil:
		answer = struct {
			Result any             `json:"result"`
			Error  *rpcError       `json:"error"`
			ID     json.RawMessage `json:"id,omitempty"`
		}{nil, e, idOrNull(req)}
	case !req.version2:
		answer = struct {
			Result any             `json:"result"`
			Error  *rpcError       `json:"error"`
			ID     json.RawMessage `json:"id,omitempty"`
		}{result, nil, req.id}
	case e != nil:
		answer = struct {
			Version string          `json:"jsonrpc"`
			Error   *rpcError       `json:"error"`
			ID      json.RawMessage `json:"id"`
		}{"2.0", e, req.id}
	default:
		answer = struct {
			Version string          `json:"jsonrpc"`
			Result  any             `json:"result"`
			ID      json.RawMessage `json:"id"`
		}{"2.0", result, req.id}
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		return []byte(`{"result":null,"error":{"code":-32603,"message":"internal error"},"id":null}`)
	}
	return bytes.TrimSpace(b.Bytes())
}

// idOrNull is the id to answer with if the request could not be read.
func idOrNull(req request) json.RawMessage {
	if req.id == nil && req.method == "" {
		return json.RawMessage("null")
	}
	return req.id
}
