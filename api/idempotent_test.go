package api_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/store"
	"github.com/bursar/bursar/wire"
)

// replicas are two services on one database, with a client.
type replicas struct {
	first, second *harness
	mine          account.Issued
}

func onReplicas(t *testing.T, test func(t *testing.T, r *replicas)) {
	onEach(t, func(t *testing.T, url string) {
		at := newClock()
		r := &replicas{first: newHarness(t, url, at), second: newHarness(t, url, at)}
		r.mine = r.first.account(true)
		test(t, r)
	})
}

// post sends parameters to one of the replicas as JSON, or as a form where form is true.
func (r *replicas) post(s *harness, method, path, key string, parameters map[string]string, form bool) (int, []byte) {
	s.Helper()
	body, contentType := "", "application/x-www-form-urlencoded"
	if form {
		values := url.Values{}
		for name, v := range parameters {
			values.Set(name, v)
		}
		body = values.Encode()
	} else {
		text, err := json.Marshal(parameters)
		if err != nil {
			s.Fatal(err)
		}
		body, contentType = string(text), "application/json"
	}
	request, err := http.NewRequestWithContext(context.Background(), method, s.base+"/api/v1/"+path,
		strings.NewReader(body))
	if err != nil {
		s.Fatal(err)
	}
	request.Header.Set("X-API-KEY", r.mine.APIKey)
	request.Header.Set("X-API-SECRET", r.mine.APISecret)
	request.Header.Set("Content-Type", contentType)
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	response, answer := s.send(request)
	return response.StatusCode, answer
}

func (r *replicas) count() int {
	r.first.Helper()
	n := 0
	r.first.do(func(tx *store.Tx) error {
		list, err := tx.Wallets().List(context.Background(), r.mine.AccountID, "", store.Page{Limit: 1000})
		n = len(list)
		return err
	})
	return n
}

var order = map[string]string{"currency": "BTC", "webhook": "https://shop.example/hook", "metadata": "<&>"}

func TestEqualRequestsAtOnceMakeOneWallet(t *testing.T) {
	onReplicas(t, func(t *testing.T, r *replicas) {
		const clients = 16
		answers := make([][]byte, clients)
		var group sync.WaitGroup
		for i := range clients {
			group.Go(func() {
				s := r.first
				if i%2 == 1 {
					s = r.second
				}
				status, answer := r.post(s, "POST", "wallet", "one", order, i%3 == 0)
				if status != http.StatusOK {
					t.Errorf("client %d: status %d: %s, want %d", i, status, answer, http.StatusOK)
				}
				answers[i] = answer
			})
		}
		group.Wait()
		for i, answer := range answers {
			if !bytes.Equal(answer, answers[0]) {
				t.Errorf("client %d got\n%s\nthe first\n%s, want %x", i, answer, answers[0], answers[0])
			}
		}
		if n := r.count(); n != 1 {
			t.Errorf("%d wallets were made, want 1", n)
		}
	})
}

func TestAKeyAnswersOnce(t *testing.T) {
	onReplicas(t, func(t *testing.T, r *replicas) {
		_, first := r.post(r.first, "POST", "wallet", "k", order, false)
		r.first.clock.Advance(24 * time.Hour)
		if status, again := r.post(r.second, "POST", "wallet", "k", order, false); status != http.StatusOK ||
			!bytes.Equal(first, again) {
			t.Errorf("a day later and from another replica: %d %s, first %s, want %v and %x", status, again, first,
				http.StatusOK, again)
		}
		other := map[string]string{"currency": "BTC", "webhook": "https://shop.example/hook", "metadata": "<& >"}
		r.conflict(r.second, "POST", "wallet", "k", other)
		r.conflict(r.first, "POST", "wallet", "k",
			map[string]string{"currency": "BTC", "webhook": "https://shop.example/hook"})
		r.conflict(r.first, "POST", "charge", "k", order)
		r.conflict(r.first, "PUT", "wallet/webhook", "k", order)
		if status, third := r.post(r.first, "POST", "wallet", "k2", order, false); status != http.StatusOK ||
			bytes.Equal(first, third) {
			t.Errorf("under another key: %d %s", status, third)
		}
		if n := r.count(); n != 2 {
			t.Errorf("%d wallets were made, want 2", n)
		}
		// The key is the account's own.
		otherAccount := &replicas{first: r.first, second: r.second, mine: r.first.account(true)}
		if status, theirs := otherAccount.post(r.first, "POST", "wallet", "k", order, false); status != http.StatusOK ||
			bytes.Equal(first, theirs) {
			t.Errorf("another account's: %d %s", status, theirs)
		}
	})
}

func (r *replicas) conflict(s *harness, method, path, key string, parameters map[string]string) {
	s.Helper()
	status, answer := r.post(s, method, path, key, parameters, false)
	if status != http.StatusConflict || !strings.Contains(string(answer), `"idempotency_conflict"`) {
		s.Errorf("%s %s with another's key: %d %s", method, path, status, answer)
	}
}

// TestEveryChangeTakesAKey sends each change twice under one key: the second response is the first, and nothing more
// changed.
func TestEveryChangeTakesAKey(t *testing.T) {
	onReplicas(t, func(t *testing.T, r *replicas) {
		status, answer := r.post(r.first, "POST", "wallet", "w", order, false)
		var made struct {
			Response struct{ Wallet wire.Wallet }
		}
		if err := json.Unmarshal(answer, &made); err != nil || status != http.StatusOK {
			t.Fatalf("%d %s, want %v", status, answer, http.StatusOK)
		}
		r.fund(made.Response.Wallet.WalletID, "1")
		id := made.Response.Wallet.WalletID.String()
		changes := []struct {
			method, path string
			parameters   map[string]string
		}{
			{"PUT", "wallet/metadata", map[string]string{"walletID": id, "metadata": "new"}},
			{"PUT", "wallet/webhook", map[string]string{"walletID": id, "webhook": "https://new.example"}},
			{"POST", "charge", map[string]string{"currency": "BTC", "webhook": "https://shop.example", "minimum": "0.5"}},
			{"POST", "charge", map[string]string{"currency": "BTC", "webhook": "https://shop.example", "amount": "0.5"}},
			{"POST", "link", map[string]string{"currency": "BTC", "webhook": "https://shop.example", "amount": "0.5"}},
			{"POST", "account/withdraw", map[string]string{"currency": "BTC", "amount": "0.6",
				"address": r.first.chains["bitcoin"].Named("outsider")}},
			{"POST", "account/webhooks/redeliver", map[string]string{"since": "2026-01-02T00:00:00Z"}},
			{"POST", "account/webhooks/test", map[string]string{"walletID": id}},
			{"POST", "account/withdrawals", map[string]string{"withdrawals": `[{"currency":"BTC","amount":"0.1","address":"` +
				r.first.chains["bitcoin"].Named("outsider") + `","reference":"p 1"}]`}},
		}
		for _, c := range changes {
			status, first := r.post(r.first, c.method, c.path, c.path+c.parameters["amount"], c.parameters, false)
			if status != http.StatusOK {
				t.Errorf("%s: %d %s, want %d", c.path, status, first, http.StatusOK)
			}
			r.first.clock.Advance(time.Minute)
			if status, again := r.post(r.second, c.method, c.path, c.path+c.parameters["amount"], c.parameters,
				false); status != http.StatusOK ||
				!bytes.Equal(first, again) {
				t.Errorf("%s again: %d %s, first %s", c.path, status, again, first)
			}
		}
		if status, answer := r.post(r.first, "POST", "account/withdraw", "more", changes[5].parameters,
			false); status != http.StatusUnprocessableEntity {
			t.Errorf("a second withdrawal of the same money: %d %s, want %d", status, answer, http.StatusUnprocessableEntity)
		}
	})
}

// fund gives a wallet's account BTC by a final deposit.
func (r *replicas) fund(walletID bursar.ID, amount string) {
	r.first.Helper()
	c := &script{harness: r.first, names: map[string]string{}}
	c.deposit(walletID.String(), "f0", 0, amount, 1)
	c.credit("f0")
}

func TestMoneyIsHeldOnceHoweverOftenItIsAsked(t *testing.T) {
	onReplicas(t, func(t *testing.T, r *replicas) {
		_, answer := r.post(r.first, "POST", "wallet", "", order, false)
		var made struct {
			Response struct{ Wallet wire.Wallet }
		}
		if err := json.Unmarshal(answer, &made); err != nil {
			t.Fatal(err)
		}
		r.fund(made.Response.Wallet.WalletID, "10")
		pay := map[string]string{"currency": "BTC", "amount": "0.5", "address": r.first.chains["bitcoin"].Named("outsider")}
		var group sync.WaitGroup
		for i := range 24 {
			group.Go(func() {
				s := []*harness{r.first, r.second}[i%2]
				if status, answer := r.post(s, "POST", "account/withdraw", "pay", pay, false); status != http.StatusOK {
					t.Errorf("%d %s, want %d", status, answer, http.StatusOK)
				}
			})
		}
		group.Wait()
		r.first.do(func(tx *store.Tx) error {
			list, err := tx.Withdrawals().List(context.Background(), r.mine.AccountID, store.Page{Limit: 10})
			if len(list) != 1 {
				t.Errorf("%d withdrawals were taken, want 1", len(list))
			} else if want := bursar.KeyRequester(r.mine.KeyID); list[0].RequestedBy != want {
				t.Errorf("got %q as who asked for it, want %q", list[0].RequestedBy, want)
			}
			return err
		})
	})
}

func TestARefusalIsNotKept(t *testing.T) {
	onReplicas(t, func(t *testing.T, r *replicas) {
		_, answer := r.post(r.first, "POST", "wallet", "", order, false)
		var made struct {
			Response struct{ Wallet wire.Wallet }
		}
		if err := json.Unmarshal(answer, &made); err != nil {
			t.Fatal(err)
		}
		pay := map[string]string{"currency": "BTC", "amount": "0.5", "address": r.first.chains["bitcoin"].Named("outsider")}
		if status, answer := r.post(r.first, "POST", "account/withdraw", "pay", pay,
			false); status != http.StatusUnprocessableEntity {
			t.Fatalf("without money: %d %s, want %d", status, answer, http.StatusUnprocessableEntity)
		}
		r.fund(made.Response.Wallet.WalletID, "1")
		if status, answer := r.post(r.second, "POST", "account/withdraw", "pay", pay, false); status != http.StatusOK {
			t.Fatalf("with money: %d %s, want %d", status, answer, http.StatusOK)
		}
	})
}
