package xrpl

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

const maxBody = 1 << 20 // rippled's own limit for a request

// query is the parameters of every method together.
type query struct {
	APIVersion   int             `json:"api_version"`
	Account      string          `json:"account"`
	LedgerIndex  json.RawMessage `json:"ledger_index"`
	LedgerHash   string          `json:"ledger_hash"`
	Transactions bool            `json:"transactions"`
	Expand       bool            `json:"expand"`
	Binary       bool            `json:"binary"`
	Blob         string          `json:"tx_blob"`
	Transaction  string          `json:"transaction"`
	MinLedger    *uint32         `json:"min_ledger"`
	MaxLedger    *uint32         `json:"max_ledger"`
	IndexMin     *int64          `json:"ledger_index_min"`
	IndexMax     *int64          `json:"ledger_index_max"`
	Limit        int             `json:"limit"`
	Forward      bool            `json:"forward"`
	Marker       *int            `json:"marker"`
	Streams      []string        `json:"streams"`
	AccountRoot  string          `json:"account_root"`
	Index        string          `json:"index"`
}

// object is a JSON object.
type object = map[string]any

// refusal is an error in rippled's form (ErrorCodes.cpp).
type refusal struct {
	token   string
	code    int
	message string
	more    object
}

func refuse(token string, code int, message string) *refusal {
	return &refusal{token: token, code: code, message: message}
}

func invalid(message string) *refusal { return refuse("invalidParams", 31, message) }

// handle serves JSON-RPC by POST and WebSocket by upgrade.
func (n *Node) handle(w http.ResponseWriter, r *http.Request) {
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		n.webSocket(w, r)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	if err != nil {
		http.Error(w, "cannot read the request body", http.StatusRequestEntityTooLarge)
		return
	}
	var call struct {
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	if r.Method != http.MethodPost || json.Unmarshal(body, &call) != nil || len(call.Params) > 1 {
		http.Error(w, "Unable to parse request", http.StatusBadRequest)
		return
	}
	if call.Method == "" {
		http.Error(w, "Null method", http.StatusBadRequest)
		return
	}
	params := json.RawMessage("{}")
	if len(call.Params) == 1 {
		params = call.Params[0]
	}
	result, refused := n.answer(call.Method, params)
	if refused != nil {
		result = refused.object(call.Method, params)
	} else {
		result["status"] = "success"
	}
	text, err := json.Marshal(object{"result": result})
	if err != nil {
		http.Error(w, "Internal error.", http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	_, _ = w.Write(text) // a client that has gone away needs no answer
}

// object is a refusal as a result that echoes the request.
func (r *refusal) object(method string, params json.RawMessage) object {
	var request object
	if json.Unmarshal(params, &request) != nil || request == nil {
		request = object{} // a request that is not an object is not echoed
	}
	request["command"] = method
	out := object{
		"error":         r.token,
		"error_code":    r.code,
		"error_message": r.message,
		"request":       request,
		"status":        "error",
	}
	for key, value := range r.more {
		out[key] = value
	}
	return out
}

// answer runs one method. It sees whole ledgers only.
func (n *Node) answer(method string, params json.RawMessage) (object, *refusal) {
	var q query
	if err := json.Unmarshal(params, &q); err != nil {
		return nil, invalid("Invalid parameters.")
	}
	if q.APIVersion == 0 {
		q.APIVersion = 1
	}
	if q.APIVersion < 1 || q.APIVersion > 2 {
		return nil, refuse("invalid_API_version", 6, "")
	}
	if method == "submit" && n.present != nil {
		return n.present.answer(method, params)
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch method {
	case "server_info":
		return n.serverInfo(), nil
	case "fee":
		return n.fees(), nil
	case "ping":
		return object{}, nil
	case "ledger_current":
		return object{"ledger_current_index": n.tip().index + 1}, nil
	case "ledger_closed":
		return object{"ledger_index": n.shown().index, "ledger_hash": n.shown().hash.String()}, nil
	case "ledger":
		return n.askLedger(q)
	case "account_info":
		return n.accountInfo(q)
	case "account_objects":
		return n.accountObjects(q)
	case "account_tx":
		return n.accountTx(q)
	case "ledger_entry":
		return n.ledgerEntry(q)
	case "tx":
		return n.askTx(q)
	case "submit":
		return n.submit(q)
	}
	return nil, refuse("unknownCmd", 32, "Unknown method.")
}
