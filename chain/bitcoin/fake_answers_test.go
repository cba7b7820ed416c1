package bitcoin

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain/rpc"
)

// fakeCall is one call of a request.
type fakeCall struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params []any           `json:"params"`
}

// RoundTrip answers one JSON-RPC call, or a batch one by one, as bitcoind does (rpc/server.cpp, JSONRPCExecBatch).
func (f *fakeNode) RoundTrip(req *http.Request) (*http.Response, error) {
	text, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	var reply any
	var calls []fakeCall
	if bytes.HasPrefix(text, []byte("[")) {
		if err := json.Unmarshal(text, &calls); err != nil {
			return nil, err
		}
		var replies []any
		for _, call := range calls {
			replies = append(replies, f.reply(call))
		}
		reply = replies
	} else {
		var call fakeCall
		if err := json.Unmarshal(text, &call); err != nil {
			return nil, err
		}
		reply = f.reply(call)
	}
	if err := req.Context().Err(); err != nil {
		return nil, err
	}
	body, err := json.Marshal(reply)
	if err != nil {
		return nil, err
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(body)),
		ContentLength: int64(len(body)), Request: req,
	}, nil
}

func (f *fakeNode) reply(call fakeCall) map[string]any {
	f.mu.Lock()
	answer := f.says[call.Method]
	f.mu.Unlock()
	if answer == nil {
		answer = func(params []any) any { return f.answer(call.Method, params) }
	}
	reply := map[string]any{"id": call.ID, "result": nil, "error": nil}
	switch result := answer(call.Params).(type) {
	case *rpc.Error:
		reply["error"] = map[string]any{"code": result.Code, "message": result.Message}
	default:
		reply["result"] = result
	}
	return reply
}

func (f *fakeNode) answer(method string, params []any) any {
	f.mu.Lock()
	defer f.mu.Unlock()
	tip := len(f.blocks) - 1
	switch method {
	case "getblockchaininfo":
		return map[string]any{
			"blocks": tip, "headers": tip, "bestblockhash": f.blocks[tip].BlockHash().String(), "initialblockdownload": false,
		}
	case "getbestblockhash":
		return f.blocks[tip].BlockHash().String()
	case "getblockhash":
		if height := int(params[0].(float64)); height <= tip {
			return f.blocks[height].BlockHash().String()
		}
		return &rpc.Error{Code: codeParameter, Message: "Block height out of range"}
	case "getblockheader":
		return f.headerOf(params[0].(string))
	case "getblock":
		for _, b := range f.blocks {
			if b.BlockHash().String() == params[0] {
				return hexOf(b)
			}
		}
		return &rpc.Error{Code: codeNoSuch, Message: "Block not found"}
	case "getrawtransaction":
		if len(params) == 3 && !f.has(params[2].(string)) {
			return &rpc.Error{Code: codeNoSuch, Message: "Block hash not found"} // Bitcoin Core, rpc/rawtransaction.cpp
		}
		return f.transaction(params[0].(string), params[1])
	case "getmempoolinfo":
		return map[string]any{"mempoolminfee": raw("0.00001000"), "minrelaytxfee": raw("0.00001000"),
			"incrementalrelayfee": raw("0.00001000")}
	case "estimatesmartfee":
		return map[string]any{"feerate": raw("0.00005000"), "blocks": 6}
	case "getmempoolentry":
		return &rpc.Error{Code: codeNoSuch, Message: "Transaction not in mempool"}
	}
	return &rpc.Error{Code: -32601, Message: "Method not found"}
}

func (f *fakeNode) headerOf(hash string) any {
	for height, b := range f.blocks {
		if b.BlockHash().String() == hash {
			return map[string]any{"hash": hash, "height": height, "confirmations": len(f.blocks) - height}
		}
	}
	if height, known := f.stale[hash]; known {
		return map[string]any{"hash": hash, "height": height, "confirmations": -1}
	}
	return &rpc.Error{Code: codeNoSuch, Message: "Block not found"}
}

// has reports whether the node knows a block.
func (f *fakeNode) has(hash string) bool {
	_, unknown := f.headerOf(hash).(*rpc.Error)
	return !unknown
}

// transaction answers like a node with a transaction index but without undo data.
func (f *fakeNode) transaction(id string, verbosity any) any {
	stored, known := f.txs[id]
	if !known {
		return &rpc.Error{Code: codeNoSuch,
			Message: "No such mempool or blockchain transaction. Use gettransaction for wallet transactions."}
	}
	if verbosity == false {
		return stored
	}
	answer := map[string]any{"txid": id, "vin": []any{}}
	for _, b := range f.blocks {
		if slices.ContainsFunc(b.Transactions, func(tx *wire.MsgTx) bool { return tx.TxID() == id }) {
			answer["blockhash"] = b.BlockHash().String()
		}
	}
	return answer
}
