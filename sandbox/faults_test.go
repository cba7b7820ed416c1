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

// outside is a client of a sandbox: of its service, its remote control and its metrics.
type outside struct {
	*testing.T
	facts
}

// ask puts a request and reads the answer into out, which may be nil.
func (o outside) ask(method, url string, body map[string]any, out any) {
	o.Helper()
	var text []byte
	if body != nil {
		text, _ = json.Marshal(body) // of texts and numbers: never fails
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

func (o outside) control(path string, body map[string]any) {
	o.Helper()
	o.ask(http.MethodPost, o.Control+path, body, nil)
}

// wallet makes one and returns its id and address.
func (o outside) wallet(code bursar.CurrencyCode) (id, address string) {
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

// deposits returns status and amount of each of a wallet's deposits.
func (o outside) deposits(wallet string) []string {
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

func (o outside) balance(code bursar.CurrencyCode) string {
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

// calls is how often the service has asked a chain's node, and how often that failed.
func (o outside) calls(id bursar.ChainID) (asked, failed int) {
	o.Helper()
	var text string
	o.ask(http.MethodGet, o.Dashboard+"/metrics", nil, &text)
	read := func(name string) (sum int) {
		for _, match := range regexp.MustCompile(name+`{chain="`+string(id)+
			`",[^}]*} (\S+)`).FindAllStringSubmatch(text, -1) {
			n, ok := new(big.Rat).SetString(match[1]) // it may be written with an exponent
			if !ok || !n.IsInt() {
				o.Fatalf("%s counts nothing", match[0])
			}
			sum += int(n.Num().Int64())
		}
		return sum
	}
	return read("bursar_rpc_calls_total"), read("bursar_rpc_faults_total")
}

// until waits for a condition, for minutes where the machine is busy.
func (o outside) until(what string, done func() bool) {
	o.Helper()
	ticker := time.NewTicker(20 * time.Millisecond)
	defer ticker.Stop()
	deadline := time.After(3 * time.Minute)
	for !done() {
		select {
		case <-deadline:
			o.Fatalf("%s: still not", what)
		case <-ticker.C:
		}
	}
}

// Whatever befalls a node, on whichever chain: addresses are made, nothing that it does not tell is credited, and once
// it has recovered everything is, once. Every chain has another trouble at a time.
func TestEveryFaultOnEveryChain(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("faults of all chains' nodes are left out by -short")
	}
	line, end := begin(t, "--json", "--blocks", "manual")
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
	o, kinds := outside{t, factsOf(t, line)}, fault.Troubles()
	for round := range kinds {
		var patients []*patient
		for i, id := range chains.Available() {
			patients = append(patients, o.befall(nativeOf(t, id), kinds[(i+round)%len(kinds)]))
		}
		o.until(fmt.Sprintf("every chain recovers from fault %d", round+1), func() bool {
			patients = slices.DeleteFunc(patients, o.attend)
			return len(patients) == 0
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
	t.Fatalf("chain %s has no coin", id)
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

// patient is a chain whose node fails, with a payment that was made meanwhile.
type patient struct {
	currency      bursar.Currency
	kind          fault.Kind
	wallet        string
	asked, failed int  // calls of the service before anything was done
	recovering    bool // the fault is over
}

func (p *patient) String() string {
	return fmt.Sprintf("the node of %s, which is %s", p.currency.Chain, p.kind)
}

// befall makes a node fail and then pays, with blocks enough to be final.
func (o outside) befall(currency bursar.Currency, kind fault.Kind) *patient {
	o.Helper()
	o.control("/fault", map[string]any{"chain": currency.Chain, "kind": kind, "seconds": 3600})
	id, address := o.wallet(currency.Code)
	o.control("/pay", map[string]any{"currency": currency.Code, "address": address, "amount": "7"})
	o.control("/mine", map[string]any{"chain": currency.Chain, "blocks": 6})
	p := &patient{currency: currency, kind: kind, wallet: id}
	p.asked, p.failed = o.calls(currency.Chain)
	return p
}

// attend ends the fault once the service has met it in vain, and reports whether everything is credited after that.
func (o outside) attend(p *patient) bool {
	o.Helper()
	if p.recovering {
		return slices.Equal(o.deposits(p.wallet), []string{"confirmed " + p.currency.Exact(parse(o.T, p.currency, "7"))})
	}
	if !o.met(p) {
		return false
	}
	found := o.deposits(p.wallet)
	if p.kind != fault.Slow && len(found) > 0 {
		o.Fatalf("%s, told of %v", p, found)
	}
	o.control("/fault", map[string]any{"chain": p.currency.Chain, "kind": p.kind, "seconds": 0})
	p.recovering = true
	return false
}

// enough is how many calls of the service show that it has looked for blocks, more than once, since they were made: no
// adapter needs as many to read a chain's end and find that there is nothing.
const enough = 12

// met reports whether the service has asked the node since it fails.
func (o outside) met(p *patient) bool {
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
