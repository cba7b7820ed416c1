package xrpl

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	experiment "github.com/go-json-experiment/json"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/chaintest"
	"github.com/bursar/bursar/chain/rpc"
)

// object is a JSON object.
type object = map[string]any

func unmarshal(raw []byte, out any) error { return experiment.Unmarshal(raw, out) }

// first is the first ledger that the fake node has.
const first = 100

// fake is a scripted node.
type fake struct {
	mu       sync.Mutex
	ledgers  []object // as `ledger` returns them, transactions included
	complete string
	script   map[string]func(params object) object // results; a member "error" makes one an error
	asked    map[string]int
	url      string
}

func newFake(t testing.TB) *fake {
	t.Helper()
	f := &fake{script: map[string]func(object) object{}, asked: map[string]int{}}
	f.add()
	server := httptest.NewServer(http.HandlerFunc(f.serve))
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

func (f *fake) open(t testing.TB) *Chain {
	t.Helper()
	c, err := New(Config{ID: bursar.XRPL, Network: Private}, rpc.Config{URLs: []string{f.url}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// add appends a ledger with a valid header.
func (f *fake) add(txs ...object) object {
	f.mu.Lock()
	defer f.mu.Unlock()
	l := object{
		"ledger_index": fmt.Sprint(first + len(f.ledgers)), "parent_hash": fakeHash("before"),
		"account_hash":     fakeHash("state"),
		"transaction_hash": hash{}.String(), "total_coins": "99999999999", "parent_close_time": 800_000_000,
		"close_time":            800_000_004,
		"close_time_resolution": 10, "close_flags": 0, "closed": true,
	}
	if n := len(f.ledgers); n > 0 {
		l["parent_hash"] = f.ledgers[n-1]["ledger_hash"]
	}
	list := []any{}
	for i, tx := range txs {
		l["transaction_hash"] = fakeHash("root", len(f.ledgers))
		whole := object{"hash": fakeHash("tx", len(f.ledgers), i), "Fee": "12", "Account": outsider, "Sequence": 1,
			"unheardOf": object{"of": 1}}
		for key, value := range tx {
			whole[key] = value
		}
		meta := object{"TransactionResult": "tesSUCCESS", "TransactionIndex": i, "AffectedNodes": []any{}}
		given, _ := whole["metaData"].(object)
		for key, value := range given {
			meta[key] = value
		}
		whole["metaData"] = meta
		list = append([]any{whole}, list...) // nodes list them by hash, not in order
	}
	l["transactions"] = list
	f.ledgers = append(f.ledgers, l)
	reseal(l)
	return l
}

// reseal recomputes a ledger's hash from its header.
func reseal(l object) {
	var h header
	l["ledger_hash"] = hash{}.String()
	raw, err := json.Marshal(l)
	if err == nil {
		err = unmarshal(raw, &h)
	}
	if err != nil {
		panic(err)
	}
	l["ledger_hash"] = h.computed().String()
}

func fakeHash(kind string, n ...int) string { return sha512Half(fmt.Sprint(kind, n)).String() }

// The accounts of the fake ledger, and a watch on ours.
var (
	ours     = accountID{1}.String()
	outsider = accountID{2}.String()
	third    = accountID{3}.String()
)

func (f *fake) ref(i int) chain.BlockRef {
	return chain.BlockRef{Height: first + uint64(i), Hash: f.ledgers[i]["ledger_hash"].(string)}
}

// after reads all ledgers after the first one.
func (f *fake) after(t testing.TB, sent ...string) ([]chain.Block, error) {
	t.Helper()
	watch := chaintest.NewWatch(ours)
	watch.AddSent(sent...)
	return f.open(t).After(t.Context(), f.ref(0), 100, watch)
}

// reset clears the recorded requests.
func (f *fake) reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.asked)
}

// calls returns how often the node was asked.
func (f *fake) calls() (n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, times := range f.asked {
		n += times
	}
	return n
}

func (f *fake) serve(w http.ResponseWriter, r *http.Request) {
	var request struct {
		Method string
		Params []object
	}
	if err := json.NewDecoder(r.Body).Decode(&request); err != nil || len(request.Params) != 1 {
		http.Error(w, "bad request", http.StatusBadRequest)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked[request.Method]++
	do := f.script[request.Method]
	if do == nil {
		do = func(params object) object { return f.usual(request.Method, params) }
	}
	result := do(request.Params[0])
	if result["status"] == nil {
		result["status"] = "success"
		if result["error"] != nil {
			result["status"] = "error"
		}
	}
	_ = json.NewEncoder(w).Encode(object{"result": result}) // the client checks what arrives
}

// usual returns an honest node's answer.
func (f *fake) usual(method string, params object) object {
	newest := first + len(f.ledgers) - 1
	switch method {
	case "server_info":
		complete := f.complete
		if complete == "" {
			complete = fmt.Sprintf("%d-%d", first, newest)
		}
		return object{"info": object{"network_id": 1000, "complete_ledgers": complete, "validated_ledger": object{
			"seq": newest, "hash": f.ledgers[len(f.ledgers)-1]["ledger_hash"], "base_fee_xrp": json.Number("1e-05"),
			"reserve_base_xrp": 1, "reserve_inc_xrp": json.Number("0.2"),
		}}}
	case "ledger":
		at := int(params["ledger_index"].(float64)) - first
		if at < 0 || at >= len(f.ledgers) {
			return object{"error": "lgrNotFound", "error_message": "ledgerNotFound"}
		}
		return object{"validated": true, "ledger": f.ledgers[at]}
	case "fee":
		return object{"drops": object{"base_fee": "10", "minimum_fee": "10", "open_ledger_fee": "10"}}
	}
	return object{"error": "unknownCmd"}
}

// root returns an AccountRoot that changed from before to after; if before is 0, it was created.
func root(base string, before, after uint64) object {
	entry := object{"LedgerEntryType": "AccountRoot",
		"FinalFields": object{"Account": base, "Balance": fmt.Sprint(after), "Sequence": 9}}
	switch before {
	case 0:
		entry["NewFields"] = entry["FinalFields"]
		delete(entry, "FinalFields")
		return object{"CreatedNode": entry}
	case after:
		entry["PreviousFields"] = object{"Sequence": 8}
	default:
		entry["PreviousFields"] = object{"Balance": fmt.Sprint(before)}
	}
	return object{"ModifiedNode": entry}
}

// transfer returns an expected transfer.
func transfer(at int, tag *uint32, amount uint64) chain.Transfer {
	address := bursar.Address{Base: ours}
	if tag != nil {
		address.Memo, address.HasMemo = *tag, true
	}
	return chain.Transfer{TxID: fakeHash("tx", at, 0), Address: address, Amount: bursar.Units(amount)}
}
