package tron_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/bursar/bursar/sandbox/nodes/tron"
)

func start(t testing.TB, cfg tron.Config) *tron.Node {
	t.Helper()
	n, err := tron.Start(context.Background(), cfg)
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

// ask sends a POST to the node and returns the answer, which must be an object.
func ask(t testing.TB, url, path string, body any) map[string]any {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal(askRaw(t, url, path, body), &o); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	return o
}

func askRaw(t testing.TB, url, path string, body any) []byte {
	t.Helper()
	raw, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/"+path, bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer bytes.Buffer
	if _, err := answer.ReadFrom(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: status %d, %v, want %v", path, response.StatusCode, err, http.StatusOK)
	}
	return answer.Bytes()
}

func heightOf(block map[string]any) int {
	header, _ := block["block_header"].(map[string]any)
	raw, _ := header["raw_data"].(map[string]any)
	number, _ := raw["number"].(float64)
	return int(number)
}

func mine(t testing.TB, n *tron.Node, count int) {
	t.Helper()
	if err := n.Mine(count); err != nil {
		t.Fatal(err)
	}
}

// externalAddress makes an address without a node of its own.
func externalAddress(testing.TB) string { return new(tron.Node).NewAddress() }

func wantBalance(t testing.TB, n *tron.Node, address string, sun int64) {
	t.Helper()
	got, err := n.Balance(address, "")
	if err != nil || got.Int64() != sun {
		t.Fatalf("%s holds %v, %v, want %d", address, got, err, sun)
	}
}

func pay(t testing.TB) func(id string, err error) string {
	return func(id string, err error) string {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
}

func info(t testing.TB, n *tron.Node, id string) map[string]any {
	t.Helper()
	return ask(t, n.URL(), "wallet/gettransactioninfobyid", map[string]any{"value": id})
}

func TestSolidifiedTrails(t *testing.T) {
	t.Parallel()
	n := start(t, tron.Config{SolidDepth: 5})
	solid := func() int { return heightOf(ask(t, n.URL(), "walletsolidity/getnowblock", nil)) }
	mine(t, n, 9)
	if n.Height() != 10 || solid() != 5 {
		t.Fatalf("height %d, solidified %d, want 10 and 5", n.Height(), solid())
	}
	if err := n.HoldSolid(true); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 3)
	if solid() != 5 {
		t.Fatalf("held, solidified %d, want 5", solid())
	}
	if err := n.Reorg(9, nil); err == nil {
		t.Fatal("a solidified block was replaced, want an error")
	}
	if err := n.Reorg(8, nil); err != nil || n.Height() != 14 {
		t.Fatalf("height %d, %v, want 14", n.Height(), err)
	}
	if err := n.HoldSolid(false); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 1)
	if solid() != 10 {
		t.Fatalf("solidified %d, want 10", solid())
	}
}

func TestSolidViewLags(t *testing.T) {
	t.Parallel()
	n := start(t, tron.Config{SolidDepth: 3})
	to := externalAddress(t)
	id := pay(t)(n.Pay(to, 4_000_000))
	mine(t, n, 1)
	account := map[string]any{"address": to, "visible": true}
	if got := ask(t, n.URL(), "wallet/getaccount", account); got["balance"] != 4e6 || got["address"] != to {
		t.Fatalf("account %v, want 4e6 and %v", got, to)
	}
	if got := ask(t, n.URL(), "walletsolidity/getaccount", account); len(got) != 0 {
		t.Fatalf("solidified account %v, want none", got)
	}
	if got := ask(t, n.URL(), "walletsolidity/gettransactioninfobyid", map[string]any{"value": id}); len(got) != 0 {
		t.Fatalf("solidified result %v, want none", got)
	}
	mine(t, n, 3)
	if got := ask(t, n.URL(), "walletsolidity/getaccount", account); got["balance"] != 4e6 {
		t.Fatalf("solidified account %v, want 4e6", got)
	}
}

func TestWhatPaymentsCost(t *testing.T) {
	t.Parallel()
	n := start(t, tron.Config{})
	to := externalAddress(t)
	first := pay(t)(n.Pay(to, 5_000_000))
	second := pay(t)(n.Pay(to, 5_000_000))
	third := pay(t)(n.Pay(to, 5_000_000))
	fourth := pay(t)(n.Pay(to, 5_000_000))
	mine(t, n, 1)
	if got := info(t, n, first); got["fee"] != 1.1e6 {
		t.Fatalf("an activation costs %v, want 1.1e6", got)
	}
	for _, id := range []string{second, third} { // twice 268 bytes are free in a day
		if got := info(t, n, id); got["fee"] != nil {
			t.Fatalf("a free payment costs %v, want nil", got)
		}
	}
	if got := info(t, n, fourth); got["fee"] != 268_000.0 {
		t.Fatalf("a payment costs %v, want 268_000.0", got)
	}
	if err := n.Advance(24 * time.Hour); err != nil {
		t.Fatal(err)
	}
	mine(t, n, 1)
	next := pay(t)(n.Pay(to, 5_000_000))
	mine(t, n, 1)
	if got := info(t, n, next); got["fee"] != nil {
		t.Fatalf("the next day's payment costs %v, want nil", got)
	}
	wantBalance(t, n, to, 25_000_000)
}

func TestContractsPay(t *testing.T) {
	t.Parallel()
	n := start(t, tron.Config{})
	a, b, c := externalAddress(t), externalAddress(t), externalAddress(t)
	many := pay(t)(n.PayInternal([]tron.Output{{Address: a, Sun: 10}, {Address: b, Sun: 20}}))
	failed, below := pay(t)(n.PayFailed(c, 30)), pay(t)(n.PayReverted(c, 40))
	mine(t, n, 1)
	wantBalance(t, n, a, 10)
	wantBalance(t, n, b, 20)
	wantBalance(t, n, c, 0)
	if got := info(t, n, failed); got["result"] != "FAILED" || got["receipt"].(map[string]any)["result"] != "REVERT" {
		t.Fatalf("a failed call: %v, want %q and %q", got, "FAILED", "REVERT")
	}
	if got := info(t, n, below); got["result"] != nil ||
		got["internal_transactions"].([]any)[1].(map[string]any)["rejected"] != true {
		t.Fatalf("a call below that failed: %v, want nil and true", got)
	}
	steps := info(t, n, many)["internal_transactions"].([]any)
	if len(steps) != 2 || steps[0].(map[string]any)["rejected"] != nil {
		t.Fatalf("internal transactions %v, want 2 of them and nil", steps)
	}
}

func TestEmptyAndUnknown(t *testing.T) {
	t.Parallel()
	n := start(t, tron.Config{})
	for path, body := range map[string]map[string]any{
		"wallet/getblockbynum": {"num": 99}, "wallet/getblock": {"id_or_num": "99"},
		"wallet/getaccount":         {"address": externalAddress(t)},
		"wallet/gettransactionbyid": {"value": string(bytes.Repeat([]byte("ab"), 32))},
	} {
		if got := ask(t, n.URL(), path, body); len(got) != 0 {
			t.Errorf("%s answers %v, want none", path, got)
		}
	}
	if got := askRaw(t, n.URL(), "wallet/gettransactioninfobyblocknum",
		map[string]any{"num": 1}); string(bytes.TrimSpace(got)) != "[]" {
		t.Errorf("results of an empty block: %s, want %q", got, "[]")
	}
	for path, body := range map[string]map[string]any{
		"wallet/getaccount": {"address": "x"}, "wallet/broadcasthex": {"transaction": "zz"},
		"wallet/getblock": {"id_or_num": "x"},
	} {
		if got := ask(t, n.URL(), path, body); got["Error"] == nil {
			t.Errorf("%s answers %v", path, got)
		}
	}
}
