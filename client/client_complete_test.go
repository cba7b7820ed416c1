package client_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/docs"
)

// description is the part of the API's description that is used here.
type description struct {
	Paths map[string]map[string]struct {
		RequestBody *json.RawMessage
		OperationID string
	}
	Components struct {
		Schemas map[string]struct{ Properties map[string]json.RawMessage }
	}
}

func described(t *testing.T) (d description) {
	t.Helper()
	served, err := docs.Render()
	if err == nil {
		err = json.Unmarshal(served.JSON, &d)
	}
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// recorder records the requested endpoints and their parameters.
type recorder struct {
	mu     sync.Mutex
	asked  map[string]bool // "POST /api/v1/wallet"
	params map[string]bool
}

func (r *recorder) RoundTrip(q *http.Request) (*http.Response, error) {
	r.mu.Lock()
	r.asked[q.Method+" "+q.URL.Path] = true
	for name := range q.URL.Query() {
		r.params[name] = true
	}
	if q.GetBody != nil {
		body, err := q.GetBody()
		if err != nil {
			return nil, err
		}
		var object map[string]any
		if json.NewDecoder(body).Decode(&object) == nil {
			for name := range object {
				r.params[name] = true
			}
		}
	}
	r.mu.Unlock()
	return http.DefaultTransport.RoundTrip(q)
}

// whole requires every endpoint with a key to have been requested, and every parameter to have been sent.
func (r *recorder) whole(t *testing.T) {
	t.Helper()
	d := described(t)
	wanted := map[string]bool{}
	for path, operations := range d.Paths {
		for method, op := range operations {
			if op.RequestBody != nil && !r.asked[strings.ToUpper(method)+" "+path] {
				t.Errorf("the client has no %s (%s %s)", op.OperationID, method, path)
			}
		}
	}
	for name, s := range d.Components.Schemas {
		if strings.HasSuffix(name, "Request") && name != "LoggedRequest" { // what the log says of one is not sent
			maps.Copy(wanted, keys(s.Properties))
		}
	}
	for name := range wanted {
		if !r.params[name] {
			t.Errorf("the client never sends %s", name)
		}
	}
}

func keys(m map[string]json.RawMessage) map[string]bool {
	names := map[string]bool{}
	for name := range m {
		names[name] = true
	}
	return names
}

// The client reads every field of every object of the API, and has no others.
func TestTheClientReadsEveryField(t *testing.T) {
	t.Parallel()
	d := described(t)
	for name, object := range map[string]any{"Wallet": client.Wallet{}, "Deposit": client.Deposit{},
		"Charge": client.Charge{}, "Account": client.Account{},
		"LedgerLine": client.LedgerLine{}, "Withdrawal": client.Withdrawal{}, "Currency": client.Currency{},
		"Delivery": client.Delivery{}, "LoggedRequest": client.LoggedRequest{},
		"ListedDestination": client.Destination{}, "Attempt": client.Attempt{}, "ChargePaid": client.ChargePaid{},
		"ChargeOption": client.ChargeOption{}, "ChargePayment": client.ChargePayment{},
		"ChargeRefund": client.ChargeRefund{}, "ChargeMoment": client.ChargeMoment{}, "PairRate": client.PairRate{},
		"Price": client.Price{}, "Tolerance": client.Tolerance{}, "ChargeRedirect": client.ChargeRedirect{},
		"RefundAddress": client.RefundAddress{}, "Link": client.Link{}, "OrderKey": client.OrderKey{},
		"WithdrawalQuote": client.WithdrawalQuote{}, "Statement": client.Statement{},
		"StatementCurrency": client.StatementCurrency{}, "StatementAmounts": client.StatementAmounts{}} {
		var has []string
		for field := range reflect.TypeOf(object).Fields() {
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			has = append(has, tag)
		}
		slices.Sort(has)
		if described := slices.Sorted(maps.Keys(d.Components.Schemas[name].Properties)); !slices.Equal(has, described) {
			t.Errorf("%s has the fields %v, the API has %v, want %+v", name, has, described, described)
		}
	}
}

// forgetful is a connection that loses the first responses to a change after the service has made it.
type forgetful struct {
	mu    sync.Mutex
	lost  int
	tries int
}

var errLost = errors.New("the connection broke")

func (f *forgetful) RoundTrip(q *http.Request) (*http.Response, error) {
	answer, err := http.DefaultTransport.RoundTrip(q)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.tries++
	if err != nil || f.lost == 0 {
		return answer, err
	}
	f.lost--
	text, err := io.ReadAll(answer.Body)
	answer.Body.Close()
	if err != nil || answer.StatusCode != http.StatusOK {
		return nil, err
	}
	if f.lost%2 == 0 {
		return nil, errLost
	}
	answer.Body = io.NopCloser(io.MultiReader(bytes.NewReader(text[:len(text)/2]), cutOff{})) // half of it arrives
	return answer, nil
}

type cutOff struct{}

func (cutOff) Read([]byte) (int, error) { return 0, errLost }

// A change whose response is lost, wholly or in half, is requested again under the same key and made once: one wallet,
// one charge and one payment, of which the caller gets the first response.
func TestARetryDoesNothingTwice(t *testing.T) {
	t.Parallel()
	s := newHarness(t)
	ctx := t.Context()
	line := &forgetful{}
	c, err := client.New(client.Config{BaseURL: s.service.Address("api"), Key: s.issued.APIKey, Secret: s.issued.APISecret,
		HTTP: &http.Client{Transport: line}, MaxWait: 10 * time.Millisecond})
	s.need(err)
	s.eventually("the chain has started", func() bool {
		states, err := s.service.ChainStatus(ctx)
		return err == nil && len(states) == 1 && states[0].Height >= 0
	})
	line.lost = 3
	wallet, err := c.CreateWallet(ctx, client.NewWallet{Currency: "COIN", Webhook: s.url})
	s.need(err)
	list, err := c.Wallets(ctx, client.Page{})
	if s.need(err); len(list.Items) != 1 || list.Items[0] != wallet || line.tries != 5 {
		t.Errorf("after %d tries there are %+v, want 1 of them and %v and 5", line.tries, list, wallet)
	}
	s.pay(wallet.Address, 500_000_000)
	s.eventually("it is credited", func() bool {
		account, err := c.Account(ctx)
		return err == nil && account.Balance["COIN"] == "5.00000000"
	})
	line.lost = 3
	charge, err := c.CreateCharge(ctx, client.NewCharge{Currency: "COIN", Webhook: s.url})
	s.need(err)
	charges, err := c.Charges(ctx, client.Page{})
	if s.need(err); len(charges.Items) != 1 || charges.Items[0].ChargeID != charge.ChargeID {
		t.Errorf("there are the charges %+v, want 1 of them and %v", charges, charge.ChargeID)
	}
	line.lost = 3
	paid, err := c.Withdraw(ctx, client.NewWithdrawal{Currency: "COIN", Amount: "1", Address: s.node.Named("outside")})
	s.need(err)
	payments, err := c.Withdrawals(ctx, client.Page{})
	if s.need(err); len(payments.Items) != 1 || payments.Items[0].WithdrawalID != paid.WithdrawalID {
		t.Errorf("there are the withdrawals %+v, want 1 of them and %v", payments, paid.WithdrawalID)
	}
	line.lost = 4
	_, err = c.Withdraw(ctx, client.NewWithdrawal{Currency: "COIN", Amount: "1", Address: s.node.Named("outside"),
		IdempotencyKey: "payment 9"})
	if err == nil || client.CodeOf(err) != "" {
		t.Fatalf("when every answer gets lost: %v, want an error and %q", err, "")
	}
	known, err := c.Withdraw(ctx, client.NewWithdrawal{Currency: "COIN", Amount: "1", Address: s.node.Named("outside"),
		IdempotencyKey: "payment 9"})
	s.need(err)
	payments, err = c.Withdrawals(ctx, client.Page{})
	if s.need(err); len(payments.Items) != 2 || payments.Items[0].WithdrawalID != known.WithdrawalID {
		t.Errorf("asked again with the same key, there are the withdrawals %+v", payments)
	}
}
