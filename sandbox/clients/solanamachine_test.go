package clients

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"io"
	"math/big"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/rpc"
	adapter "github.com/bursar/bursar/chain/solana"
	"github.com/bursar/bursar/sandbox/litesvm"
	"github.com/bursar/bursar/signer"
)

// machine is a node of one machine: LiteSVM, with what the adapter asks for a refill.
type machine struct {
	*testing.T
	vm    *litesvm.VM
	chain *adapter.Chain
	keys  []*signer.Keys // the hot wallet's, and a cold account's
	bases []string
}

func newMachine(t *testing.T) *machine {
	t.Helper()
	vm, err := litesvm.Start(t.Context(), litesvm.Config{Ledger: true})
	m := &machine{T: t, vm: vm}
	m.must(err)
	t.Cleanup(func() { _ = vm.Close() }) // it keeps nothing
	server := httptest.NewServer(http.HandlerFunc(m.serve))
	t.Cleanup(server.Close)
	m.chain, err = adapter.New(adapter.Private(), rpc.Config{URLs: []string{server.URL}})
	m.must(err)
	t.Cleanup(m.chain.Close)
	for n := range byte(2) {
		keys, err := signer.KeysFromSeed(bytes.Repeat([]byte{n + 1}, 32), signer.Testnet)
		m.must(err)
		pub, err := keys.Public(chain.Hot(chain.FamilySolana))
		m.must(err)
		base, err := m.chain.Address(pub, 0)
		m.must(err)
		m.keys, m.bases = append(m.keys, keys), append(m.bases, base.Base)
		m.must(vm.Set(litesvm.Account{Key: pub, Lamports: 20 * sol, Owner: make([]byte, 32)}))
	}
	return m
}

func (m *machine) must(err error) {
	m.Helper()
	if err != nil {
		m.Fatal(err)
	}
}

// serve answers as a node does, one call or several.
func (m *machine) serve(w http.ResponseWriter, r *http.Request) {
	type call struct {
		ID     json.RawMessage   `json:"id"`
		Method string            `json:"method"`
		Params []json.RawMessage `json:"params"`
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		return
	}
	var calls []call
	several := json.Unmarshal(body, &calls) == nil
	if !several {
		calls = make([]call, 1)
		if err := json.Unmarshal(body, &calls[0]); err != nil {
			m.Error(err)
			return
		}
	}
	answers := []any{}
	for _, c := range calls {
		answers = append(answers, m.answer(c.ID, c.Method, c.Params))
	}
	var out any = answers
	if !several {
		out = answers[0]
	}
	if err := json.NewEncoder(w).Encode(out); err != nil {
		m.Error(err)
	}
}

func (m *machine) answer(id json.RawMessage, method string, params []json.RawMessage) any {
	at := map[string]any{"slot": 100}
	var result any
	switch method {
	case "getGenesisHash":
		result = m.bases[0]
	case "getRecentPrioritizationFees":
		result = []any{}
	case "getMinimumBalanceForRentExemption":
		result = 890_880
	case "getMultipleAccounts", "getAccountInfo":
		var bases []string
		var base string
		if json.Unmarshal(params[0], &bases) != nil && json.Unmarshal(params[0], &base) == nil {
			bases = []string{base}
		}
		found := []any{}
		for _, base := range bases {
			found = append(found, m.shown(base))
		}
		result = map[string]any{"context": at, "value": any(found)}
		if base != "" {
			result = map[string]any{"context": at, "value": found[0]}
		}
	case "sendTransaction":
		var raw []byte
		var text string
		if json.Unmarshal(params[0], &text) == nil {
			raw, _ = base64.StdEncoding.DecodeString(text) // the machine refuses what is none
		}
		verdict, err := m.vm.Send(litesvm.Order{Raw: raw})
		if err != nil || verdict.Err != nil {
			return map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -32002,
				"message": "it fails", "data": map[string]any{"err": verdict.Err}}}
		}
		result = base58Of(raw[1:65])
	case "getSignatureStatuses":
		result = map[string]any{"context": at, "value": []any{nil}}
	default:
		return map[string]any{"jsonrpc": "2.0", "id": id, "error": map[string]any{"code": -32601, "message": method}}
	}
	return map[string]any{"jsonrpc": "2.0", "id": id, "result": result}
}

// shown is an account as nodes show it, nil where there is none.
func (m *machine) shown(base string) any {
	read, err := m.vm.Read(raw58(base))
	if err != nil || read[0].Lamports == 0 {
		return nil
	}
	a := read[0]
	return map[string]any{"lamports": a.Lamports, "owner": base58Of(a.Owner), "executable": a.Executable,
		"space": len(a.Data), "data": []string{base64.StdEncoding.EncodeToString(a.Data), "base64"}}
}

const digits58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"

func base58Of(raw []byte) string {
	var text []byte
	for n, rest := new(big.Int).SetBytes(raw), new(big.Int); n.Sign() > 0; {
		n.DivMod(n, big.NewInt(58), rest)
		text = append(text, digits58[rest.Int64()])
	}
	for range len(raw) - len(bytes.TrimLeft(raw, "\x00")) {
		text = append(text, '1')
	}
	slices.Reverse(text)
	return string(text)
}

func raw58(text string) []byte {
	n := new(big.Int)
	for _, letter := range text {
		n.Add(n.Mul(n, big.NewInt(58)), big.NewInt(int64(strings.IndexRune(digits58, letter))))
	}
	return n.FillBytes(make([]byte, 32))
}

// nonce sets a nonce account, and returns its state.
func (m *machine) nonce(at byte, authority string) (base string, data []byte) {
	m.Helper()
	data = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(nil, 1), 1)
	data = slices.Concat(data, raw58(authority), bytes.Repeat([]byte{at}, 32))
	data = binary.LittleEndian.AppendUint64(data, 5000)
	key := bytes.Repeat([]byte{at + 100}, 32)
	m.must(m.vm.Set(litesvm.Account{Key: key, Lamports: 1_447_680, Owner: make([]byte, 32), Data: data}))
	return base58Of(key), data
}

func (m *machine) refill(cold, nonce string, lamports uint64) signer.Refill {
	return signer.Refill{MaxFee: bursar.Units(50_000), Wallet: bursar.ColdWallet{Chain: bursar.Solana, Name: "vault",
		Kind: bursar.ColdNonce, Addresses: []string{cold}, NonceAccount: nonce},
		Payment: chain.Payment{Amount: bursar.Units(lamports), Address: bursar.Address{Base: m.bases[0]}}}
}

func (m *machine) build(r signer.Refill) []byte {
	m.Helper()
	data, err := m.chain.BuildCold(m.Context(), chain.ColdRequest{Wallet: r.Wallet, Payment: r.Payment, MaxFee: r.MaxFee})
	m.must(err)
	return data
}

func (m *machine) lamports(base string) uint64 {
	m.Helper()
	read, err := m.vm.Read(raw58(base))
	m.must(err)
	return read[0].Lamports
}

// arrives sends a signed refill, and compares what reached the hot wallet and what it cost.
func (m *machine) arrives(r signer.Refill, data []byte) {
	m.Helper()
	tx, err := r.Evaluate(m.chain, m.bases[0], data)
	m.must(err)
	signed, err := m.chain.FinishCold(r.Wallet, data)
	m.must(err)
	cold := r.Wallet.Addresses[0]
	hot, had := m.lamports(m.bases[0]), m.lamports(cold)
	m.must(m.chain.Broadcast(m.Context(), signed))
	_, err = m.vm.Expire() // a nonce advances once with each blockhash
	m.must(err)
	paid, _ := r.Payment.Amount.Uint64()
	fee, _ := tx.Fee.Uint64()
	if got := m.lamports(m.bases[0]) - hot; got != paid {
		m.Errorf("got %d lamports at the hot wallet, want %d", got, paid)
	}
	if got := had - m.lamports(cold); got != paid+fee {
		m.Errorf("the cold account lost %d lamports, want %d and the fee of %d", got, paid, fee)
	}
}
