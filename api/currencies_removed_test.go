package api_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/api"
)

// A currency was removed from the configuration: requests for its objects say so, and nothing else is affected.
func TestARemovedCurrencyHidesNothingElse(t *testing.T) {
	onEach(t, func(t *testing.T, url string) {
		at := newClock()
		before := newHarness(t, url, at)
		mine := before.account(false)
		ask := func(s *harness, method, path string) (int, string) {
			r, err := http.NewRequestWithContext(t.Context(), method, s.base+path, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("X-API-KEY", mine.APIKey)
			response, body := s.send(r)
			return response.StatusCode, string(body)
		}
		made := map[string]string{}
		for _, code := range []string{"BTC", "ETH"} {
			status, body := ask(before, http.MethodPost, "/api/v1/wallet?webhook=https://shop.example/hook&currency="+code)
			_, rest, found := strings.Cut(body, `"walletID":"`)
			if status != http.StatusOK || !found {
				t.Fatalf("a wallet of %s: %d %s", code, status, body)
			}
			made[code], _, _ = strings.Cut(rest, `"`)
		}
		after := newHarness(t, url, at, func(c *api.Config) {
			var rest []bursar.Currency
			for _, currency := range c.Registry.All() {
				if currency.Code != "ETH" {
					rest = append(rest, currency)
				}
			}
			var err error
			if c.Registry, err = bursar.NewRegistry(rest); err != nil {
				t.Fatal(err)
			}
		})
		if status, body := ask(after, http.MethodGet, "/api/v1/account/wallets"); status != http.StatusOK ||
			!strings.Contains(body, made["BTC"]) || strings.Contains(body, made["ETH"]) {
			t.Errorf("the list of wallets: %d %s, want %v and %v in it and no %v", status, body, http.StatusOK, made["BTC"],
				made["ETH"])
		}
		if status, body := ask(after, http.MethodGet,
			"/api/v1/wallet?walletID="+made["ETH"]); status != http.StatusServiceUnavailable || !strings.Contains(body,
			"ETH is not configured at present") {
			t.Errorf("the wallet of what was removed: %d %s, want %v and %q in it", status, body, http.StatusServiceUnavailable,
				"ETH is not configured at present")
		}
		if status, body := ask(after, http.MethodGet, "/api/v1/account"); status != http.StatusOK {
			t.Errorf("the account: %d %s, want %d", status, body, http.StatusOK)
		}
	})
}
