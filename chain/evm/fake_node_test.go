package evm

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
)

type fakeRequest struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []any           `json:"params"`
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var answer any
	if body[0] == '[' {
		var requests []fakeRequest
		if err := json.Unmarshal(body, &requests); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		list := make([]any, len(requests))
		for i, request := range requests {
			list[i] = f.answer(request)
		}
		answer = list
	} else {
		var request fakeRequest
		if err := json.Unmarshal(body, &request); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answer = f.answer(request)
	}
	if status := f.statusOf(answer); status != 0 {
		http.Error(w, http.StatusText(status), status)
		return
	}
	_ = json.NewEncoder(w).Encode(answer) // the client checks what arrives
}

// httpFailure is a refusal by an HTTP status without an answer, as gateways send it.
type httpFailure int

func (h httpFailure) Error() string { return "" }

// statusOf returns the status with which a single request is refused, or 0.
func (f *fake) statusOf(answer any) int {
	o, _ := answer.(object)
	status, _ := o["status"].(int)
	return status
}

func (f *fake) answer(r fakeRequest) object {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[r.Method]++
	do := f.script[r.Method]
	if do == nil {
		do = func(params []any) (any, error) { return f.usual(r.Method, params) }
	}
	result, err := do(r.Params)
	if status, is := err.(httpFailure); is {
		return object{"status": int(status)}
	}
	if err != nil {
		code := -32000
		if coded, ok := err.(failure); ok {
			code = coded.code
		}
		return object{"jsonrpc": "2.0", "id": r.ID, "error": object{"code": code, "message": err.Error()}}
	}
	return object{"jsonrpc": "2.0", "id": r.ID, "result": result}
}

// usual returns an honest node's answer.
func (f *fake) usual(method string, params []any) (any, error) {
	switch method {
	case "eth_chainId":
		return "0x1", nil
	case "eth_call":
		return fmt.Sprintf("0x%064x", 6), nil
	case "eth_syncing":
		return false, nil
	case "eth_blockNumber":
		return quantity(len(f.blocks) - 1).hex(), nil
	case "eth_getBlockByNumber":
		return f.blockByNumber(params[0].(string), params[1].(bool)), nil
	case "eth_getBlockReceipts", "debug_traceBlockByHash":
		b := f.byHash(params[0].(string))
		if b == nil {
			b = f.byNumber(params[0].(string))
		}
		if b == nil && method == "eth_getBlockReceipts" {
			return nil, nil // go-ethereum 1.17, internal/ethapi: null as the specification asks
		}
		if b == nil {
			return nil, failure{-32000, "block " + params[0].(string) + " not found"} // go-ethereum 1.17, eth/tracers
		}
		if method == "eth_getBlockReceipts" {
			return append([]any{}, b.receipts...), nil
		}
		return append([]any{}, b.traces...), nil
	case "trace_block":
		var height quantity
		_ = decode([]byte(`"`+params[0].(string)+`"`), &height)
		return append([]any{}, f.blocks[height].flat...), nil
	case "eth_getTransactionReceipt":
		return f.receipt(params[0].(string)), nil
	case "eth_getBalance":
		return f.balance(params)
	}
	return nil, errNoMethod
}

func (f *fake) blockByNumber(name string, whole bool) any {
	var height quantity
	switch name {
	case "latest":
		height = quantity(len(f.blocks) - 1)
	case "finalized":
		if f.final == nil {
			return nil
		}
		height = quantity(f.final.(int))
	default:
		_ = decode([]byte(`"`+name+`"`), &height)
	}
	if int(height) >= len(f.blocks) {
		return nil
	}
	if whole {
		return f.blocks[height].block
	}
	short := object{}
	for key, value := range f.blocks[height].block {
		short[key] = value
	}
	short["transactions"] = []string{}
	return short
}

func (f *fake) byHash(hash string) *fakeBlock {
	for _, b := range f.blocks {
		if b.block["hash"] == hash {
			return b
		}
	}
	return nil
}

func (f *fake) byNumber(number string) *fakeBlock {
	for _, b := range f.blocks {
		if b.block["number"] == number {
			return b
		}
	}
	return nil
}

func (f *fake) receipt(id string) any {
	for _, b := range f.blocks {
		for _, r := range b.receipts {
			if r.(object)["transactionHash"] == id {
				return r
			}
		}
	}
	return nil
}

// balance accepts EIP-1898 parameters and heights.
func (f *fake) balance(params []any) (any, error) {
	height := params[1]
	if byHash, ok := height.(map[string]any); ok {
		b := f.byHash(byHash["blockHash"].(string))
		if b == nil {
			return nil, failure{-32000, "header for hash not found"} // go-ethereum 1.17, eth/api_backend.go
		}
		height = b.block["number"]
	}
	return or(f.balances[fmt.Sprintf("%v@%v", params[0], height)], "0x0"), nil
}
