package api_test

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/bursar/bursar/store"
)

// Who changes where the events of an account go is in the log of acts, with the key, its address and the receiver's
// host; the rest of its URL may be a secret. The same request again, and what concerns one wallet, is not.
func TestAnAccountsWebhookIsInTheLogOfActs(t *testing.T) {
	t.Parallel()
	onEach(t, func(t *testing.T, url string) {
		s := newHarness(t, url, newClock())
		mine := s.account(false)
		var requests []string // IDs of those that changed something
		put := func(key string, want int, fields ...string) {
			t.Helper()
			r := request(t, s.base+"/api/v1/wallet/webhook", fields...)
			r.Header.Set("X-API-KEY", mine.APIKey)
			if key != "" {
				r.Header.Set("Idempotency-Key", key)
			}
			response, body := s.send(r)
			if response.StatusCode != want {
				t.Fatalf("%v is answered %d, want %d: %s", fields, response.StatusCode, want, body)
			}
			requests = append(requests, response.Header.Get("X-Request-ID"))
		}
		for range 2 {
			put("once", http.StatusOK, "webhook", "https://receiver.example/hook?token=secret")
		}
		put("", http.StatusOK, "webhook", "https://other.example/hook", "currency", "BTC")
		put("", http.StatusBadRequest, "webhook", "no URL")
		var list []store.Act
		s.do(func(tx *store.Tx) (err error) {
			list, err = tx.Acts().List(context.Background(), store.ActFilter{}, store.Page{Limit: 10})
			return err
		})
		if len(list) != 2 || list[1].Actor != "API key "+mine.KeyID.String() || list[1].Verb != "webhook.change" ||
			list[1].Object != "account "+mine.AccountID.String() || list[1].Became != "https://receiver.example" ||
			list[1].Address != "127.0.0.1" || list[0].Became != "BTC: https://other.example" {
			t.Fatalf("recorded are %+v, want both changes, each once", list)
		}
		if list[1].Request != requests[0] || list[0].Request != requests[2] {
			t.Errorf("the acts name the requests %q and %q, want %q and %q", list[1].Request, list[0].Request, requests[0],
				requests[2])
		}
	})
}

// request is a PUT with fields.
func request(t *testing.T, at string, fields ...string) *http.Request {
	t.Helper()
	form := url.Values{}
	for i := 0; i+1 < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	r, err := http.NewRequest(http.MethodPut, at, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return r
}
