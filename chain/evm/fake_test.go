package evm

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/ethereum/go-ethereum/common"
	"github.com/ethereum/go-ethereum/core/types"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// object is a JSON object.
type object = map[string]any

// fakeTx is a transaction with its result. Zero values: a successful plain payment.
type fakeTx struct {
	kind     string // type, "0x2"
	from, to string
	value    string
	input    string
	failed   bool
	gas      uint64 // 21,000 or, with input, 50,000
	free     bool   // no gas at all
	logs     []object
	contract string   // created
	calls    []object // callTracer frames below the top
	nonce    uint64
	allows   []types.SetCodeAuthorization
}

// fakeBlock is a block as a node returns it; tests may corrupt it.
type fakeBlock struct {
	block    object
	receipts []any
	traces   []any
	flat     []any
}

// failure is a JSON-RPC error of the fake node.
type failure struct {
	code    int
	message string
}

func (f failure) Error() string { return f.message }

var errNoMethod = failure{-32601, "the method does not exist/is not available"}

// fake is a scripted node.
type fake struct {
	mu       sync.Mutex
	blocks   []*fakeBlock
	final    any // number of the finalized block; nil: null
	script   map[string]func(params []any) (any, error)
	balances map[string]string // "address@height"
	asked    map[string]int
	url      string
}

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{
		script: map[string]func([]any) (any, error){}, balances: map[string]string{}, asked: map[string]int{},
	}
	f.add()
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// open connects an adapter to the fake node only.
func (f *fake) open(t testing.TB, adjust func(*Config)) *Chain {
	t.Helper()
	cfg := Ethereum()
	cfg.Tokens = []Token{{Contract: fakeToken, Decimals: 6}}
	if adjust != nil {
		adjust(&cfg)
	}
	c, err := New(cfg, rpc.Config{URLs: []string{f.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// The addresses of the fake chain, and a watch on ours.
const (
	fakeToken    = "0x7070707070707070707070707070707070707070"
	fakeOutsider = "0x5151515151515151515151515151515151515151"
	fakeContract = "0xc0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0c0"
	fakeOurs     = "0xa1b2c3d4e5f60718293a4b5c6d7e8f9012345678"
	fakeOther    = "0xb1b2c3d4e5f60718293a4b5c6d7e8f9012345678"
)

func base(text string) string {
	a, err := parseAddress(text)
	if err != nil {
		panic(err)
	}
	return a.String()
}

func fakeWatch() *chaintest.Watch { return chaintest.NewWatch(base(fakeOurs), base(fakeOther)) }

// at returns the reference of a block.
func (f *fake) at(height int) chain.BlockRef {
	return chain.BlockRef{Height: uint64(height), Hash: f.blocks[height].block["hash"].(string)}
}

// after reads all blocks after the first one.
func (f *fake) after(t testing.TB, c *Chain) []chain.Block {
	t.Helper()
	blocks, err := c.After(t.Context(), f.at(0), 100, fakeWatch())
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

func fakeHash(kind string, n ...int) string { return keccak(fmt.Append(nil, kind, n)).String() }

// add appends a block.
func (f *fake) add(txs ...fakeTx) *fakeBlock {
	height := len(f.blocks)
	b := &fakeBlock{block: object{
		"number": quantity(height).hex(), "hash": fakeHash("block", height), "parentHash": fakeHash("block", height-1),
		"timestamp": "0x6b00f996", "baseFeePerGas": "0x3b9aca00", "miner": "0x" + strings.Repeat("00", 20),
		"transactionsRoot": emptyRoot.String(),
	}}
	list := []any{}
	var logs bloom
	for i, tx := range txs {
		b.block["transactionsRoot"] = fakeHash("root", height)
		list = append(list, b.tx(height, i, tx))
		b.receipts = append(b.receipts, b.receipt(height, i, tx, &logs))
		b.trace(height, i, tx)
	}
	b.block["transactions"], b.block["logsBloom"] = list, fmt.Sprintf("0x%x", logs[:])
	f.blocks = append(f.blocks, b)
	return b
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func nullable(text string) any {
	if text == "" {
		return nil
	}
	return text
}

func (b *fakeBlock) tx(height, i int, tx fakeTx) object {
	whole := object{
		"type": or(tx.kind, "0x2"), "nonce": quantity(tx.nonce).hex(), "hash": fakeHash("tx", height, i),
		"blockHash":        b.block["hash"],
		"transactionIndex": quantity(i).hex(), "from": or(tx.from, fakeOutsider), "to": nullable(tx.to),
		"value": or(tx.value, "0x0"), "input": or(tx.input, "0x"), "unheardOf": object{"of": []int{1}},
	}
	if tx.allows != nil {
		whole["authorizationList"] = tx.allows
	}
	return whole
}

func (b *fakeBlock) receipt(height, i int, tx fakeTx, logs *bloom) object {
	gas := uint64(plainGas)
	if tx.input != "" || tx.calls != nil {
		gas = 50_000
	}
	gas = or(tx.gas, gas)
	if tx.free {
		gas = 0
	}
	status := "0x1"
	if tx.failed {
		status = "0x0"
	}
	list := []any{}
	for n, log := range tx.logs {
		whole := object{"transactionHash": fakeHash("tx", height, i), "logIndex": quantity(100*i + n).hex(), "removed": false}
		for key, value := range log {
			whole[key] = value
		}
		list = append(list, whole)
		fillBloom(logs, whole)
	}
	return object{
		"transactionHash": fakeHash("tx", height, i), "blockHash": b.block["hash"], "blockNumber": b.block["number"],
		"transactionIndex": quantity(i).hex(), "status": status, "gasUsed": quantity(gas).hex(),
		"effectiveGasPrice": "0x77359400", "contractAddress": nullable(tx.contract), "logs": list,
	}
}

// fillBloom adds a log to a bloom with go-ethereum's own code. Invalid topics are left out.
func fillBloom(logs *bloom, log object) {
	filled := types.Bloom(*logs)
	filled.Add(common.HexToAddress(log["address"].(string)).Bytes())
	for _, topic := range log["topics"].([]string) {
		filled.Add(common.HexToHash(topic).Bytes())
	}
	*logs = bloom(filled)
}

func (b *fakeBlock) trace(height, i int, tx fakeTx) {
	top := object{
		"type": "CALL", "from": or(tx.from, fakeOutsider), "to": nullable(or(tx.to, tx.contract)),
		"value": or(tx.value, "0x0"),
		"calls": tx.calls,
	}
	if tx.failed {
		top["error"] = "execution reverted"
	}
	b.traces = append(b.traces, object{"txHash": fakeHash("tx", height, i), "result": top})
	b.flatten(i, top, []int{})
}

// flatten returns a frame in the form of trace_block.
func (b *fakeBlock) flatten(tx int, frame object, path []int) {
	hash := b.traces[tx].(object)["txHash"]
	action := object{"from": frame["from"], "to": frame["to"], "value": frame["value"]}
	flat := object{
		"blockHash": b.block["hash"], "transactionHash": hash, "transactionPosition": tx, "traceAddress": path,
		"action": action,
	}
	switch kind := frame["type"].(string); kind {
	case "CREATE", "CREATE2":
		flat["type"], flat["result"] = "create", object{"address": frame["to"]}
		delete(action, "to")
	case "SELFDESTRUCT":
		flat["type"] = "suicide"
		flat["action"] = object{"address": frame["from"], "refundAddress": frame["to"], "balance": frame["value"]}
	default:
		flat["type"], action["callType"] = "call", strings.ToLower(kind)
	}
	if frame["error"] != nil {
		flat["error"] = "Reverted"
		delete(flat, "result")
	}
	b.flat = append(b.flat, flat)
	below, _ := frame["calls"].([]object)
	for n, call := range below {
		b.flatten(tx, call, append(append([]int{}, path...), n))
	}
}

// fakeCall returns a frame below the top of a transaction.
func fakeCall(kind, to, value string, below ...object) object {
	return object{"type": kind, "from": fakeContract, "to": to, "value": value, "calls": below}
}

// transferLog returns an event of the listed token.
func transferLog(to string, value uint64) object {
	return object{
		"address": fakeToken, "topics": []string{transferTopic.String(), topicOf(fakeOutsider), topicOf(to)},
		"data": fmt.Sprintf("0x%064x", value),
	}
}

func topicOf(a string) string { return "0x" + strings.Repeat("0", 24) + a[2:] }

// transfer returns an expected transfer.
func transfer(id string, output uint32, to string, amount uint64) chain.Transfer {
	return chain.Transfer{TxID: id, Output: output, Address: bursar.Address{Base: base(to)}, Amount: bursar.Units(amount),
		Internal: output > 0}
}
