package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"sync"
	"testing"
	"time"
)

var chainOf = map[string]string{"BTC": "bitcoin", "ETH": "ethereum"}

var currencies = []string{"BTC", "ETH"}

// patience is for what takes a few blocks, on a machine that is busy; a new process waits for the lease of one that was
// killed on top of that.
const patience = 60 * time.Second

// world is one data directory and all that was done with it.
type world struct {
	t        *testing.T
	programs programs
	dir      string
	database string
	chains   string // those that run
	box      *box
	hook     string // URL of the built-in receiver

	a, b, c *account

	mu     sync.Mutex
	ours   map[string][]string // addresses of wallets by currency
	small  map[string]string   // deposits below the minimum: their sum by currency
	orders []*order
}

func newWorld(t *testing.T, p programs, database, chains string) *world {
	w := &world{t: t, programs: p, dir: t.TempDir(), database: database, chains: chains, ours: map[string][]string{}, small: map[string]string{}}
	w.start()
	w.a = &account{w.box.AccountID, w.box.APIKey, w.box.APISecret, w.box.WebhookSecret, w}
	w.b = &account{w: w}
	if err := json.Unmarshal(w.run("account", "create", "--name", "second", "--json"), w.b); err != nil {
		t.Fatal(err)
	}
	w.c = &account{w: w}
	w.must(w.box.ask(http.MethodPost, "/account", params{"name": "third"}, w.c))
	return w
}

// start runs the sandbox, again on the same directory after an end.
func (w *world) start() {
	w.t.Helper()
	w.box = start(w.t, w.programs.sandbox, w.dir, w.database, w.chains)
	var hook struct{ URL string }
	w.must(w.box.ask(http.MethodGet, "/webhooks/url", nil, &hook))
	if w.hook != "" && hook.URL != w.hook {
		w.t.Fatalf("the receiver moved from %s to %s", w.hook, hook.URL)
	}
	w.hook = hook.URL
}

// restart kills the sandbox and starts it again: it must be the same one.
func (w *world) restart() {
	w.t.Helper()
	before := w.box
	before.kill()
	w.start()
	if w.box.AccountID != before.AccountID || w.box.APIKey != before.APIKey || w.box.APISecret != before.APISecret || w.box.WebhookSecret != before.WebhookSecret {
		w.t.Fatal("the sandbox has another account after a restart")
	}
}

func (w *world) must(err error) {
	w.t.Helper()
	if err != nil {
		w.t.Fatalf("%v\n%s", err, w.box.log)
	}
}

// remember notes an address of ours.
func (w *world) remember(currency, address string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ours[currency] = append(w.ours[currency], address)
}

// share is one payment of a transaction.
type share struct {
	wallet wallet
	amount string
}

// pay pays shares in one transaction and returns its hash.
func (w *world) pay(currency string, shares ...share) string {
	w.t.Helper()
	hash, err := w.tryPay(currency, shares...)
	w.must(err)
	return hash
}

func (w *world) tryPay(currency string, shares ...share) (string, error) {
	list := make([]params, len(shares))
	for i, s := range shares {
		list[i] = params{"address": s.wallet.Address, "amount": s.amount}
	}
	body := any(map[string]any{"currency": currency, "payments": list})
	if len(shares) == 1 {
		body = map[string]any{"currency": currency, "address": list[0]["address"], "amount": json.Number(shares[0].amount)}
	}
	var paid struct{ HashID string }
	err := w.box.ask(http.MethodPost, "/pay", body, &paid)
	return paid.HashID, err
}

func (w *world) mine(currency string, blocks int) {
	w.t.Helper()
	w.must(w.box.ask(http.MethodPost, "/mine", map[string]any{"chain": chainOf[currency], "blocks": blocks}, nil))
}

func (w *world) reorg(currency string, depth int, drop ...string) {
	w.t.Helper()
	w.must(w.box.ask(http.MethodPost, "/reorg", map[string]any{"chain": chainOf[currency], "depth": depth, "drop": drop}, nil))
}

// blocks has them come by themselves, "auto", or not, "manual".
func (w *world) blocks(mode string) {
	w.t.Helper()
	w.must(w.box.ask(http.MethodPost, "/blocks", params{"mode": mode}, nil))
}

type chainView struct {
	Height           uint64
	Kind, Fault, Hot string
}

func (w *world) chain(currency string) (chainView, error) {
	var all struct{ Chains map[string]chainView }
	err := w.box.ask(http.MethodGet, "/chains", nil, &all)
	return all.Chains[chainOf[currency]], err
}

// onChain is what the chain says that an address holds.
func (w *world) onChain(currency, address string) (string, error) {
	var held struct{ Balance string }
	err := w.box.ask(http.MethodGet, "/balance?"+url.Values{"currency": {currency}, "address": {address}}.Encode(), nil, &held)
	return held.Balance, err
}

// outsider is a new address that is nobody's.
func (w *world) outsider(currency string) string {
	w.t.Helper()
	var made struct{ Address string }
	w.must(w.box.ask(http.MethodPost, "/address", params{"currency": currency}, &made))
	return made.Address
}

// settled waits until a transaction's deposits in a wallet have a status.
func (w *world) settled(l wallet, hash, status string, count int) {
	w.t.Helper()
	eventually(w.t, patience, fmt.Sprintf("deposit in a %s wallet becomes %s", l.Currency, status), func() error { return l.has(hash, status, count) })
}

// credited waits for confirmed deposits and their signed webhook.
func (w *world) credited(l wallet, hash, amount string) {
	w.t.Helper()
	w.settled(l, hash, "confirmed", 1)
	eventually(w.t, patience, "webhook of a deposit", func() error { return l.account.told("deposit", of(hash, amount)) })
}
