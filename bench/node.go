package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync/atomic"
	"time"
)

// node answers the JSON-RPC calls that the service makes to bitcoind while it follows a chain, from blocks that are
// ready. It shows the blocks up to its tip only.
type node struct {
	chain  *readyChain
	tip    atomic.Int64
	url    string
	server *http.Server
}

func newNode(ctx context.Context, c *readyChain) (*node, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	n := &node{chain: c, url: "http://" + listener.Addr().String()}
	n.tip.Store(int64(len(c.blocks) - 1))
	n.server = &http.Server{Handler: n, ReadHeaderTimeout: time.Minute}
	go func() { _ = n.server.Serve(listener) }()
	return n, nil
}

func (n *node) close() { _ = n.server.Close() }

// rpcCall is one call of JSON-RPC.
type rpcCall struct {
	ID     json.RawMessage   `json:"id"`
	Method string            `json:"method"`
	Params []json.RawMessage `json:"params"`
}

// ServeHTTP answers a call or a batch. A whole block is written from its parts, without encoding it again.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if text = bytes.TrimSpace(text); bytes.HasPrefix(text, []byte("[")) {
		var calls []rpcCall
		if err := json.Unmarshal(text, &calls); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		answers := make([]any, len(calls))
		for i, c := range calls {
			answers[i] = n.reply(c)
		}
		_ = json.NewEncoder(w).Encode(answers)
		return
	}
	var c rpcCall
	if err := json.Unmarshal(text, &c); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if c.Method == "getblock" {
		n.writeBlock(w, c)
		return
	}
	_ = json.NewEncoder(w).Encode(n.reply(c))
}

// rpcError is an error as bitcoind answers it.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (n *node) reply(c rpcCall) map[string]any {
	result, refused := n.answer(c)
	return map[string]any{"id": c.ID, "result": result, "error": refused}
}

func (n *node) answer(c rpcCall) (any, *rpcError) {
	tip := int(n.tip.Load())
	switch c.Method {
	case "getblockchaininfo":
		return map[string]any{"chain": "regtest", "blocks": tip, "headers": tip,
			"bestblockhash": n.chain.blocks[tip].hash, "initialblockdownload": false}, nil
	case "getbestblockhash":
		return n.chain.blocks[tip].hash, nil
	case "getblockhash":
		var height int
		if err := json.Unmarshal(param(c, 0), &height); err != nil || height < 0 || height > tip {
			return nil, &rpcError{-8, "Block height out of range"}
		}
		return n.chain.blocks[height].hash, nil
	case "getblockheader":
		var hash string
		_ = json.Unmarshal(param(c, 0), &hash)
		height, known := n.chain.height[hash]
		if !known || height > tip {
			return nil, &rpcError{-5, "Block not found"}
		}
		return map[string]any{"hash": hash, "height": height, "confirmations": tip - height + 1,
			"time": 1_700_000_000 + height*600}, nil
	case "getmempoolinfo":
		least := json.RawMessage("0.00001000")
		return map[string]any{"mempoolminfee": least, "minrelaytxfee": least, "incrementalrelayfee": least}, nil
	case "estimatesmartfee":
		return map[string]any{"feerate": json.RawMessage("0.00005000"), "blocks": 6}, nil
	case "getnetworkinfo":
		return map[string]any{"version": 290000, "subversion": "/Satoshi:29.0.0/", "connections": 8}, nil
	}
	return nil, &rpcError{-32601, "Method not found"}
}

func param(c rpcCall, i int) json.RawMessage {
	if i < len(c.Params) {
		return c.Params[i]
	}
	return json.RawMessage("null")
}

// writeBlock answers getblock, with a Content-Length as bitcoind 29 does (httpserver.cpp, HTTPRequest::WriteReply hands
// libevent the whole answer, and evhttp_send_reply names its length).
func (n *node) writeBlock(w http.ResponseWriter, c rpcCall) {
	var hash string
	_ = json.Unmarshal(param(c, 0), &hash)
	height, known := n.chain.height[hash]
	if !known || height == 0 || height > int(n.tip.Load()) {
		_ = json.NewEncoder(w).Encode(map[string]any{"id": c.ID, "result": nil,
			"error": rpcError{-5, "Block not found"}})
		return
	}
	b := n.chain.blocks[height]
	parts := [][]byte{[]byte(`{"result":"`), b.begins}
	if b.full {
		parts = append(parts, n.chain.shared)
	}
	parts = append(parts, []byte(`","error":null,"id":`), c.ID, []byte("}"))
	length := 0
	for _, part := range parts {
		length += len(part)
	}
	w.Header().Set("Content-Length", strconv.Itoa(length))
	for _, part := range parts {
		_, _ = w.Write(part) // the service checks what arrives
	}
}
