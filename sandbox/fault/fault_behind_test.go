package fault_test

import (
	"bytes"
	"encoding/json"
	"math/big"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/fault"
	"github.com/bursar/bursar/sandbox/nodes/bitcoin"
	"github.com/bursar/bursar/sandbox/nodes/ethereum"
	"github.com/bursar/bursar/sandbox/nodes/host"
)

// client calls a node.
type client struct {
	t   *testing.T
	url string
}

type answer struct {
	Result json.RawMessage
	Error  *struct{ Code int }
}

// raw posts a body and returns the answer unchanged.
func (c client) raw(body string) []byte {
	c.t.Helper()
	got, err := http.Post(c.url, "application/json", strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	defer got.Body.Close()
	var b bytes.Buffer
	if _, err := b.ReadFrom(got.Body); err != nil {
		c.t.Fatal(err)
	}
	return b.Bytes()
}

func (c client) ask(method string, params ...any) answer {
	c.t.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 7, "method": method, "params": params})
	if err != nil {
		c.t.Fatal(err)
	}
	var a answer
	if text := c.raw(string(body)); json.Unmarshal(text, &a) != nil {
		c.t.Fatalf("%s: %s, want nil", method, text)
	}
	return a
}

// get reads the result of a call that must succeed.
func get[T any](c client, method string, params ...any) (value T) {
	c.t.Helper()
	a := c.ask(method, params...)
	if a.Error != nil {
		c.t.Fatalf("%s %v: error %d, want nil", method, params, a.Error.Code)
	}
	if err := json.Unmarshal(a.Result, &value); err != nil {
		c.t.Fatalf("%s %v: %s: %v", method, params, a.Result, err)
	}
	return value
}

func check[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// behindBitcoin is a node that froze at a height, with a payment in the frozen block and one above it.
type behindBitcoin struct {
	client
	faults       *fault.Layer
	height       int64
	old, young   string // transactions
	tip          string // hash of the frozen block
	above, newer string // hashes of blocks above
}

func freezeBitcoin(t *testing.T) behindBitcoin {
	t.Helper()
	var n *bitcoin.Node
	faults := fault.New(fault.FreezeBitcoin(func() int64 { return n.Height() }), time.Now)
	n, err := bitcoin.Start(t.Context(), bitcoin.Config{Options: host.Options{Wrap: faults.Wrap}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	address, err := n.NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	pay := func() string {
		hash, err := n.Pay(address, 1e8)
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	mine := func(count int) string {
		hashes, err := n.Mine(count)
		if err != nil {
			t.Fatal(err)
		}
		return hashes[0].String()
	}
	b := behindBitcoin{client: client{t, n.URL()}, faults: faults, old: pay()}
	b.tip, b.height = mine(1), n.Height()
	if err := faults.Set(fault.Behind, time.Hour); err != nil {
		t.Fatal(err)
	}
	b.young = pay()
	b.above = mine(1)
	b.newer = mine(2)
	return b
}

func TestBitcoinBehindKnowsNothingNewer(t *testing.T) {
	t.Parallel()
	b := freezeBitcoin(t)
	type info struct {
		Blocks, Headers int64
		BestBlockHash   string
	}
	check(t, "getblockchaininfo", get[info](b.client, "getblockchaininfo"), info{b.height, b.height, b.tip})
	check(t, "getblockcount", get[int64](b.client, "getblockcount"), b.height)
	check(t, "getbestblockhash", get[string](b.client, "getbestblockhash"), b.tip)
	check(t, "getblockhash", get[string](b.client, "getblockhash", b.height), b.tip)
	for method, code := range map[string]int{"getblockheader": -5, "getblock": -5} {
		if a := b.ask(method, b.above); a.Error == nil || a.Error.Code != code {
			t.Errorf("%s of a newer block: %s %v", method, a.Result, a.Error)
		}
	}
	if a := b.ask("getblockhash", b.height+1); a.Error == nil || a.Error.Code != -8 {
		t.Errorf("getblockhash above: %s", a.Result)
	}
	if raw := get[string](b.client, "getblock", b.tip, 0); len(raw) < 160 {
		t.Errorf("the frozen block in hexadecimal: %q, want at least 160", raw)
	}
	header := get[map[string]any](b.client, "getblockheader", b.tip)
	if header["confirmations"] != 1.0 || header["nextblockhash"] != nil {
		t.Errorf("the frozen tip: %v, want 1.0 and nil", header)
	}
	check(t, "confirmations of an old payment",
		get[map[string]any](b.client, "getrawtransaction", b.old, true)["confirmations"], any(1.0))
	young := get[map[string]any](b.client, "getrawtransaction", b.young, true)
	if young["blockhash"] != nil || young["confirmations"] != nil || young["txid"] != b.young {
		t.Errorf("a payment in a newer block: %v, want nil and %v", young, b.young)
	}
	if err := b.faults.Set(fault.Behind, 0); err != nil {
		t.Fatal(err)
	}
	check(t, "after the fault", get[int64](b.client, "getblockcount"), b.height+3)
}

func TestBehindAnswersBatchesAndUnusualRequests(t *testing.T) {
	t.Parallel()
	b := freezeBitcoin(t)
	var batch []struct {
		ID     int
		Result json.RawMessage
		Error  any
	}
	text := b.raw(`[{"id":1,"method":"getblockcount"},{"id":2,"method":"nonsense"},{"jsonrpc":"2.0","id":3,"method":"getbestblockhash","params":[]}]`)
	if err := json.Unmarshal(text, &batch); err != nil || len(batch) != 3 {
		t.Fatalf("batch: %s %v, want 3 of them", text, err)
	}
	if batch[0].ID != 1 || batch[0].Error != nil || batch[1].ID != 2 || batch[1].Error == nil || batch[2].ID != 3 ||
		string(batch[2].Result) != `"`+b.tip+`"` {
		t.Errorf("batch: %s", text)
	}
	for _, unusual := range []string{`{"id":1,"method":7}`, `nonsense`, `{"id":1,"method":"getblock","params":{}}`} {
		if text := b.raw(unusual); !bytes.Contains(text, []byte(`"error":{`)) {
			t.Errorf("%s: %s", unusual, text)
		}
	}
}

func TestEthereumBehindKnowsNothingNewer(t *testing.T) {
	t.Parallel()
	faults := fault.New(fault.FreezeEthereum(), time.Now)
	n, err := ethereum.Start(t.Context(), ethereum.Config{
		Options:       host.Options{Wrap: faults.Wrap},
		ChainID:       1337,
		FinalityDepth: 2,
		Tracing:       true,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	c, address := client{t, n.URL()}, n.NewAddress()
	pay := func() string {
		hash, err := n.Pay(address, big.NewInt(1000))
		if err != nil {
			t.Fatal(err)
		}
		return hash
	}
	mine := func(count int) {
		if err := n.Mine(count); err != nil {
			t.Fatal(err)
		}
	}
	mine(3)
	old := pay()
	mine(1)
	if err := faults.Set(fault.Behind, time.Hour); err != nil {
		t.Fatal(err)
	}
	young := pay()
	mine(3)

	type block struct{ Number, Hash string }
	check(t, "eth_blockNumber", get[string](c, "eth_blockNumber"), "0x4")
	check(t, "latest", get[block](c, "eth_getBlockByNumber", "latest", false).Number, "0x4")
	check(t, "finalized", get[block](c, "eth_getBlockByNumber", "finalized", false).Number, "0x2")
	check(t, "balance", get[string](c, "eth_getBalance", address, "latest"), "0x3e8")
	check(t, "newer block", get[*block](c, "eth_getBlockByNumber", "0x5", false), nil)
	check(t, "old receipt", get[map[string]any](c, "eth_getTransactionReceipt", old)["blockNumber"], any("0x4"))
	check(t, "newer receipt", string(c.ask("eth_getTransactionReceipt", young).Result), "null")
	check(t, "newer transaction", get[map[string]any](c, "eth_getTransactionByHash", young)["blockNumber"], nil)
	check(t, "receipts of a newer block", string(c.ask("eth_getBlockReceipts", "0x5").Result), "null")
	check(t, "receipts of the head", len(get[[]any](c, "eth_getBlockReceipts", "latest")), 1)
	check(t, "logs", string(c.ask("eth_getLogs", map[string]any{"fromBlock": "0x0", "toBlock": "latest"}).Result), "[]")
	if err := faults.Set(fault.Behind, 0); err != nil {
		t.Fatal(err)
	}
	check(t, "after the fault", get[string](c, "eth_blockNumber"), "0x7")
	hash := get[block](c, "eth_getBlockByNumber", "0x5", false).Hash
	if err := faults.Set(fault.Behind, time.Hour); err != nil {
		t.Fatal(err)
	}
	check(t, "block by hash", get[block](c, "eth_getBlockByHash", hash, false).Number, "0x5")
}
