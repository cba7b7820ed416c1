package bitcoin

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"testing"
	"time"
)

// start runs a node for a test and closes it when the test ends.
func start(t *testing.T, cfg Config) *Node {
	t.Helper()
	n, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Close(); err != nil {
			t.Error(err)
		}
	})
	return n
}

// post sends a body to a node as a plain HTTP client and returns the status and the answer.
func post(t *testing.T, url, body string) (int, []byte) {
	t.Helper()
	client := http.Client{Timeout: time.Minute}
	res, err := client.Post(url, "application/json", bytes.NewBufferString(body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, raw
}

// answer is a JSON-RPC answer with its numbers as they were written.
type answer struct {
	status int
	Result any       `json:"result"`
	Error  *rpcError `json:"error"`
	ID     any       `json:"id"`
}

// rpc calls a method over HTTP.
func rpc(t *testing.T, n *Node, method string, params ...any) answer {
	t.Helper()
	if params == nil {
		params = []any{}
	}
	body, err := json.Marshal(map[string]any{"id": "t", "method": method, "params": params})
	if err != nil {
		t.Fatal(err)
	}
	status, raw := post(t, n.URL(), string(body))
	a := answer{status: status}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		t.Fatalf("%s answered %q: %v", method, raw, err)
	}
	return a
}

// must calls a method that has to succeed and reads its result as a T.
func must[T any](t *testing.T, n *Node, method string, params ...any) T {
	t.Helper()
	a := rpc(t, n, method, params...)
	if a.Error != nil || a.status != http.StatusOK {
		t.Fatalf("%s: status %d, error %v, want nil and %v", method, a.status, a.Error, http.StatusOK)
	}
	raw, err := json.Marshal(a.Result)
	if err != nil {
		t.Fatal(err)
	}
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatalf("%s answered %s: %v", method, raw, err)
	}
	return v
}

// refused calls a method that has to fail with a code.
func refused(t *testing.T, n *Node, code int, method string, params ...any) string {
	t.Helper()
	a := rpc(t, n, method, params...)
	if a.Error == nil || a.Error.Code != code {
		t.Fatalf("%s: want error %d, got result %v, error %+v", method, code, a.Result, a.Error)
	}
	return a.Error.Message
}

func pay(t *testing.T, n *Node, address string, amount int64) string {
	t.Helper()
	id, err := n.Pay(address, amount)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func mine(t *testing.T, n *Node, count int) []string {
	t.Helper()
	hashes, err := n.Mine(count)
	if err != nil {
		t.Fatal(err)
	}
	var texts []string
	for _, h := range hashes {
		texts = append(texts, h.String())
	}
	return texts
}

func newAddress(t *testing.T, n *Node) string {
	t.Helper()
	address, err := n.NewAddress()
	if err != nil {
		t.Fatal(err)
	}
	return address
}

func wantBalance(t *testing.T, n *Node, address string, want int64) {
	t.Helper()
	got, err := n.Balance(address)
	if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("balance of %s is %d, want %d", address, got, want)
	}
}
