package solana

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

const (
	maxBody  = 1 << 20
	maxBatch = 1000
)

// Error codes from Agave's rpc_custom_error and from JSON-RPC.
const (
	codePreflight      = -32002
	codeSignature      = -32003
	codeNotAvailable   = -32004
	codeSlotSkipped    = -32007
	codeVersion        = -32015
	codeMinContextSlot = -32016
	codeInvalidRequest = -32600
	codeNoMethod       = -32601
	codeParams         = -32602
	codeInternal       = -32603
	codeParse          = -32700
)

// rpcError is the error member of an answer.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

func (e *rpcError) Error() string { return e.Message }

func fail(code int, format string, args ...any) error {
	return &rpcError{Code: code, Message: fmt.Sprintf(format, args...)}
}

type request struct {
	Version string            `json:"jsonrpc"`
	ID      json.RawMessage   `json:"id"`
	Method  string            `json:"method"`
	Params  []json.RawMessage `json:"params"`
}

type answer struct {
	Version string          `json:"jsonrpc"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
	ID      json.RawMessage `json:"id"`
}

func (n *Node) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/health" {
		_, _ = io.WriteString(w, "ok") // the client is gone if this fails
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		n.webSocket(w, r)
		return
	}
	if r.Method != http.MethodPost || r.URL.Path != "/" {
		http.Error(w, "Used HTTP Method is not allowed. POST or OPTIONS is required", http.StatusMethodNotAllowed)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "request body too large", http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(n.answerBody(bytes.TrimSpace(body))); err != nil {
		http.Error(w, "internal error", http.StatusInternalServerError)
		return
	}
	_, _ = w.Write(out.Bytes()) // the client is gone if this fails
}

// answerBody answers a single call or a batch.
func (n *Node) answerBody(body []byte) any {
	if len(body) > 0 && body[0] == '[' {
		var calls []json.RawMessage
		if json.Unmarshal(body, &calls) != nil || len(calls) == 0 || len(calls) > maxBatch {
			return reply(nil, nil, fail(codeInvalidRequest, "Invalid request"))
		}
		answers := make([]answer, len(calls))
		for i, c := range calls {
			answers[i] = n.answerOne(c)
		}
		return answers
	}
	return n.answerOne(body)
}

func (n *Node) answerOne(body []byte) answer {
	var req request
	if err := json.Unmarshal(body, &req); err != nil {
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) || len(body) == 0 {
			return reply(nil, nil, fail(codeParse, "Parse error"))
		}
		return reply(nil, nil, fail(codeInvalidRequest, "Invalid request"))
	}
	if req.Version != "2.0" || req.Method == "" {
		return reply(req.ID, nil, fail(codeInvalidRequest, "Invalid request"))
	}
	m, known := methods()[req.Method]
	if !known {
		return reply(req.ID, nil, fail(codeNoMethod, "Method not found"))
	}
	if m.change != nil {
		result, err := m.change(n.taker(), params(req.Params))
		return reply(req.ID, result, err)
	}
	n.mu.RLock()
	defer n.mu.RUnlock()
	result, err := m.read(n, params(req.Params))
	return reply(req.ID, result, err)
}

func reply(id json.RawMessage, result any, err error) answer {
	a := answer{Version: "2.0", ID: id}
	if id == nil {
		a.ID = json.RawMessage("null")
	}
	if err == nil {
		raw, encodeErr := json.Marshal(result)
		if encodeErr == nil {
			a.Result = raw
			return a
		}
		err = encodeErr
	}
	if !errors.As(err, &a.Error) {
		a.Error = &rpcError{Code: codeInternal, Message: err.Error()}
	}
	return a
}

// method is one call: read runs under a lock for reading, change takes its own lock.
type method struct {
	read   func(*Node, params) (any, error)
	change func(*Node, params) (any, error)
}

func methods() map[string]method {
	return map[string]method{
		"getHealth":  {read: func(*Node, params) (any, error) { return "ok", nil }},
		"getVersion": {read: (*Node).getVersion},
		"getGenesisHash": {read: func(n *Node, _ params) (any, error) {
			return n.bank.blocks[0].hash, nil
		}},
		"getIdentity": {read: func(*Node, params) (any, error) {
			return map[string]any{"identity": faucetKey()}, nil
		}},
		"getSlot":                           {read: (*Node).getSlot},
		"getBlockHeight":                    {read: (*Node).getBlockHeight},
		"getEpochInfo":                      {read: (*Node).getEpochInfo},
		"getTransactionCount":               {read: (*Node).getTransactionCount},
		"getFirstAvailableBlock":            {read: func(*Node, params) (any, error) { return 0, nil }},
		"minimumLedgerSlot":                 {read: func(*Node, params) (any, error) { return 0, nil }},
		"getLatestBlockhash":                {read: (*Node).getLatestBlockhash},
		"isBlockhashValid":                  {read: (*Node).isBlockhashValid},
		"getBalance":                        {read: (*Node).getBalance},
		"getAccountInfo":                    {read: (*Node).getAccountInfo},
		"getMultipleAccounts":               {read: (*Node).getMultipleAccounts},
		"getMinimumBalanceForRentExemption": {read: (*Node).getMinimumBalance},
		"getFeeForMessage":                  {read: (*Node).getFeeForMessage},
		"getRecentPrioritizationFees":       {read: (*Node).getRecentFees},
		"getSignatureStatuses":              {read: (*Node).getSignatureStatuses},
		"getSignaturesForAddress":           {read: (*Node).getSignaturesForAddress},
		"getTransaction":                    {read: (*Node).getTransaction},
		"getBlock":                          {read: (*Node).getBlock},
		"getBlocks":                         {read: (*Node).getBlocks},
		"getBlocksWithLimit":                {read: (*Node).getBlocksWithLimit},
		"getBlockTime":                      {read: (*Node).getBlockTime},
		"simulateTransaction":               {read: (*Node).simulateTransaction},
		"sendTransaction":                   {change: (*Node).sendTransaction},
		"requestAirdrop":                    {change: (*Node).requestAirdrop},
	}
}
