package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"net/http"
	"regexp"
	"slices"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/sandbox/chains"
	"github.com/bursar/bursar/sandbox/fault"
)

// sandboxClient is a client of a sandbox: of the service's API, the remote control and the metrics.
type sandboxClient struct {
	*testing.T
	startInfo
}

// ask sends a request and decodes the answer into out, which may be nil.
func (o sandboxClient) ask(method, url string, body map[string]any, out any) {
	o.Helper()
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body) // a map of texts and numbers: never fails
	}
	request, err := http.NewRequestWithContext(o.Context(), method, url, bytes.NewReader(text))
	if err != nil {
		o.Fatal(err)
	}
	request.Header.Set("X-API-KEY", o.APIKey)
	request.Header.Set("Content-Type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		o.Fatal(err)
	}
	defer answer.Body.Close()
	if text, err = io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		o.Fatalf("%s %s: %d %s %v", method, url, answer.StatusCode, text, err)
	}
	if out == nil {
		return
	}
	if raw, is := out.(*string); is {
		*raw = string(text)
		return
	}
	if err := json.Unmarshal(text, out); err != nil {
		o.Fatalf("%s: %v", text, err)
	}
}

func (o sandboxClient) control(path string, body map[string]any) {
	o.Helper()
	o.ask(http.MethodPost, o.Control+path, body, nil)
}

// wallet creates a wallet and returns its id and address.
func (o sandboxClient) wallet(code bursar.CurrencyCode) (id, address string) {
	o.Helper()
	var made struct {
		Response struct {
			Wallet struct{ WalletID, Address string }
		}
	}
	var receiver struct{ URL string }
	o.ask(http.MethodGet, o.Control+"/webhooks/url", nil, &receiver)
	o.ask(http.MethodPost, o.API+"/api/v1/wallet", map[string]any{"currency": code, "webhook": receiver.URL}, &made)
	return made.Response.Wallet.WalletID, made.Response.Wallet.Address
}

// deposits returns the status and amount of each deposit of a wallet.
func (o sandboxClient) deposits(wallet string) []string {
	o.Helper()
	var list struct {
		Response struct {
			Deposits []struct{ Status, Amount string }
		}
	}
	o.ask(http.MethodGet, o.API+"/api/v1/wallet/deposits?walletID="+wallet, nil, &list)
	var found []string
	for _, d := range list.Response.Deposits {
		found = append(found, d.Status+" "+d.Amount)
	}
	return found
}

func (o sandboxClient) balance(code bursar.CurrencyCode) string {
	o.Helper()
	var whole struct {
		Response struct {
			Account struct {
				Balance map[bursar.CurrencyCode]string
			}
		}
	}
	o.ask(http.MethodGet, o.API+"/api/v1/account", nil, &whole)
	return whole.Response.Account.Balance[code]
}

// calls is the number of calls of the service to a chain's node, and of those that failed.
func (o sandboxClient) calls(id bursar.ChainID) (asked, failed int) {
	o.Helper()
	var text string
	o.ask(http.MethodGet, o.Dashboard+"/metrics", nil, &text)
	read := func(name string) (sum int) {
		for _, match := range regexp.MustCompile(name+`{chain="`+string(id)+
			`",[^}]*} (\S+)`).FindAllStringSubmatch(text, -1) {
			n, ok := new(big.Rat).SetString(match[1]) // it may be written with an exponent
			if !ok || !n.IsInt() {
				o.Fatalf("the metrics count no calls for %s", match[0])
			}
			sum += int(n.Num().Int64())
		}
		return sum
	}
	return read("bursar_rpc_calls_total"), read("bursar_rpc_faults_total")
}

// until waits for a condition, up to minutes because the machine may be busy.
func (o sandboxClient) until(what string, done func() bool) {
	o.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(3 * time.Minute)
	for !done() {
		select {
		case <-deadline:
			o.Fatalf("%s: not in time", what)
		case <-ticker.C:
		}
	}
}

// TestEveryFaultOnEveryChain gives every chain's node a different fault at a time, and each fault in turn. Under
// every fault addresses are still created, no deposit is recorded that the node does not report, and after the node
// has recovered every deposit is credited exactly once.
func TestEveryFaultOnEveryChain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("runs all chains through every fault of a node: left out by -short")
	}
	line, end := begin(t, "--json", "--blocks", "manual")
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	o, kinds := sandboxClient{t, startInfoOf(t, line)}, fault.Troubles()
	for round := range kinds {
		var faulty []*faultyNode
		for i, id := range chains.Available() {
			faulty = append(faulty, o.startFault(nativeOf(t, id), kinds[(i+round)%len(kinds)]))
		}
		o.until(fmt.Sprintf("every chain recovers from fault %d", round+1), func() bool {
			faulty = slices.DeleteFunc(faulty, o.endFault)
			return len(faulty) == 0
		})
		for _, id := range chains.Available() {
			currency := nativeOf(t, id)
			if want := currency.Balance(parse(t, currency, fmt.Sprint(7*(round+1)))); o.balance(currency.Code) != want {
				t.Errorf("after %d faults the balance of %s is %s, want %s", round+1, currency.Code, o.balance(currency.Code), want)
			}
		}
	}
}

func nativeOf(t *testing.T, id bursar.ChainID) bursar.Currency {
	t.Helper()
	for _, c := range bursar.Standard() {
		if c.Chain == id && !c.IsToken() {
			return c
		}
	}
	t.Fatalf("chain %s has no native asset", id)
	return bursar.Currency{}
}

func parse(t *testing.T, c bursar.Currency, text string) bursar.Amount {
	t.Helper()
	amount, err := c.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return amount
}

// faultyNode is a chain whose node has a fault, with a payment that was made during the fault.
type faultyNode struct {
	currency      bursar.Currency
	kind          fault.Kind
	wallet        string
	asked, failed int  // calls of the service before the fault
	recovering    bool // the fault is over
}

func (p *faultyNode) String() string {
	return fmt.Sprintf("the node of %s with fault %s", p.currency.Chain, p.kind)
}

// startFault gives a node a fault, then pays and mines enough blocks to make the payment final.
func (o sandboxClient) startFault(currency bursar.Currency, kind fault.Kind) *faultyNode {
	o.Helper()
	o.control("/fault", map[string]any{"chain": currency.Chain, "kind": kind, "seconds": 3600})
	id, address := o.wallet(currency.Code)
	o.control("/pay", map[string]any{"currency": currency.Code, "address": address, "amount": "7"})
	o.control("/mine", map[string]any{"chain": currency.Chain, "blocks": 6})
	p := &faultyNode{currency: currency, kind: kind, wallet: id}
	p.asked, p.failed = o.calls(currency.Chain)
	return p
}

// endFault ends the fault once the service has run into it, and then reports whether everything is credited.
func (o sandboxClient) endFault(p *faultyNode) bool {
	o.Helper()
	if p.recovering {
		return slices.Equal(o.deposits(p.wallet), []string{"confirmed " + p.currency.Exact(parse(o.T, p.currency, "7"))})
	}
	if !o.met(p) {
		return false
	}
	found := o.deposits(p.wallet)
	if p.kind != fault.Slow && len(found) > 0 {
		o.Fatalf("%s: deposits %v were recorded, want none", p, found)
	}
	o.control("/fault", map[string]any{"chain": p.currency.Chain, "kind": p.kind, "seconds": 0})
	p.recovering = true
	return false
}

// enough is a number of calls which shows that the service has looked for blocks more than once since they were
// mined: no adapter needs as many calls to find that a chain has no new block.
const enough = 12

// met reports whether the service has called the node since the fault began.
func (o sandboxClient) met(p *faultyNode) bool {
	o.Helper()
	asked, failed := o.calls(p.currency.Chain)
	switch p.kind {
	case fault.Behind:
		return asked > p.asked+enough
	case fault.Slow:
		return asked > p.asked
	}
	return failed > p.failed
}
