package clients

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
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

const sol = 1_000_000_000

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
	tx, err := r.Judge(m.chain, m.bases[0], data)
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

// LiteSVM executes what a seed and a device signed offline, advances the nonce, and refuses a second transaction with
// the same one. @solana/web3.js 1.98 reads in the bytes what we meant, to the same bytes, signs as the device, and
// knows the state of a nonce account as we do.
func TestSolanaColdAccountsRefill(t *testing.T) {
	t.Parallel()
	folder, err := Folder()
	if testing.Short() {
		t.Skip("needs Node.js, LiteSVM and the client libraries")
	}
	m := newMachine(t)
	m.must(err)
	seed := bytes.Repeat([]byte{0x22}, 32)
	device := base58Of(ed25519.NewKeyFromSeed(seed).Public().(ed25519.PublicKey))
	m.must(m.vm.Set(litesvm.Account{Key: raw58(device), Lamports: 20 * sol, Owner: make([]byte, 32)}))
	one, state := m.nonce(1, m.bases[1])
	two, _ := m.nonce(2, device)
	first, other := m.refill(m.bases[1], one, 5*sol), m.refill(device, two, 6*sol)
	unsigned := m.build(first)
	signed, err := m.keys[1].SignRefill(m.chain, first, m.bases[0], unsigned)
	m.must(err)
	alone := m.build(other)
	var said struct {
		Read []struct {
			Version, Payer, Nonce, Account, Authority, From, To, Lamports, Again, Signed string
			Tables, Count                                                                int
			Verified                                                                     bool
		}
		Device, Authority, Nonce string
		Size                     int
		Made                     bool
	}
	text := base64.StdEncoding.EncodeToString
	readBy(t, folder, "solanacold.mjs", map[string]any{"device": hex.EncodeToString(seed),
		"all":    []string{text(signed), text(alone)},
		"nonces": map[string]any{"account": one, "authority": m.bases[1], "data": text(state)}}, &said)
	if said.Size != len(state) || !said.Made || said.Authority != m.bases[1] || said.Nonce != base58Of(state[40:72]) ||
		said.Device != device {
		t.Errorf("web3.js: got %+v, want the state of nonce account %s", said, one)
	}
	for i, data := range [][]byte{signed, alone} {
		r := []signer.Refill{first, other}[i]
		want, nonce := r.Wallet.Addresses[0], base58Of(bytes.Repeat([]byte{byte(i + 1)}, 32))
		got := said.Read[i]
		if got.Version != "0" || got.Tables != 0 || got.Count != 4 || got.Payer != want || got.Authority != want ||
			got.From != want || got.To != m.bases[0] || got.Account != r.Wallet.NonceAccount || got.Nonce != nonce ||
			got.Lamports != r.Payment.Amount.String() || got.Again != text(data) || got.Verified != (i == 0) {
			t.Errorf("%d: web3.js reads %+v, want %s from %s with nonce %s", i, got, r.Payment.Amount, want, nonce)
		}
	}
	m.arrives(first, signed)
	copied, err := base64.StdEncoding.DecodeString(said.Read[1].Signed)
	m.must(err)
	whole, err := m.chain.CombineCold(other.Wallet, alone, copied)
	m.must(err)
	m.arrives(other, whole)
	m.revokes(m.refill(m.bases[1], one, 2*sol), m.refill(m.bases[1], one, 3*sol))
}

// revokes builds two refills with one nonce: one of them is executed, and the other can never be.
func (m *machine) revokes(old, next signer.Refill) {
	m.Helper()
	var all [][]byte
	for _, r := range []signer.Refill{old, next} {
		data, err := m.keys[1].SignRefill(m.chain, r, m.bases[0], m.build(r))
		m.must(err)
		all = append(all, data)
	}
	m.arrives(next, all[1])
	late, err := m.chain.FinishCold(old.Wallet, all[0])
	m.must(err)
	if err := m.chain.Broadcast(m.Context(), late); err == nil {
		m.Error("the other is executed too, want a refusal")
	}
	if again := m.build(old); bytes.Equal(again[65:], all[0][65:]) {
		m.Error("got the same nonce again, want the next")
	}
}
