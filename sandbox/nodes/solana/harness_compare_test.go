package solana

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"testing"

	"github.com/bursar/bursar/sandbox/litesvm"
)

// rivals are the simulator, used over its RPC, and LiteSVM, which keeps a ledger of its own here: both get the same
// accounts, the same blockhashes and the same bytes.
type rivals struct {
	t    *testing.T
	node *Node
	vm   *litesvm.VM
	hash key // valid in both
}

func startVM(t *testing.T, cfg litesvm.Config) *litesvm.VM {
	t.Helper()
	if testing.Short() {
		t.Skip("needs node and litesvm")
	}
	vm, err := litesvm.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { vm.Close() })
	return vm
}

func newRivals(t *testing.T) *rivals {
	t.Helper()
	vm := startVM(t, litesvm.Config{Ledger: true})
	node, err := Start(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Close() })
	builtins, err := svm{vm}.builtins() // so that both report the same balances of programs
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(node.bank.accounts, builtins)
	r := &rivals{t: t, node: node, vm: vm}
	hash, err := vm.Blockhash()
	r.must(err)
	r.adopt(hash)
	return r
}

func (r *rivals) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

// adopt makes the simulator use the machine's blockhash for its newest block.
func (r *rivals) adopt(hash string) {
	r.hash = mustKey(hash)
	r.node.mu.Lock()
	defer r.node.mu.Unlock()
	r.node.bank.byHash[r.hash] = r.node.bank.head().height
}

// expire makes the current blockhash too old for both, and a new one valid.
func (r *rivals) expire() {
	r.t.Helper()
	r.must(r.node.Mine(blockhashLife + 1))
	hash, err := r.vm.Expire()
	r.must(err)
	r.adopt(hash)
}

// put gives both an account.
func (r *rivals) put(k key, a account) {
	r.t.Helper()
	r.node.mu.Lock()
	r.node.bank.put(k, a)
	r.node.mu.Unlock()
	r.must(r.vm.Set(litesvm.Account{Key: k[:], Lamports: a.lamports, Owner: a.owner[:], Data: a.data,
		Executable: a.executable}))
}

// report is what one of them reports about a transaction.
type report struct {
	Err       any      `json:"err"`
	Included  bool     `json:"included"`
	Fee       uint64   `json:"fee"`
	Before    []uint64 `json:"preBalances"`
	After     []uint64 `json:"postBalances"`
	Units     uint64   `json:"computeUnitsConsumed"`
	Logs      []string `json:"logMessages"`
	preflight any
}

// feed gives both a transaction and fails the test unless they report the same about it. It returns their report.
func (r *rivals) feed(what fmt.Stringer, raw []byte) report {
	r.t.Helper()
	tx, err := parseTransaction(raw)
	if errors.Is(err, errSanitize) {
		verdict, err := r.vm.Send(litesvm.Order{Raw: raw})
		r.must(err)
		if verdict.Err != "SanitizeFailure" {
			r.t.Errorf("%s\nthe simulator reports that it is malformed, LiteSVM reports %+v, want %q", what, verdict,
				"SanitizeFailure")
		}
		return report{Err: verdict.Err}
	}
	r.must(err)
	keys := append(tx.keys[:len(tx.keys):len(tx.keys)], r.loaded(tx)...)
	simulated, real := r.simulator(tx), r.machine(tx, keys)
	if pretended := usesMemo(tx); pretended { // a program that the simulator only pretends to run
		simulated.Units, simulated.Logs, real.Units, real.Logs = 0, nil, 0, nil
	}
	if real.Err == "InvalidProgramForExecution" && simulated.Err == "ProgramAccountNotFound" {
		// Here LiteSVM differs from the validator, which distinguishes a missing program from an account that is not
		// a program.
		real.Err = simulated.Err
	}
	a, b := r.text(simulated), r.text(real)
	if a != b || r.text(simulated.preflight) != r.text(real.Err) {
		r.t.Errorf("%s\nthe simulator reports %s, before that %s\nLiteSVM reports       %s", what, a,
			r.text(simulated.preflight), b)
	}
	return simulated
}

func usesMemo(tx *transaction) bool {
	for _, i := range tx.instructions {
		if tx.keys[i.program] == memoProgram() {
			return true
		}
	}
	return false
}

func (r *rivals) text(v any) string {
	r.t.Helper()
	raw, err := json.Marshal(v)
	r.must(err)
	return string(raw)
}

// loaded is what a transaction loads from lookup tables.
func (r *rivals) loaded(tx *transaction) []key {
	r.node.mu.RLock()
	defer r.node.mu.RUnlock()
	loading := &runner{transaction: tx, ground: ground{state: func(k key) account { return r.node.bank.accounts[k] }}}
	if loading.load() != nil {
		return nil
	}
	return append(loading.loaded[0], loading.loaded[1]...)
}

// simulator sends with preflight, then without if that failed, and reads the finalized block.
func (r *rivals) simulator(tx *transaction) (out report) {
	r.t.Helper()
	wire := base64.StdEncoding.EncodeToString(tx.raw)
	options := map[string]any{"encoding": "base64", "preflightCommitment": "processed"}
	known := r.node.bank.byID[tx.id()] != nil
	refused := r.ask("sendTransaction", nil, wire, options)
	if refused != nil {
		out.preflight = refused.Data
		options["skipPreflight"] = true
		if again := r.ask("sendTransaction", nil, wire, options); again != nil {
			r.t.Fatalf("without preflight: %s", again.Message)
		}
	}
	r.must(r.node.Mine(1))
	r.must(r.node.Finalize())
	r.node.mu.Lock()
	r.node.pool.keep(func(*transaction) bool { return false }) // the node would keep it; the machine forgets it
	r.node.mu.Unlock()
	var found struct {
		Meta *report `json:"meta"`
	}
	if refused := r.ask("getTransaction", &found, tx.id().String(),
		map[string]any{"maxSupportedTransactionVersion": 0}); refused != nil {
		r.t.Fatal(refused)
	}
	if found.Meta == nil || known {
		out.Err = out.preflight
		return out
	}
	preflight := out.preflight
	out = *found.Meta
	out.Included, out.preflight = true, preflight
	return out
}

// machine executes and compares the accounts before and after.
func (r *rivals) machine(tx *transaction, keys []key) (out report) {
	r.t.Helper()
	var wanted [][]byte
	for _, k := range keys {
		wanted = append(wanted, k[:])
	}
	before, err := r.vm.Read(wanted...)
	r.must(err)
	verdict, err := r.vm.Send(litesvm.Order{Raw: tx.raw, Read: wanted})
	r.must(err)
	out.Err = verdict.Err
	seen := map[key]bool{}
	for i, a := range verdict.Accounts {
		if !seen[keys[i]] {
			out.Fee += before[i].Lamports - a.Lamports
		}
		seen[keys[i]] = true
		out.Before, out.After = append(out.Before, before[i].Lamports), append(out.After, a.Lamports)
	}
	if out.Fee == 0 {
		return report{Err: out.Err}
	}
	out.Included, out.Units, out.Logs = true, verdict.Units, verdict.Logs
	return out
}

// refusal is an error of the RPC; Data is that of the preflight simulation.
type refusal struct {
	Code    int
	Message string
	Data    any
}

func (r *rivals) ask(method string, out any, params ...any) *refusal {
	r.t.Helper()
	body := r.text(map[string]any{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	response, err := http.Post(r.node.URL(), "application/json", bytes.NewReader([]byte(body)))
	r.must(err)
	defer response.Body.Close()
	var answer struct {
		Result json.RawMessage
		Error  *struct {
			Code    int
			Message string
			Data    struct{ Err any }
		}
	}
	r.must(json.NewDecoder(response.Body).Decode(&answer))
	if e := answer.Error; e != nil {
		switch e.Code {
		case codePreflight:
			return &refusal{e.Code, e.Message, e.Data.Err}
		case codeSignature:
			return &refusal{e.Code, e.Message, "SignatureFailure"}
		}
		r.t.Fatalf("%s: error %d: %s", method, e.Code, e.Message)
	}
	if out != nil {
		r.must(json.Unmarshal(answer.Result, out))
	}
	return nil
}

// named is a transaction with a description.
type named string

func (n named) String() string { return string(n) }
