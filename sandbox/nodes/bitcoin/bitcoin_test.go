package bitcoin

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"github.com/bursar/bursar/sandbox/nodes/host"
)

func TestStartIsReadyWithUTXOs(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	if n.Height() != 110 {
		t.Errorf("height %d, want 110", n.Height())
	}
	a := newAddress(t, n)
	pay(t, n, a, 400*coinUnit) // ten coinbases of 50 are mature
	if _, err := n.Pay(a, 200*coinUnit); err == nil || !strings.Contains(err.Error(), "mine more blocks") {
		t.Errorf("a payment beyond the faucet's UTXOs: got %v, want a refusal", err)
	}
}

func TestMineAndPay(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a, b := newAddress(t, n), newAddress(t, n)
	id, err := n.PayMany([]Output{{a, 150_000}, {b, 250_000}, {a, 1_000}})
	if err != nil {
		t.Fatal(err)
	}
	wantBalance(t, n, a, 0)
	hash := mine(t, n, 1)[0]
	wantBalance(t, n, a, 151_000)
	wantBalance(t, n, b, 250_000)

	raw, err := hex.DecodeString(must[string](t, n, "getblock", hash, 0))
	if err != nil {
		t.Fatal(err)
	}
	var block wire.MsgBlock
	if err := block.Deserialize(bytes.NewReader(raw)); err != nil {
		t.Fatal(err)
	}
	if block.BlockHash().String() != hash {
		t.Errorf("block hashes to %v, want %s", block.BlockHash(), hash)
	}
	tx := block.Transactions[1]
	if tx.TxHash().String() != id {
		t.Errorf("second transaction is %v, want %s", tx.TxHash(), id)
	}
	for i, want := range []int64{150_000, 250_000, 1_000} {
		if tx.TxOut[i].Value != want {
			t.Errorf("output %d pays %d, want %d", i, tx.TxOut[i].Value, want)
		}
	}
	info := must[struct{ Confirmations int }](t, n, "getrawtransaction", id, 1)
	if info.Confirmations != 1 {
		t.Errorf("%d confirmations, want 1", info.Confirmations)
	}
}

func TestHundredsOfPaymentsBetweenBlocks(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	a := newAddress(t, n)
	var want int64
	for i := range int64(300) {
		pay(t, n, a, 1000+i)
		want += 1000 + i
	}
	if got := len(must[[]string](t, n, "getrawmempool")); got != 300 {
		t.Fatalf("%d transactions wait, want 300", got)
	}
	mine(t, n, 1)
	wantBalance(t, n, a, want)
}

func TestBalanceOfEveryAddressKind(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	for i, script := range []string{
		"76a914" + strings.Repeat("11", 20) + "88ac", "a914" + strings.Repeat("12", 20) + "87",
		"0014" + strings.Repeat("13", 20),
		"0020" + strings.Repeat("14", 32), "5120" + "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798",
	} {
		raw, err := hex.DecodeString(script)
		if err != nil {
			t.Fatal(err)
		}
		address := scriptAddress(raw, n.params)
		pay(t, n, address, int64(10_000+i))
		mine(t, n, 1)
		wantBalance(t, n, address, int64(10_000+i))
		if got := must[struct{ ScriptPubKey string }](t, n, "validateaddress", address).ScriptPubKey; got != script {
			t.Errorf("%s: script %s, want %s", address, got, script)
		}
	}
}

func TestPayRefuses(t *testing.T) {
	t.Parallel()
	n := start(t, Config{})
	good := newAddress(t, n)
	for name, outputs := range map[string][]Output{
		"nothing":              {},
		"no amount":            {{good, 0}},
		"negative amount":      {{good, -1}},
		"dust":                 {{good, 293}},
		"mainnet address":      {{"bc1qar0srrr7xfkvy5l643lydnw9re59gtzzwf5mdq", 1000}},
		"bad checksum":         {{good[:len(good)-1] + "b", 1000}},
		"public key":           {{"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798", 1000}},
		"one bad among others": {{good, 1000}, {"", 1000}},
	} {
		if id, err := n.PayMany(outputs); err == nil {
			t.Errorf("%s: got transaction %s, want a refusal", name, id)
		}
	}
	pay(t, n, good, 294) // the dust limit of P2WPKH
}

func TestOtherChain(t *testing.T) {
	t.Parallel()
	n := start(t, Config{Params: LitecoinParams(), DustRate: 30_000, NoReplacement: true, FeeRate: 20_000})
	a := newAddress(t, n)
	if !strings.HasPrefix(a, "rltc1q") {
		t.Fatalf("address %s, want %q first", a, "rltc1q")
	}
	if _, err := n.Pay(a, 2939); err == nil {
		t.Error("a payment of dust was accepted, want an error")
	}
	pay(t, n, a, 2940)
	mine(t, n, 1)
	wantBalance(t, n, a, 2940)
	if _, err := n.Balance("bcrt1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqdku202"); err == nil {
		t.Error("an address of another chain was accepted, want an error")
	}
	if got := encode(t, rpc(t, n, "estimatesmartfee", 1).Result); got != `{"blocks":2,"feerate":0.00020000}` {
		t.Errorf("fee estimate %s, want %q", got, `{"blocks":2,"feerate":0.00020000}`)
	}
	s, c := funded(t, n, "customer", coinUnit)
	must[string](t, n, "sendrawtransaction", s.spend(t, c, a, 1000, 0))
	if text := refused(t, n, codeRejected, "sendrawtransaction",
		s.spend(t, c, a, 50_000, 0)); text != "txn-mempool-conflict" {
		t.Errorf("double spend: %s, want %q", text, "txn-mempool-conflict")
	}
}

func TestRealNetworksAreRefused(t *testing.T) {
	t.Parallel()
	for _, p := range []*chaincfg.Params{&chaincfg.MainNetParams, &chaincfg.TestNet3Params, &chaincfg.SigNetParams} {
		if n, err := Start(t.Context(), Config{Params: p}); err == nil {
			t.Errorf("parameters of %s: got %v, want a refusal", p.Name, n.Close())
		}
	}
}

func TestWrapSeesEveryCall(t *testing.T) {
	t.Parallel()
	wrap := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Header.Get("X-Fault") != "" {
				w.WriteHeader(http.StatusServiceUnavailable)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
	n := start(t, Config{Options: host.Options{Wrap: wrap}})
	must[int](t, n, "getblockcount")
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL(), strings.NewReader(`{}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("X-Fault", "1")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("status %d, want %d", res.StatusCode, http.StatusServiceUnavailable)
	}
}

func TestCloseRemovesTemporaryFilesAndEndsChanges(t *testing.T) {
	t.Parallel()
	n, err := Start(t.Context(), Config{})
	if err != nil {
		t.Fatal(err)
	}
	address := newAddress(t, n)
	for range 2 {
		if err := n.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(n.dbDir); !os.IsNotExist(err) {
		t.Errorf("the temporary files still exist: %v", err)
	}
	if _, err := n.Mine(1); err == nil {
		t.Error("mined a block after Close, want an error")
	}
	if _, err := n.Pay(address, 1000); err == nil {
		t.Error("paid after Close, want an error")
	}
	kept := t.TempDir()
	n, err = Start(t.Context(), Config{Options: host.Options{DataDir: kept}})
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Close(); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(kept, "*"))
	if err != nil || fmt.Sprint(left) != fmt.Sprint([]string{filepath.Join(kept, journalName),
		filepath.Join(kept, "lock")}) {
		t.Errorf("the data directory holds %v, %v", left, err)
	}
}
