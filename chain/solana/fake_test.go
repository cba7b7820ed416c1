package solana

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/bursar/bursar/chain/rpc"
)

// object is a JSON object.
type object = map[string]any

// failure is a JSON-RPC error of the fake node.
type failure struct {
	code    int
	message string
	data    any
}

func (f failure) Error() string { return f.message }

func skippedSlot(code int) failure { return failure{code: code, message: "Slot was skipped"} }

// fake is a scripted node. Its blocks are as it returns them; tests may corrupt them.
type fake struct {
	mu       sync.Mutex
	blocks   map[uint64]object
	final    uint64
	oldest   uint64 // the first block that is not deleted
	plain    bool   // it does not support the details `accounts`, like nodes before 1.14
	accounts map[string]object
	statuses map[string]uint64 // signatures in blocks, with their slots
	script   map[string]func(params []any) (any, error)
	asked    map[string]int
	sent     []any
	url      string
}

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{blocks: map[uint64]object{}, accounts: map[string]object{}, statuses: map[string]uint64{},
		script: map[string]func([]any) (any, error){}, asked: map[string]int{}}
	f.add(100)
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// open connects an adapter to the fake node only.
func (f *fake) open(t testing.TB, adjust func(*Config)) *Chain {
	t.Helper()
	cfg := Mainnet()
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

// hashOf returns a hash for a name.
func hashOf(name string) string { return key(sha256.Sum256([]byte(name))).String() }

// signatureOf returns a signature for a name.
func signatureOf(name string) string {
	a, b := sha256.Sum256([]byte("1"+name)), sha256.Sum256([]byte("2"+name))
	return signature(append(a[:], b[:]...)).String()
}

// add appends a finalized block at a slot.
func (f *fake) add(slot uint64, txs ...object) object {
	f.mu.Lock()
	defer f.mu.Unlock()
	if txs == nil {
		txs = []object{}
	}
	b := object{"blockhash": hashOf(fmt.Sprint("block ", slot)), "previousBlockhash": hashOf("before"),
		"parentSlot":  slot - 1,
		"blockHeight": 10, "blockTime": 1_700_000_000 + slot, "transactions": txs}
	if len(f.blocks) > 0 {
		parent := slices.Max(slices.Collect(maps.Keys(f.blocks)))
		b["parentSlot"], b["previousBlockhash"] = parent, f.blocks[parent]["blockhash"]
		b["blockHeight"] = f.blocks[parent]["blockHeight"].(int) + 1
	}
	f.blocks[slot], f.final = b, slot
	return b
}

// respond sets the answer of a method.
func (f *fake) respond(method string, do func(params []any) (any, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.script[method] = do
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	type call struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params []any           `json:"params"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	var calls []call
	batch := body[0] == '['
	if !batch {
		body = slices.Concat([]byte("["), body, []byte("]"))
	}
	if err := json.Unmarshal(body, &calls); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answers := make([]any, len(calls))
	for i, c := range calls {
		answers[i] = f.answer(c.ID, c.Method, c.Params)
	}
	var out any = answers
	if !batch {
		out = answers[0]
	}
	_ = json.NewEncoder(w).Encode(out) // the client checks what arrives
}

func (f *fake) answer(id json.RawMessage, method string, params []any) object {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[method]++
	do := f.script[method]
	if do == nil {
		do = func(params []any) (any, error) { return f.usual(method, params) }
	}
	result, err := do(params)
	if err != nil {
		e := failure{code: -32603, message: err.Error()}
		if coded, ok := err.(failure); ok {
			e = coded
		}
		return object{"jsonrpc": "2.0", "id": id, "error": object{"code": e.code, "message": e.message, "data": e.data}}
	}
	return object{"jsonrpc": "2.0", "id": id, "result": result}
}

// usual returns an honest node's answer.
func (f *fake) usual(method string, params []any) (any, error) {
	context := object{"slot": f.final}
	switch method {
	case "getGenesisHash":
		return GenesisMainnet, nil
	case "getHealth":
		return "ok", nil
	case "getSlot":
		return f.final, nil
	case "getBlock":
		return f.block(uint64(params[0].(float64)), params[1].(object))
	case "getBlocks":
		return f.slots(uint64(params[0].(float64)), uint64(params[1].(float64)), 1<<30), nil
	case "getBlocksWithLimit":
		return f.slots(uint64(params[0].(float64)), f.final, int(params[1].(float64))), nil
	case "getMultipleAccounts":
		list := []any{}
		for _, base := range params[0].([]any) {
			list = append(list, f.accounts[base.(string)])
		}
		return object{"context": context, "value": list}, nil
	case "getMinimumBalanceForRentExemption":
		return (128 + int(params[0].(float64))) * 6960, nil
	case "getRecentPrioritizationFees":
		return []any{}, nil
	case "getLatestBlockhash":
		b := f.blocks[f.final]
		return object{"context": context, "value": object{"blockhash": b["blockhash"],
			"lastValidBlockHeight": b["blockHeight"].(int) + lifetime}}, nil
	case "getFeeForMessage":
		return object{"context": context, "value": 5150}, nil
	case "getTransaction":
		return nil, nil
	case "simulateTransaction":
		return object{"context": context, "value": object{"err": "AccountNotFound", "logs": []string{}}}, nil
	case "getEpochInfo":
		return object{"absoluteSlot": f.final, "blockHeight": f.blocks[f.final]["blockHeight"]}, nil
	case "getSignatureStatuses":
		id := params[0].([]any)[0].(string)
		if slot, in := f.statuses[id]; in {
			return object{"context": context, "value": []any{object{"slot": slot}}}, nil
		}
		return object{"context": context, "value": []any{nil}}, nil
	case "sendTransaction":
		f.sent = append(f.sent, params[0])
		return nil, failure{code: -32601, message: "no script"}
	}
	return nil, failure{code: -32601, message: "Method not found"}
}

// block answers as Agave 4.2 does (rpc.rs get_block, transaction-status encode_with_options).
func (f *fake) block(slot uint64, config object) (any, error) {
	if config["commitment"] == "processed" {
		return nil, failure{code: -32602, message: "Method does not support commitment below `confirmed`"}
	}
	if f.oldest > slot {
		return nil, failure{code: -32001,
			message: fmt.Sprintf("Block %d cleaned up, does not exist on node. First available block: %d", slot, f.oldest)}
	}
	if slot > f.final {
		return nil, failure{code: -32004, message: fmt.Sprintf("Block not available for slot %d", slot)}
	}
	b, produced := f.blocks[slot]
	if !produced {
		return nil, skippedSlot(-32007)
	}
	b = maps.Clone(b)
	txs, _ := b["transactions"].([]object)
	switch config["transactionDetails"] {
	case "none":
		delete(b, "transactions")
		return b, nil
	case "full", nil:
	case "accounts":
		if f.plain {
			return nil, failure{code: -32602,
				message: "Invalid params: unknown variant `accounts`, expected one of `full`, `signatures`, `none`."}
		}
	default:
		return nil, failure{code: -32602,
			message: "Invalid params: unknown variant, expected one of `full`, `signatures`, `none`, `accounts`."}
	}
	if b["transactions"] == nil {
		return b, nil
	}
	encoded := []object{}
	for _, tx := range txs {
		e, err := encoded1(tx, config)
		if err != nil {
			return nil, err
		}
		encoded = append(encoded, e)
	}
	b["transactions"] = encoded
	return b, nil
}

// encoded1 returns a transaction in the requested encoding, or the refusal of its version.
func encoded1(tx, config object) (object, error) {
	highest, given := config["maxSupportedTransactionVersion"].(float64)
	if given && (highest < 0 || highest > 255) {
		return nil, failure{code: -32602, message: "Invalid params: invalid value: integer, expected u8."}
	}
	if version, numbered := tx["version"].(int); numbered && (!given || highest < float64(version)) {
		return nil, failure{code: -32015,
			message: fmt.Sprintf("Transaction version (%d) is not supported by the requesting client. "+
				"Please try the request again with the following configuration parameter: \"maxSupportedTransactionVersion\": %d",
				version, version)}
	}
	if config["transactionDetails"] != "accounts" || tx["meta"] == nil {
		return tx, nil
	}
	return inAccounts(tx), nil
}

// inAccounts returns a transaction in the encoding `accounts`: every key with a signer flag, and a meta without most of
// its members.
func inAccounts(tx object) object {
	body, meta := tx["transaction"].(object), tx["meta"].(object)
	message := body["message"].(object)
	signers := message["header"].(object)["numRequiredSignatures"].(int)
	keys := []object{}
	list := func(all any, source string) {
		texts, _ := all.([]string)
		for _, k := range texts {
			keys = append(keys, object{"pubkey": k, "signer": len(keys) < signers, "writable": true, "source": source})
		}
	}
	list(message["accountKeys"], "transaction")
	loaded, _ := meta["loadedAddresses"].(object)
	list(loaded["writable"], "lookupTable")
	list(loaded["readonly"], "lookupTable")
	short := maps.Clone(meta)
	for _, name := range []string{"loadedAddresses", "logMessages", "innerInstructions", "computeUnitsConsumed",
		"returnData", "costUnits", "rewards"} {
		delete(short, name)
	}
	out := object{"transaction": object{"signatures": body["signatures"], "accountKeys": keys}, "meta": short}
	if version, given := tx["version"]; given {
		out["version"] = version
	}
	return out
}

func (f *fake) slots(from, to uint64, limit int) []uint64 {
	list := []uint64{}
	for _, slot := range slices.Sorted(maps.Keys(f.blocks)) {
		if slot >= max(from, f.oldest) && slot <= to && slot <= f.final && len(list) < limit {
			list = append(list, slot)
		}
	}
	return list
}

// plainAccount returns a wallet's account.
func plainAccount(lamports uint64) object {
	return object{"lamports": lamports, "owner": systemProgram.String(), "executable": false, "space": 0}
}

// fakeTx is a transaction with its balances; by default it has one signer and succeeds.
type fakeTx struct {
	name               string
	keys               []string
	signers            int
	before, after      []uint64
	err                any
	writable, readonly []string
	legacy             bool
	version            int
}

func (t fakeTx) object() object {
	signers := max(t.signers, 1)
	signatures := []string{}
	for i := range signers {
		signatures = append(signatures, signatureOf(fmt.Sprint(t.name, i)))
	}
	places := func(n int) []int {
		list := make([]int, n)
		for i := range list {
			list[i] = i
		}
		return list
	}
	message := object{"accountKeys": t.keys, "header": object{"numRequiredSignatures": signers}}
	version := any("legacy")
	if !t.legacy {
		version = t.version
	}
	if !t.legacy && t.version == 0 {
		message["addressTableLookups"] = []object{{"writableIndexes": places(len(t.writable)),
			"readonlyIndexes": places(len(t.readonly))}}
	}
	return object{
		"version":     version,
		"transaction": object{"signatures": signatures, "message": message},
		"meta": object{"err": t.err, "fee": 5000, "preBalances": t.before, "postBalances": t.after,
			"loadedAddresses": object{"writable": t.writable, "readonly": t.readonly}},
	}
}
