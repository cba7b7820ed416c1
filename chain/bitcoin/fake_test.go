package bitcoin

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"io"
	"math"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// fakeNode is a bitcoind without a network: it has blocks, and gives the answers that a test sets.
type fakeNode struct {
	mu     sync.Mutex
	blocks []*wire.MsgBlock // the best chain from height 0 on
	stale  map[string]int   // heights of blocks that were reorged out, by hash
	txs    map[string]string
	says   map[string]func(params []any) any // overrides the answer to a method; an *rpc.Error is an error
}

// raw is a JSON value written as it is.
type raw = json.RawMessage

func newFake() *fakeNode {
	f := &fakeNode{stale: map[string]int{}, txs: map[string]string{}, says: map[string]func([]any) any{}}
	f.add()
	return f
}

// say sets the answer to a method.
func (f *fakeNode) say(method string, answer any) {
	f.sayBy(method, func([]any) any { return answer })
}

func (f *fakeNode) sayBy(method string, answer func(params []any) any) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.says[method] = answer
}

// add appends a block with a coinbase and the given transactions to the chain.
func (f *fakeNode) add(txs ...*wire.MsgTx) *wire.MsgBlock {
	f.mu.Lock()
	defer f.mu.Unlock()
	coinbase := wire.NewMsgTx(1)
	coinbase.AddTxIn(&wire.TxIn{
		PreviousOutPoint: wire.OutPoint{Index: math.MaxUint32},
		SignatureScript:  []byte{byte(len(f.blocks)), byte(len(f.stale)), 1},
	})
	coinbase.AddTxOut(wire.NewTxOut(50e8, []byte{opOne}))
	return f.append(append([]*wire.MsgTx{coinbase}, txs...))
}

func (f *fakeNode) append(txs []*wire.MsgTx) *wire.MsgBlock {
	b := wire.NewMsgBlock(&wire.BlockHeader{Version: 4, Timestamp: time.Unix(1_700_000_000, 0)})
	if len(f.blocks) > 0 {
		b.Header.PrevBlock = f.blocks[len(f.blocks)-1].BlockHash()
	}
	b.Transactions = txs
	b.Header.MerkleRoot = rootOf(txs)
	f.blocks = append(f.blocks, b)
	for _, tx := range txs {
		f.txs[tx.TxID()] = hexOf(tx)
	}
	return b
}

// rootOf computes the merkle root in the obvious, slow way.
func rootOf(txs []*wire.MsgTx) chainhash.Hash {
	var level []chainhash.Hash
	for _, tx := range txs {
		level = append(level, tx.TxHash())
	}
	for len(level) > 1 {
		var above []chainhash.Hash
		for i := 0; i < len(level); i += 2 {
			right := level[min(i+1, len(level)-1)]
			above = append(above, chainhash.DoubleHashH(slices.Concat(level[i][:], right[:])))
		}
		level = above
	}
	return level[0]
}

// drop removes the last blocks from the best chain.
func (f *fakeNode) drop(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for range n {
		last := len(f.blocks) - 1
		f.stale[f.blocks[last].BlockHash().String()] = last
		f.blocks = f.blocks[:last]
	}
}

func (f *fakeNode) ref(height int) chain.BlockRef {
	f.mu.Lock()
	defer f.mu.Unlock()
	return chain.BlockRef{Height: uint64(height), Hash: f.blocks[height].BlockHash().String()}
}

func serialise(t interface{ Serialize(io.Writer) error }) []byte {
	var b bytes.Buffer
	if err := t.Serialize(&b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

func hexOf(t interface{ Serialize(io.Writer) error }) string { return hex.EncodeToString(serialise(t)) }

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

// open returns an adapter for a fake node, whose first block is the network's.
func open(t testing.TB, f *fakeNode, change ...func(*Config)) *Chain {
	t.Helper()
	network, err := Bitcoin("regtest")
	if err != nil {
		t.Fatal(err)
	}
	network.Genesis = f.ref(0).Hash
	cfg := Config{
		ID: "bitcoin", Network: network,
		Node: rpc.Config{URLs: []string{"http://node.invalid"}, HTTP: f, MinPause: time.Nanosecond,
			MaxPause: time.Nanosecond},
	}
	for _, c := range change {
		c(&cfg)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

var keys = chaintest.Keys{Curve: chain.Secp256k1}

// source returns one of our keys with its address.
func source(t testing.TB, c *Chain, index uint32) chain.Source {
	t.Helper()
	ref := chain.KeyRef{Family: "bitcoin", Branch: chain.DepositBranch, Index: index}
	address, err := c.Address(keys.Public(ref), 0)
	if err != nil {
		t.Fatal(err)
	}
	return chain.Source{Key: ref, Base: address.Base}
}

// script returns the script that pays an address.
func script(t testing.TB, c *Chain, base string) []byte {
	t.Helper()
	s, err := c.network.script(base)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// pays returns a transaction of an outsider with the given outputs.
func pays(salt byte, outputs ...*wire.TxOut) *wire.MsgTx {
	tx := wire.NewMsgTx(2)
	tx.AddTxIn(&wire.TxIn{PreviousOutPoint: wire.OutPoint{Hash: chainhash.Hash{salt, 1}},
		SignatureScript: []byte{1, salt}})
	tx.TxOut = outputs
	return tx
}
