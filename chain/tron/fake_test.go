package tron

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// object is a JSON object.
type object = map[string]any

// The addresses of the fake chain; two of them are ours.
var (
	fakeToken    = fakeAddress("token")
	fakeOutsider = fakeAddress("outsider")
	fakeContract = fakeAddress("contract")
	fakeOurs     = fakeAddress("ours")
	fakeOther    = fakeAddress("other")
)

func fakeAddress(name string) address {
	sum := sha256.Sum256([]byte(name))
	return address(sum[:20])
}

func fakeWatch() *chaintest.Watch { return chaintest.NewWatch(fakeOurs.String(), fakeOther.String()) }

// fakeTx is a transaction with its result as a node returns them. Zero values: a successful payment of nothing.
type fakeTx struct {
	kind     string // TransferContract
	from, to address
	sun      int64
	outcome  string // SUCCESS; "none": left out
	failed   bool   // result FAILED
	fee      int64
	logs     []any
	internal []any
	value    object // instead of the usual one
}

// fakeBlock is a block with its results; tests may corrupt it.
type fakeBlock struct {
	block object
	infos []any
}

func (b *fakeBlock) tx(i int) object   { return b.block["transactions"].([]any)[i].(object) }
func (b *fakeBlock) info(i int) object { return b.infos[i].(object) }
func (b *fakeBlock) raw() object       { return b.block["block_header"].(object)["raw_data"].(object) }

// fake is a scripted node.
type fake struct {
	mu       sync.Mutex
	blocks   []*fakeBlock
	solid    int
	accounts map[address]object
	script   map[string]func(ask object) any // by path without the first slash, or by method
	asked    map[string]int                  // except for block 0
	checked  int
	url      string
}

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{accounts: map[address]object{}, script: map[string]func(object) any{}, asked: map[string]int{}}
	f.add()
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// open connects an adapter to the fake node only.
func (f *fake) open(t testing.TB, adjust func(*Config)) *Chain {
	t.Helper()
	cfg := Config{Tokens: []Token{{Contract: fakeToken.String(), Decimals: 6}}}
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

func fakeHash(parts ...any) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(parts...)))
	return hex.EncodeToString(sum[:])
}

func fakeID(height int) string {
	raw, _ := hex.DecodeString(fakeHash("block", height))
	binary.BigEndian.PutUint64(raw, uint64(height))
	return hex.EncodeToString(raw)
}

const fakeStart = 1_700_000_000_000 // milliseconds

func fakeTime(height int) int64 { return fakeStart + 3000*int64(height) }

// add appends a block.
func (f *fake) add(txs ...fakeTx) *fakeBlock {
	f.mu.Lock()
	defer f.mu.Unlock()
	b := blockOf(len(f.blocks), txs...)
	f.blocks = append(f.blocks, b)
	return b
}

// blockOf returns a block and its results.
func blockOf(height int, txs ...fakeTx) *fakeBlock {
	raw := object{"txTrieRoot": strings.Repeat("0", 64), "parentHash": fakeHash("before"), "timestamp": fakeTime(height)}
	if height > 0 {
		raw["number"], raw["parentHash"] = height, fakeID(height-1)
	}
	b := &fakeBlock{block: object{"blockID": fakeID(height), "block_header": object{"raw_data": raw}}}
	var list []any
	for i, tx := range txs {
		list = append(list, tx.receipt(height, i))
		b.infos = append(b.infos, tx.info(height, i))
	}
	if len(list) > 0 {
		b.block["transactions"], raw["txTrieRoot"] = list, fakeHash("root", height)
	}
	return b
}

func fakeTxID(height, i int) string { return fakeHash("tx", height, i) }

func (tx fakeTx) receipt(height, i int) object {
	kind := tx.kind
	if kind == "" {
		kind = transferType
	}
	value := tx.value
	if value == nil {
		value = object{"owner_address": or(tx.from, fakeOutsider).hex()}
		if kind == transferType {
			value["to_address"] = tx.to.hex()
			value["amount"] = tx.sun
		} else {
			value["contract_address"] = tx.to.hex()
			value["call_value"] = tx.sun
		}
	}
	o := object{
		"txID": fakeTxID(height, i), "ret": []any{object{"contractRet": or(tx.outcome, "SUCCESS")}},
		"raw_data": object{"contract": []any{object{"type": kind, "parameter": object{"value": value}}}},
	}
	if tx.outcome == "none" {
		o["ret"] = []any{object{}}
	}
	return o
}

func (tx fakeTx) info(height, i int) object {
	o := object{"id": fakeTxID(height, i), "blockNumber": height, "blockTimeStamp": fakeTime(height), "receipt": object{}}
	if tx.fee != 0 {
		o["fee"] = tx.fee
	}
	if tx.failed {
		o["result"] = "FAILED"
	}
	if tx.logs != nil {
		o["log"] = tx.logs
	}
	if tx.internal != nil {
		o["internal_transactions"] = tx.internal
	}
	return o
}

func or[T comparable](value, otherwise T) T {
	var zero T
	if value == zero {
		return otherwise
	}
	return value
}

func topicOf(a address) string {
	w := wordOfAddress(a)
	return hex.EncodeToString(w[:])
}

func transferLog(contract, from, to address, units uint64) object {
	value := wordOf(bursar.Units(units))
	return object{
		"address": contract.hex()[2:], "topics": []any{transferTopic, topicOf(from), topicOf(to)},
		"data": hex.EncodeToString(value[:]),
	}
}

func internalTx(note string, from, to address, values ...any) object {
	return object{
		"caller_address": from.hex(), "transferTo_address": to.hex(), "callValueInfo": values,
		"note": hex.EncodeToString([]byte(note)),
	}
}

func sunOf(n int64) object { return object{"callValue": n} }

func (f *fake) at(height int) chain.BlockRef {
	return chain.BlockRef{Height: uint64(height), Hash: fakeID(height)}
}

// after reads all blocks above genesis.
func (f *fake) after(t testing.TB, c *Chain, watch chain.Watch) []chain.Block {
	t.Helper()
	blocks, err := c.After(t.Context(), f.at(0), 100, watch)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}
