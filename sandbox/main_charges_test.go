package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/client"
)

// asked is a request to a sandbox and its answer.
func asked(t *testing.T, url, body string, into any) (status int, text string) {
	t.Helper()
	response, err := http.Post(url, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	read, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	if into != nil && response.StatusCode == http.StatusOK {
		if err := json.Unmarshal(read, into); err != nil {
			t.Fatalf("%s: %v", read, err)
		}
	}
	return response.StatusCode, string(bytes.TrimSpace(read))
}

// becomes waits until a charge is as it should be.
func becomes(t *testing.T, api *client.Client, id, what string, is func(client.Charge) bool) {
	t.Helper()
	deadline := time.NewTimer(time.Minute)
	defer deadline.Stop()
	ticker := time.NewTicker(50 * time.Millisecond)
	defer ticker.Stop()
	for {
		charge, err := api.Charge(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		if is(charge) {
			return
		}
		select {
		case <-deadline.C:
			t.Errorf("the charge is %s %v with payments %+v, want one that is %s", charge.Status, charge.Labels,
				charge.Payments, what)
			return
		case <-ticker.C:
		}
	}
}

// TestChargesArePaidInEveryWay pays charges with a price by the remote control, has one of its webhooks delivered to a
// receiver on this machine, and looks for alarms, of which a new sandbox has none.
func TestChargesArePaidInEveryWay(t *testing.T) {
	t.Parallel()
	received := make(chan string, 100)
	own := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		at, err := strconv.ParseInt(r.Header.Get("Webhook-Timestamp"), 10, 64)
		if away := time.Since(time.Unix(at, 0)); err != nil || away.Abs() > time.Minute {
			t.Errorf("an event was signed at %s, want now", time.Unix(at, 0))
		}
		received <- string(body)
	}))
	t.Cleanup(own.Close)
	line, end := begin(t, "--json", "--chains", "ethereum,polygon,xrpl")
	f := startInfoOf(t, line)
	if text := fetched(t, f.Dashboard+"/metrics"); strings.Contains(text, "\nbursar_alarms_open{") {
		t.Errorf("a new sandbox has alarms, want none:\n%s", text)
	}
	api, err := client.New(client.Config{BaseURL: f.API, Key: f.APIKey})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		how, currency string
		is            func(client.Charge) bool
	}{
		{"", "ETH", func(k client.Charge) bool { return k.Status == client.SumPaid && len(k.Labels) == 0 }},
		{"partial", "XRP", labelled(client.SumOpen, "partial")},
		{"over", "ETH", labelled(client.SumPaid, "over")},
		{"other_asset", "MATIC", labelled(client.SumOpen, "other_asset")},
		{"other_network", "ETH", labelled(client.SumOpen, "other_network")},
		{"reorg", "ETH", func(k client.Charge) bool {
			return k.Status == client.SumOpen && slices.ContainsFunc(k.Payments,
				func(p client.ChargePayment) bool { return p.Status == "orphaned" })
		}},
	} {
		charge, err := api.CreateSum(t.Context(), client.NewSum{
			Currencies:    []string{"ETH", "MATIC", "XRP"},
			Price:         "30",
			PriceCurrency: "EUR",
			Webhook:       strings.Replace(own.URL, "127.0.0.1", "localhost", 1) + "/hook",
			Life:          time.Hour,
		})
		if err != nil {
			t.Fatal(err)
		}
		request := map[string]string{"chargeID": charge.ChargeID, "currency": c.currency}
		if c.how != "" {
			request["how"] = c.how
		}
		body, err := json.Marshal(request)
		if err != nil {
			t.Fatal(err)
		}
		if status, text := asked(t, f.Control+"/test/charge/pay", string(body), nil); status != http.StatusOK {
			t.Errorf("pay %s: got %d %s, want 200", c.how, status, text)
			continue
		}
		becomes(t, api, charge.ChargeID, "paid as "+c.how, c.is)
	}
	select {
	case body := <-received:
		if !strings.Contains(body, `"chargeID"`) {
			t.Errorf("the own receiver got %s, want an event of a charge", body)
		}
	case <-time.After(time.Minute):
		t.Error("the own receiver got nothing, want the event of a paid charge")
	}
	checkRefusals(t, f, api)
	checkNotify(t, f, api)
	checkClock(t, f, api)
	if err := end(); err != nil {
		t.Fatal(err)
	}
}

// checkNotify checks that an account sends events of its withdrawals on request, and not by itself.
func checkNotify(t *testing.T, f startInfo, api *client.Client) {
	t.Helper()
	for _, want := range []bool{true, false} {
		var answer struct {
			AccountID string
			Changed   bool
		}
		status, text := asked(t, f.Control+"/account/notify", `{}`, &answer)
		if status != http.StatusOK || answer.AccountID != f.AccountID || answer.Changed != want {
			t.Fatalf("events of withdrawals: got %d %s, want them for %s, changed: %v", status, text, f.AccountID, want)
		}
	}
	if status, text := asked(t, f.Control+"/account/notify", `{"accountID":"0193a6a0-0000-7000-8000-000000000000"}`,
		nil); status != http.StatusBadRequest {
		t.Errorf("events of withdrawals of an account that is not: got %d %s, want 400", status, text)
	}
	paying, err := client.New(client.Config{BaseURL: f.API, Key: f.APIKey, Secret: f.APISecret})
	if err != nil {
		t.Fatal(err)
	}
	newest, err := api.Events(t.Context(), client.FeedQuery{After: client.NewestEvents})
	if err != nil {
		t.Fatal(err)
	}
	var outside struct{ Address string }
	if status, text := asked(t, f.Control+"/address", `{"currency":"ETH"}`, &outside); status != http.StatusOK {
		t.Fatalf("an address outside: got %d %s, want 200", status, text)
	}
	made, err := paying.Withdraw(t.Context(), client.NewWithdrawal{Currency: "ETH", Amount: "0.005",
		Address: outside.Address})
	if err != nil {
		t.Fatal(err)
	}
	page, err := api.Events(t.Context(), client.FeedQuery{After: newest.Next, Event: "withdrawal",
		Wait: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if len(page.Events) == 0 || page.Events[0].Withdrawal == nil ||
		page.Events[0].Withdrawal.WithdrawalID != made.WithdrawalID {
		t.Errorf("the feed has %+v, want an event of the withdrawal %s", page.Events, made.WithdrawalID)
	}
}

// labelled reports whether a charge has a status and the one label.
func labelled(status, label string) func(client.Charge) bool {
	return func(k client.Charge) bool { return k.Status == status && slices.Equal(k.Labels, []string{label}) }
}

// checkRefusals asks for payments that cannot be made, and for a late one, which is made later.
func checkRefusals(t *testing.T, f startInfo, api *client.Client) {
	t.Helper()
	long, err := api.CreateSum(t.Context(), client.NewSum{Currencies: []string{"ETH", "XRP"}, Price: "30",
		PriceCurrency: "EUR", Webhook: f.webhookURL(t), Life: 24 * time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	short, err := api.CreateSum(t.Context(), client.NewSum{Currencies: []string{"XRP"}, Amount: "5",
		Webhook: f.webhookURL(t), Life: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		body, says string
		status     int
	}{
		{`{"chargeID":"` + long.ChargeID + `","how":"late"}`, "by its parameter expires", 400},
		{`{"chargeID":"` + long.ChargeID + `","how":"no_tag","currency":"ETH"}`, "have no tag", 400},
		{`{"chargeID":"` + long.ChargeID + `","how":"other_asset","currency":"XRP"}`, "no other currency", 400},
		{`{"chargeID":"` + long.ChargeID + `","how":"quickly"}`, "use one of exact", 400},
		{`{"chargeID":"` + long.ChargeID + `","currency":"BTC"}`, "cannot be paid in", 400},
		{`{"chargeID":"` + long.ChargeID + `","amount":"-1"}`, "amount", 400},
		{`{"chargeID":"0193a6a0-0000-7000-8000-000000000000"}`, "the service refuses", 404},
		{`{"chargeID":"` + short.ChargeID + `","how":"no_tag"}`, `"hashID"`, 200},
		{`{"chargeID":"` + short.ChargeID + `","how":"late"}`, `"payAt"`, 200},
	} {
		status, text := asked(t, f.Control+"/test/charge/pay", c.body, nil)
		if status != c.status || !strings.Contains(text, c.says) {
			t.Errorf("%s: got %d %s, want %d and %q", c.body, status, text, c.status, c.says)
		}
	}
}

// checkClock moves the clock: a charge expires, and the service goes on with everything.
func checkClock(t *testing.T, f startInfo, api *client.Client) {
	t.Helper()
	terms := client.NewSum{Currencies: []string{"ETH"}, Price: "30", PriceCurrency: "EUR", Webhook: f.webhookURL(t),
		Life: 24 * time.Hour}
	before, err := api.CreateSum(t.Context(), terms)
	if err != nil {
		t.Fatal(err)
	}
	if page := fetched(t, before.CheckoutURL); !strings.HasPrefix(before.CheckoutURL, f.API+"/pay/") ||
		!strings.Contains(page, "30") {
		t.Errorf("the payer's page is at %s and has %.200q, want one at %s with 30 EUR", before.CheckoutURL, page, f.API)
	}
	for _, body := range []string{`{"advance":"-1h"}`, `{"advance":"9000h"}`, `{"advance":60}`, `{}`} {
		if status, text := asked(t, f.Control+"/test/clock", body, nil); status != http.StatusBadRequest {
			t.Errorf("move the clock by %s: got %d %s, want 400", body, status, text)
		}
	}
	var moved struct{ Now time.Time }
	status, text := asked(t, f.Control+"/test/clock", `{"advance":"25h"}`, &moved)
	if away := time.Until(moved.Now) - 25*time.Hour; status != http.StatusOK || away.Abs() > time.Minute {
		t.Fatalf("move the clock: got %d %s, want 25 hours from now", status, text)
	}
	becomes(t, api, before.ChargeID, "expired", func(k client.Charge) bool { return k.Status == client.SumExpired })
	after, err := api.CreateSum(t.Context(), terms)
	if err != nil {
		t.Fatal(err)
	}
	if status, text := asked(t, f.Control+"/test/charge/pay", `{"chargeID":"`+after.ChargeID+`"}`, nil); status !=
		http.StatusOK {
		t.Fatalf("pay after the clock was moved: got %d %s, want 200", status, text)
	}
	becomes(t, api, after.ChargeID, "paid", func(k client.Charge) bool { return k.Status == client.SumPaid })
}

// webhookURL is the URL of the built-in receiver.
func (f startInfo) webhookURL(t *testing.T) string {
	t.Helper()
	var found struct{ URL string }
	if err := json.Unmarshal([]byte(fetched(t, f.Control+"/webhooks/url")), &found); err != nil {
		t.Fatal(err)
	}
	return found.URL
}

func fetched(t *testing.T, url string) string {
	t.Helper()
	response, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
