package api_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/api"
	"github.com/bursar/bursar/store/storetest"
)

// gate is a service behind limits whose requests come from any address that a test sets.
type gate struct {
	*harness
	handler http.Handler
}

func newGate(t *testing.T, limits api.RateLimits, change ...func(*api.Config)) gate {
	t.Helper()
	s := newHarness(t, storetest.Reused(t), newClock())
	s.config.RateLimits = limits
	for _, c := range change {
		c(&s.config)
	}
	return gate{s, api.New(s.config)}
}

// ask sends a request and requires a status. A 429 must say when to retry; it returns that time.
func (g gate) ask(from, target, key string, want int) time.Duration {
	g.Helper()
	method, target, _ := strings.Cut(target, " ")
	r := httptest.NewRequestWithContext(g.Context(), method, target, nil)
	r.RemoteAddr = from
	r.Header.Set("X-API-KEY", key)
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	if w.Code != want {
		g.Errorf("%s %s from %s: %d, want %d: %s", method, target, from, w.Code, want, w.Body)
	}
	if w.Code != http.StatusTooManyRequests {
		return 0
	}
	seconds, err := strconv.Atoi(w.Header().Get("Retry-After"))
	if err != nil || seconds < 1 || !strings.Contains(w.Body.String(), `"code":"rate_limited"`) {
		g.Errorf("Retry-After is %q: %s", w.Header().Get("Retry-After"), w.Body)
	}
	return time.Duration(seconds) * time.Second
}

const (
	here    = "192.0.2.1:1000"
	there   = "192.0.2.2:1000"
	read    = "GET /api/v1/account"
	change  = "POST /api/v1/wallet?currency=BTC&webhook=https://shop.example"
	payout  = "POST /api/v1/account/withdraw?currency=BTC&amount=1&address=x"
	nothing = "bk_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
)

// Test events are counted by account, whatever its keys: they make the service call a URL that a client names.
func TestTestDeliveriesHaveALimitOfTheirOwn(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{TestDelivery: api.Limit{PerSecond: 0.5, Burst: 2}})
	mine, other := g.account(false), g.account(false)
	second, err := g.accounts.NewKey(t.Context(), account.Grant{Account: mine.AccountID, Scopes: account.AllScopes()})
	if err != nil {
		t.Fatal(err)
	}
	const testEvent = "POST /api/v1/account/webhooks/test?webhook=https://shop.example"
	g.ask(here, testEvent+"&walletID=", mine.APIKey, 400) // a refused request does not count
	g.ask(here, testEvent, mine.APIKey, 200)
	g.ask(there, testEvent, second.APIKey, 200)
	if wait := g.ask(here, testEvent, mine.APIKey, 429); wait != 2*time.Second {
		t.Errorf("come back in %v, want %v", wait, 2*time.Second)
	}
	g.ask(here, change, mine.APIKey, 200)
	g.ask(here, testEvent, other.APIKey, 200)
	g.clock.Advance(2 * time.Second)
	g.ask(here, testEvent, mine.APIKey, 200)
}

// A batch is counted whole or not at all: who obeys Retry-After is served, and what could never be is refused as such.
func TestABatchIsCountedWhole(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{Withdraw: api.Limit{PerSecond: 5, Burst: 10}})
	mine := g.account(false)
	batch := func(n int) string {
		items := make([]string, n)
		for i := range items {
			items[i] = fmt.Sprintf(`{"currency":"X","amount":"1","address":"x","reference":"%d"}`, i)
		}
		return "POST /api/v1/account/withdrawals?withdrawals=" + url.QueryEscape("["+strings.Join(items, ",")+"]")
	}
	g.ask(here, batch(11), mine.APIKey, 400)
	g.clock.Advance(time.Second)
	g.ask(here, batch(10), mine.APIKey, 200)
	g.clock.Advance(time.Second)
	for range 3 {
		g.ask(here, batch(10), mine.APIKey, 429)
	}
	g.clock.Advance(g.ask(here, batch(10), mine.APIKey, 429))
	g.ask(here, batch(10), mine.APIKey, 200)
}

func TestEachKeyHasItsLimits(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{Read: api.Limit{PerSecond: 0.5, Burst: 2}, Change: api.Limit{PerSecond: 10, Burst: 1},
		Withdraw: api.Limit{PerSecond: 1}})
	mine, other := g.account(false), g.account(false)
	second, err := g.accounts.NewKey(t.Context(), account.Grant{Account: mine.AccountID, Scopes: account.AllScopes()})
	if err != nil {
		t.Fatal(err)
	}
	g.ask(here, read, mine.APIKey, 200)
	g.ask(there, read, mine.APIKey, 200) // a key is one client wherever it is
	if wait := g.ask(here, read, mine.APIKey, 429); wait != 2*time.Second {
		t.Errorf("come back in %v, want %v", wait, 2*time.Second)
	}
	for _, key := range []string{other.APIKey, second.APIKey} {
		g.ask(here, read, key, 200)
	}
	g.ask(here, change, mine.APIKey, 200) // each class counts for itself
	g.ask(here, change, mine.APIKey, 429)
	g.ask(here, payout, mine.APIKey, 400)
	g.ask(here, payout, mine.APIKey, 429)
	g.clock.Advance(2 * time.Second)
	g.ask(here, read, mine.APIKey, 200)
	g.ask(here, read, mine.APIKey, 429)
	g.ask(here, change, mine.APIKey, 200)
}

func TestEachAddressHasItsLimit(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{Address: api.Limit{PerSecond: 1, Burst: 2}})
	mine := g.account(false)
	g.ask("[2001:db8::1]:9", read, mine.APIKey, 200)
	g.ask("[2001:db8::2]:9", read, nothing, 401)
	g.ask("[2001:db8:0:0:ffff::3]:9", read, mine.APIKey, 429) // of the same /64
	g.ask("[2001:db8:0:1::3]:9", read, mine.APIKey, 200)
	g.ask(here, read, mine.APIKey, 200)
	g.ask("[::ffff:192.0.2.1]:9", read, mine.APIKey, 200)
	g.ask(here, read, mine.APIKey, 429)
	g.ask(here, "GET /nowhere", "", 429) // not even that
	g.ask(here, "PATCH /api/v1/account", "", 429)
	for _, open := range []string{"GET /healthz", "GET /readyz"} {
		g.ask(here, open, "", 200) // has a counter of its own
	}
	for _, open := range []string{"GET /healthz", "GET /readyz", "GET /openapi.json", "GET /docs"} {
		g.ask(here, open, "", 429)
	}
	g.ask(there, "GET /docs", "", 200)
	g.clock.Advance(time.Second)
	g.ask(here, read, mine.APIKey, 200)
	g.ask(here, read, mine.APIKey, 429)
	g.ask(here, "GET /docs", "", 200)
	g.ask(here, "GET /docs", "", 429)
}

// TestGuessingLocksOutTheGuesserOnly has an address that tries keys. A client at the same address with a recently valid
// key is served all the same.
func TestGuessingLocksOutTheGuesserOnly(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{Failed: api.Limit{PerSecond: 1, Burst: 3}})
	busy, quiet, gone := g.account(true), g.account(false), g.account(false)
	g.ask(here, read, busy.APIKey, 200)
	g.ask(here, read, gone.APIKey, 200)
	g.ask(here, read, nothing, 401)
	g.ask(here, read, "", 401)
	if err := g.accounts.Revoke(t.Context(), gone.KeyID); err != nil {
		t.Fatal(err)
	}
	g.ask(here, read, gone.APIKey, 401)
	for _, key := range []string{nothing, gone.APIKey, quiet.APIKey} {
		g.ask(here, read, key, 429)
	}
	g.ask(here, read, busy.APIKey, 200)
	g.ask(there, read, nothing, 401)
	g.ask(there, read, quiet.APIKey, 200)
	g.ask(here, read, quiet.APIKey, 200)
	g.clock.Advance(time.Second)
	g.ask(here, read, nothing, 401)
	g.ask(here, read, nothing, 429)
}

func TestAWrongSecretIsAFailure(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{Failed: api.Limit{PerSecond: 1, Burst: 1}})
	mine := g.account(true)
	for _, want := range []int{403, 429, 429} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/account", nil)
		r.Header.Set("X-API-KEY", mine.APIKey)
		r.Header.Set("X-API-SECRET", "bs_wrong")
		w := httptest.NewRecorder()
		g.handler.ServeHTTP(w, r)
		if w.Code != want {
			t.Errorf("%d %s, want %d", w.Code, w.Body, want)
		}
	}
}

// TestAClientThatWaitsIsServed tries rates that no second divides.
func TestAClientThatWaitsIsServed(t *testing.T) {
	t.Parallel()
	for _, rate := range []float64{0.013, 0.3, 0.7, 1, 3, 7.7, 1000} {
		g := newGate(t, api.RateLimits{Read: api.Limit{PerSecond: rate, Burst: 1}})
		mine := g.account(false)
		for range 5 {
			g.ask(here, read, mine.APIKey, 200)
			g.clock.Advance(g.ask(here, read, mine.APIKey, 429))
		}
	}
}

// TestBehindAProxy has a proxy of the operator, which adds its client's address to X-Forwarded-For.
func TestBehindAProxy(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{}, func(c *api.Config) {
		c.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8::/32")}
		c.ClientNetworks = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24")}
	})
	mine := g.account(false)
	for _, c := range []struct {
		from      string
		forwarded []string
		want      int
	}{
		{"198.51.100.7:1", nil, 200},
		{"198.51.100.7:1", []string{"203.0.113.1"}, 200}, // not of a proxy: not looked at
		{"203.0.113.1:1", []string{"198.51.100.7"}, 403},
		{"10.0.0.1:1", nil, 403},
		{"10.0.0.1:1", []string{"198.51.100.7"}, 200},
		{"[::ffff:10.0.0.1]:1", []string{"::ffff:198.51.100.7"}, 200},
		{"[2001:db8::1]:1", []string{"198.51.100.7, 10.1.1.1"}, 200},
		{"10.0.0.1:1", []string{"203.0.113.1", "198.51.100.7", "10.1.1.1"}, 200},
		{"10.0.0.1:1", []string{"198.51.100.7, 203.0.113.1"}, 403}, // the client wrote the first
		{"10.0.0.1:1", []string{"198.51.100.7, unknown"}, 403},
		{"10.0.0.1:1", []string{"198.51.100.7:443"}, 403},
		{"nowhere", []string{"198.51.100.7"}, 403},
	} {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api/v1/account", nil)
		r.RemoteAddr = c.from
		r.Header.Set("X-API-KEY", mine.APIKey)
		r.Header["X-Forwarded-For"] = c.forwarded
		w := httptest.NewRecorder()
		g.handler.ServeHTTP(w, r)
		if w.Code != c.want {
			t.Errorf("from %s by %q: %d, want %d", c.from, c.forwarded, w.Code, c.want)
		}
	}
}

func TestTheDefaultsServeABusyShop(t *testing.T) {
	t.Parallel()
	limits := api.DefaultRateLimits()
	for name, l := range map[string]api.Limit{"read": limits.Read, "change": limits.Change, "withdraw": limits.Withdraw,
		"address": limits.Address, "failed": limits.Failed} {
		if l.PerSecond < 20 || l.Burst < int(l.PerSecond) {
			t.Errorf("%s is limited to %+v, want at least 20 and at least %v", name, l, int(l.PerSecond))
		}
	}
	g := newGate(t, limits)
	mine := g.account(false)
	for range limits.Read.Burst {
		g.ask(here, read, mine.APIKey, 200)
	}
	g.ask(here, read, mine.APIKey, 429)
}
