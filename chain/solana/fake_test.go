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
