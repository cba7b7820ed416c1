package solana_test

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"slices"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/bursar/bursar/sandbox/nodes/solana"
)

const sol = 1_000_000_000

type object = map[string]any

// call calls the node and returns the result or the error's code, message and data.
func call(t testing.TB, n *solana.Node, method string, params ...any) (result any, code int, message string, data any) {
	t.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(object{"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.Post(n.URL(), "application/json", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var out struct {
		Result any `json:"result"`
		Error  *struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
			Data    any    `json:"data"`
		} `json:"error"`
	}
	decoder := json.NewDecoder(response.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&out); err != nil {
		t.Fatal(err)
	}
	if out.Error != nil {
		return nil, out.Error.Code, out.Error.Message, out.Error.Data
	}
	return out.Result, 0, "", nil
}

// get is call for calls that must succeed.
func get(t testing.TB, n *solana.Node, method string, params ...any) any {
	t.Helper()
	result, code, message, _ := call(t, n, method, params...)
	if code != 0 {
		t.Fatalf("%s: error %d: %s, want 0", method, code, message)
	}
	return result
}

func text(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// wallet is a key of a customer.
type wallet struct{ ed25519.PrivateKey }

func newWallet(number byte) wallet {
	return wallet{ed25519.NewKeyFromSeed(bytes.Repeat([]byte{number}, 32))}
}

func (w wallet) public() []byte { return w.PrivateKey.Public().(ed25519.PublicKey) }

func (w wallet) address() string { return base58.Encode(w.public()) }

// plan describes a transfer to build.
type plan struct {
	from      wallet
	to        string
	lamports  uint64
	blockhash string
	budget    []byte // data of a compute budget instruction
	spoil     func(raw []byte)
}

// bytes is the transaction as a wallet encodes it: payer, receiver, programs.
func (s plan) bytes() []byte {
	keys := [][]byte{s.from.public(), base58.Decode(s.to), base58.Decode("ComputeBudget111111111111111111111111111111"),
		make([]byte, 32)}
	m := []byte{1, 0, 2, 4}
	m = append(m, slices.Concat(keys...)...)
	m = append(m, base58.Decode(s.blockhash)...)
	if s.budget != nil {
		m = append(m, 2, 2, 0, byte(len(s.budget)))
		m = append(m, s.budget...)
	} else {
		m = append(m, 1)
	}
	m = append(m, 3, 2, 0, 1, 12, 2, 0, 0, 0)
	m = binary.LittleEndian.AppendUint64(m, s.lamports)
	raw := append([]byte{1}, ed25519.Sign(s.from.PrivateKey, m)...)
	raw = append(raw, m...)
	if s.spoil != nil {
		s.spoil(raw)
	}
	return raw
}

func (s plan) send(t testing.TB, n *solana.Node, options object) (id string, code int, message string, data any) {
	t.Helper()
	options["encoding"] = "base64"
	result, code, message, data := call(t, n, "sendTransaction", base64.StdEncoding.EncodeToString(s.bytes()), options)
	id, _ = result.(string)
	return id, code, message, data
}

func latest(t testing.TB, n *solana.Node, commitment string) string {
	t.Helper()
	return get(t, n, "getLatestBlockhash",
		object{"commitment": commitment}).(object)["value"].(object)["blockhash"].(string)
}

// funded is a node with a wallet that holds two SOL.
func funded(t testing.TB, cfg solana.Config) (*solana.Node, wallet) {
	t.Helper()
	n, err := solana.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { n.Close() })
	w := newWallet(1)
	if _, err := n.Pay(w.address(), 2*sol); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 6)
	return n, w
}

func mine(t testing.TB, n *solana.Node, count int) {
	t.Helper()
	if err := n.Mine(count); err != nil {
		t.Fatal(err)
	}
}
