package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/sandbox/receiver"
)

// remote is a remote control of both chains, whose blocks are mined on request only.
type remote struct {
	t   *testing.T
	url string
}

// accountOfTests is the sandbox's account.
const accountOfTests = "0193a6a0-0000-7000-8000-000000000001"

func newRemote(t *testing.T) remote {
	t.Helper()
	registry, err := bursar.NewRegistry(bursar.Standard())
	if err != nil {
		t.Fatal(err)
	}
	log := slog.New(slog.DiscardHandler)
	cfg := Config{Registry: registry, Log: log, Now: time.Now, Hot: map[bursar.ChainID]string{},
		NewAccount: func(_ context.Context, name string, _ bool) (Account, error) {
			if name == "" {
				return Account{}, errors.New("a name is needed")
			}
			return Account{AccountID: "1", APIKey: "key"}, nil
		},
		Notify: func(_ context.Context, id bursar.ID, webhook string) (bool, error) {
			if id.String() != accountOfTests || !strings.HasPrefix(webhook, "http://") {
				return false, errors.New("the account or its webhook is another")
			}
			return true, nil
		},
		AccountID: accountOfTests}
	for _, id := range []bursar.ChainID{bursar.Bitcoin, bursar.Ethereum} {
		c, err := chains.Start(t.Context(), id, chains.Options{Manual: true, Log: log, Mined: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		cfg.Chains = append(cfg.Chains, c)
	}
	if cfg.Receiver, err = receiver.Listen(t.Context(), receiver.Own, time.Now); err != nil {
		t.Fatal(err)
	}
	s, err := Listen(t.Context(), "127.0.0.1:0", cfg)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 2)
	go func() { ended <- s.Run(ctx) }()
	go func() { ended <- cfg.Receiver.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := errors.Join(<-ended, <-ended); err != nil {
			t.Error(err)
		}
	})
	return remote{t, s.URL()}
}

// ask returns the status and body of an answer; with a body it sends a POST.
func (r remote) ask(path, body string) (int, string) {
	r.t.Helper()
	method := http.MethodGet
	if body != "" {
		method = http.MethodPost
	}
	request, err := http.NewRequest(method, r.url+path, strings.NewReader(body))
	if err != nil {
		r.t.Fatal(err)
	}
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		r.t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

// get returns a member of an answer that must be a success.
func (r remote) get(path, body, member string) string {
	r.t.Helper()
	status, text := r.ask(path, body)
	var members map[string]any
	if err := json.Unmarshal([]byte(text), &members); err != nil || status != http.StatusOK {
		r.t.Fatalf("%s %s: %d %s, want %v", path, body, status, text, http.StatusOK)
	}
	value, ok := members[member].(string)
	if !ok {
		r.t.Fatalf("%s %s: %s has no %s", path, body, text, member)
	}
	return value
}

func TestPaymentsArrive(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	for _, test := range []struct{ currency, chain, amount, want string }{
		{"BTC", "bitcoin", `0.00012345`, "0.00012345"},
		{"BTC", "bitcoin", `"12.5"`, "12.50000000"},
		{"BTC", "bitcoin", `3`, "3.00000000"},
		{"ETH", "ethereum", `"1.000000000000000001"`, "1.000000000000000001"},
		{"ETH", "ethereum", `0.100000000000000000`, "0.10000000"},
	} {
		address := r.get("/address", `{"currency":"`+test.currency+`"}`, "address")
		r.get("/pay", `{"currency":"`+test.currency+`","address":"`+address+`","amount":`+test.amount+`}`, "hashID")
		held := "/balance?currency=" + test.currency + "&address=" + address
		if got := r.get(held, "", "balance"); !strings.HasPrefix(got, "0.00000000") {
			t.Errorf("%s %s before a block: %s, want %q first", test.amount, test.currency, got, "0.00000000")
		}
		if status, text := r.ask("/mine", `{"chain":"`+test.chain+`","blocks":1}`); status != http.StatusOK {
			t.Fatal(text)
		}
		if got := r.get(held, "", "balance"); got != test.want {
			t.Errorf("%s %s became %s, want %v", test.amount, test.currency, got, test.want)
		}
	}
}

func TestSeveralPaymentsInOneTransactionAndReorganisation(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	for currency, chain := range map[string]string{"BTC": "bitcoin", "ETH": "ethereum"} {
		one, two := r.get("/address", `{"currency":"`+currency+`"}`, "address"),
			r.get("/address", `{"currency":"`+currency+`"}`, "address")
		hash := r.get("/pay", `{"currency":"`+currency+`","payments":[{"address":"`+one+`","amount":"1"},{"address":"`+two+
			`","amount":2}]}`, "hashID")
		holds := func(want ...string) {
			t.Helper()
			for i, address := range []string{one, two} {
				if got := r.get("/balance?currency="+currency+"&address="+address, "", "balance"); got != want[i] {
					t.Errorf("%s payment %d: %s, want %s", currency, i, got, want[i])
				}
			}
		}
		r.ask("/mine", `{"chain":"`+chain+`","blocks":2}`)
		holds("1.00000000", "2.00000000")
		before := r.height(chain)
		if status, text := r.ask("/reorg", `{"chain":"`+chain+`","depth":2}`); status != http.StatusOK {
			t.Fatal(text)
		}
		holds("1.00000000", "2.00000000")
		if status, text := r.ask("/reorg", `{"chain":"`+chain+`","depth":3,"drop":["`+hash+`"]}`); status != http.StatusOK {
			t.Fatal(text)
		}
		r.ask("/mine", `{"chain":"`+chain+`"}`)
		holds("0.00000000", "0.00000000")
		if after := r.height(chain); after != before+3 { // each reorg adds one block, and one was mined
			t.Errorf("%s: height %v became %v, want %v", chain, before, after, before+3)
		}
	}
}

func (r remote) height(chain string) float64 {
	r.t.Helper()
	var all struct{ Chains map[string]map[string]any }
	if _, text := r.ask("/chains", ""); json.Unmarshal([]byte(text), &all) != nil {
		r.t.Fatal(text)
	}
	view := all.Chains[chain]
	if view["kind"] != "node" || view["software"] == "" || view["blocks"] != "manual" {
		r.t.Errorf("chain %s: %v, want %q and not %q and %q", chain, view, "node", "", "manual")
	}
	height, _ := view["height"].(float64)
	return height
}

func TestWebhooksAndAccounts(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	url := r.get("/webhooks/url", "", "url")
	if status, text := r.ask("/webhooks/answer", `{"status":500,"count":1}`); status != http.StatusOK {
		t.Fatal(text)
	}
	answer, err := http.Post(url, "application/json", strings.NewReader("{}"))
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != 500 {
		t.Errorf("the receiver answers %d, want 500", answer.StatusCode)
	}
	if _, text := r.ask("/webhooks", ""); !strings.Contains(text, `"body":"{}"`) {
		t.Errorf("deliveries: %s, want %q in it", text, `"body":"{}"`)
	}
	if key := r.get("/account", `{"name":"shop"}`, "apiKey"); key != "key" {
		t.Errorf("key %q, want %q", key, "key")
	}
	if id := r.get("/account/notify", `{}`, "accountID"); id != accountOfTests {
		t.Errorf("events of withdrawals are sent for %q, want for %q", id, accountOfTests)
	}
	if mode := r.get("/blocks", `{"mode":"auto"}`, "mode"); mode != "auto" {
		t.Errorf("mode %q, want %q", mode, "auto")
	}
	if kind := r.get("/fault", `{"chain":"bitcoin","kind":"slow","seconds":1}`, "kind"); kind != "slow" {
		t.Errorf("kind %q, want %q", kind, "slow")
	}
	if kind := r.get("/fault", `{"chain":"bitcoin","endpoint":1,"kind":"balanced","seconds":1}`,
		"kind"); kind != "balanced" {
		t.Errorf("kind %q, want %q", kind, "balanced")
	}
}

// TestRefusals checks that wrong requests are refused with a reason, and change nothing.
func TestRefusals(t *testing.T) {
	t.Parallel()
	r := newRemote(t)
	btc := r.get("/address", `{"currency":"BTC"}`, "address")
	for _, test := range []struct {
		path, body string
		status     int
		says       string
	}{
		{"/nothing", "", 404, "/nothing"},
		{"/pay", "", 405, "POST"},
		{"/chains", "{}", 405, "GET"},
		{"/pay", `[]`, 400, "object"},
		{"/pay", `{`, 400, "JSON"},
		{"/pay", `{} {}`, 400, "JSON"},
		{"/pay", `{"currency":"BTC","currency":"ETH"}`, 400, "duplicate"},
		{"/pay", `{"Currency":"BTC"}`, 400, "Currency"},
		{"/pay", `{"address":"` + btc + `","amount":1}`, 400, "currency is missing"},
		{"/pay", `{"currency":"XYZ","address":"a","amount":1}`, 404, "XYZ"},
		{"/pay", `{"currency":"SOL","address":"a","amount":1}`, 404, "does not run"},
		{"/pay", `{"currency":"BTC"}`, 400, "payments"},
		{"/pay", `{"currency":"BTC","payments":[]}`, 400, "payments"},
		{"/pay", `{"currency":"BTC","address":"a","amount":1,"payments":[]}`, 400, "not both"},
		{"/pay", `{"currency":"BTC","amount":1}`, 400, "address is missing"},
		{"/pay", `{"currency":"BTC","address":"` + btc + `"}`, 400, "amount"},
		{"/pay", `{"currency":"BTC","address":"` + btc + `","amount":true}`, 400, "amount"},
		{"/pay", `{"currency":"BTC","address":"` + btc + `","amount":0}`, 400, "zero"},
		{"/pay", `{"currency":"BTC","address":"` + btc + `","amount":-1}`, 400, "amount"},
		{"/pay", `{"currency":"BTC","address":"` + btc + `","amount":1e2}`, 400, "amount"},
		{"/pay", `{"currency":"BTC","address":"` + btc + `","amount":"0x1"}`, 400, "amount"},
		{"/pay", `{"currency":"BTC","address":"` + btc + `","amount":0.000000001}`, 400, "decimal"},
		{"/pay", `{"currency":"BTC","address":"` + btc + `","amount":99999999999}`, 400, "amount"},
		{"/pay", `{"currency":"BTC","address":"bc1qnothing","amount":1}`, 400, "bc1qnothing"},
		{"/pay", `{"currency":"ETH","address":"0x12","amount":1}`, 400, "0x12"},
		{"/mine", `{"chain":"dogecoin"}`, 404, "dogecoin"},
		{"/mine", `{"blocks":1}`, 400, "chain is missing"},
		{"/mine", `{"chain":"bitcoin","blocks":0}`, 400, "blocks"},
		{"/mine", `{"chain":"bitcoin","blocks":1001}`, 400, "blocks"},
		{"/mine", `{"chain":"bitcoin","blocks":1.5}`, 400, "blocks"},
		{"/reorg", `{"chain":"bitcoin","depth":0}`, 400, "depth"},
		{"/reorg", `{"chain":"bitcoin","depth":101}`, 400, "depth"},
		{"/reorg", `{"chain":"bitcoin","depth":1,"drop":["ff"]}`, 400, "ff"},
		{"/reorg", `{"chain":"ethereum","depth":1}`, 400, "0 blocks"},
		{"/fault", `{"chain":"bitcoin","kind":"tired","seconds":1}`, 400, "tired"},
		{"/fault", `{"chain":"bitcoin","kind":"down"}`, 400, "seconds"},
		{"/fault", `{"chain":"bitcoin","endpoint":2,"kind":"down","seconds":1}`, 400, "use 1 to 1"},
		{"/fault", `{"chain":"bitcoin","kind":"down","seconds":3601}`, 400, "seconds"},
		{"/blocks", `{"mode":"fast"}`, 400, "mode"},
		{"/address", `{}`, 400, "currency"},
		{"/account", `{"name":""}`, 400, "name"},
		{"/account/notify", `{"accountID":"1"}`, 400, "accountID"},
		{"/account/notify", `{"accountID":"0193a6a0-0000-7000-8000-000000000002"}`, 400, "is another"},
		{"/account/notify", `{"webhook":""}`, 400, "is another"},
		{"/webhooks/answer", `{"status":42}`, 400, "42"},
		{"/screening", `{"address":"*","verdict":"reject"}`, 400, "--screening"},
		{"/balance", "", 400, "currency"},
		{"/balance?currency=BTC", "", 400, "address"},
		{"/balance?currency=BTC&address=x", "", 400, "x"},
		{"/balance?currency=ETH&address=x", "", 400, "x"},
	} {
		status, text := r.ask(test.path, test.body)
		var refusal struct{ Error string }
		if err := json.Unmarshal([]byte(text), &refusal); err != nil {
			t.Errorf("%s %s: %q is not JSON", test.path, test.body, text)
		}
		if status != test.status || !strings.Contains(refusal.Error, test.says) ||
			strings.Contains(refusal.Error, "control.") {
			t.Errorf("%s %s: %d %q, want %d with %q", test.path, test.body, status, refusal.Error, test.status, test.says)
		}
	}
}

func TestOnlyLoopbackIsServed(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"0.0.0.0:0", ":0", "192.168.1.1:80", "example.org:80", "nonsense"} {
		if _, err := Listen(t.Context(), address, Config{}); err == nil {
			t.Errorf("%s is listened on, want an error", address)
		}
	}
}
