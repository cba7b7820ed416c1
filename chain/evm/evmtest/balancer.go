package evmtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Balancer sits in front of a node and answers like several nodes behind one URL, some of which are behind: each
// request goes to the next of them. It implements chaintest.Balanced. Without backends it forwards everything.
type Balancer struct {
	URL string

	node   string
	mu     sync.Mutex
	behind []int
	next   int
}

// Balance puts a balancer in front of a node.
func Balance(t testing.TB, url string) *Balancer {
	t.Helper()
	b := &Balancer{node: url}
	server := httptest.NewServer(b)
	t.Cleanup(server.Close)
	b.URL = server.URL
	return b
}

// Spread makes the following answers come from this many backends, each so many blocks behind the newest.
func (b *Balancer) Spread(_ testing.TB, behind ...int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.behind, b.next = behind, 0
}

// turn returns how far the next backend is behind, and whether there is one.
func (b *Balancer) turn() (lag int, spread bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.behind) == 0 {
		return 0, false
	}
	b.next++
	return b.behind[b.next%len(b.behind)], true
}

// call is a JSON-RPC request or its answer.
type call struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  string          `json:"method,omitempty"`
	Params  []any           `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   json.RawMessage `json:"error,omitempty"`
}

func (b *Balancer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	lag, spread := b.turn()
	if !spread {
		b.pass(w, body)
		return
	}
	var answer any
	var list []call
	var one call
	if json.Unmarshal(body, &list) == nil {
		for i := range list {
			list[i] = b.answer(list[i], lag)
		}
		answer = list
	} else if err := json.Unmarshal(body, &one); err == nil {
		answer = b.answer(one, lag)
	} else {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	_ = json.NewEncoder(w).Encode(answer) // the client has gone
}

func (b *Balancer) pass(w http.ResponseWriter, body []byte) {
	response, err := http.Post(b.node, "application/json", bytes.NewReader(body))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer response.Body.Close()
	w.WriteHeader(response.StatusCode)
	_, _ = io.Copy(w, response.Body) // the client has gone
}

// ask forwards a call to the node itself.
func (b *Balancer) ask(c call) call {
	body, err := json.Marshal(c)
	if err != nil {
		return refusal(c, err.Error())
	}
	response, err := http.Post(b.node, "application/json", bytes.NewReader(body))
	if err != nil {
		return refusal(c, err.Error())
	}
	defer response.Body.Close()
	var answer call
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return refusal(c, err.Error())
	}
	return answer
}

func refusal(c call, message string) call {
	text, _ := json.Marshal(map[string]any{"code": -32000, "message": message}) // of texts
	return call{Version: "2.0", ID: c.ID, Error: text}
}

func result(c call, text string) call {
	return call{Version: "2.0", ID: c.ID, Result: json.RawMessage(text)}
}

// number requests the height of the block that a method and a parameter specify; -1 if there is none.
func (b *Balancer) number(method string, parameter any) int {
	answer := b.ask(call{Version: "2.0", ID: json.RawMessage("1"), Method: method, Params: []any{parameter, false}})
	var block *struct {
		Number string `json:"number"`
	}
	if json.Unmarshal(answer.Result, &block) != nil || block == nil {
		return -1
	}
	return height(block.Number)
}

func height(text string) int {
	n, err := strconv.ParseInt(strings.TrimPrefix(text, "0x"), 16, 64)
	if err != nil {
		return -1
	}
	return int(n)
}

// answer returns the answer of a backend that does not know the newest blocks, in the wording of go-ethereum 1.17.
func (b *Balancer) answer(c call, lag int) call {
	tip := b.number("eth_getBlockByNumber", "latest") - lag
	switch c.Method {
	case "eth_blockNumber":
		return result(c, `"`+hexNumber(tip)+`"`)
	case "eth_getTransactionReceipt", "eth_getTransactionByHash":
		return b.minedBy(c, tip)
	}
	for i, parameter := range c.Params {
		if known := b.known(parameter, tip, lag); known != nil {
			c.Params[i] = known
			continue
		}
		switch c.Method {
		case "eth_getBlockByNumber", "eth_getBlockReceipts", "trace_block":
			return result(c, "null")
		case "debug_traceBlockByHash":
			return refusal(c, fmt.Sprintf("block %v not found", parameter))
		}
		return refusal(c, "header not found")
	}
	return b.ask(c)
}

// known returns a parameter in the form in which the node itself is asked, or nil if it specifies a block that the
// backend does not know.
func (b *Balancer) known(parameter any, tip, lag int) any {
	switch p := parameter.(type) {
	case map[string]any:
		if hash, is := p["blockHash"]; is && b.number("eth_getBlockByHash", hash) > tip {
			return nil
		}
	case string:
		switch {
		case p == "latest":
			return hexNumber(tip)
		case p == "finalized":
			return hexNumber(max(0, b.number("eth_getBlockByNumber", "finalized")-lag))
		case len(p) == 66 && b.number("eth_getBlockByHash", p) > tip:
			return nil
		case strings.HasPrefix(p, "0x") && len(p) < 18 && height(p) > tip:
			return nil
		}
	}
	return parameter
}

// minedBy hides a transaction that is in a block above the backend's newest.
func (b *Balancer) minedBy(c call, tip int) call {
	answer := b.ask(c)
	var mined *struct {
		BlockNumber *string `json:"blockNumber"`
	}
	if json.Unmarshal(answer.Result, &mined) == nil && mined != nil && mined.BlockNumber != nil &&
		height(*mined.BlockNumber) > tip {
		return result(c, "null")
	}
	return answer
}
