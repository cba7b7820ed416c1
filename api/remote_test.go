package api_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"

	"github.com/bursar/bursar/account"
	"github.com/bursar/bursar/api"
)

// TestAZoneDoesNotMoveAnAddress has a client of a link-local network: the zone names an interface of this machine and
// is no part of the address.
func TestAZoneDoesNotMoveAnAddress(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{}, func(c *api.Config) {
		c.Proxies = []netip.Prefix{netip.MustParsePrefix("fe80::/64")}
		c.ClientNetworks = []netip.Prefix{netip.MustParsePrefix("fe80:0:0:1::/64"), netip.MustParsePrefix("198.51.100.0/24")}
	})
	mine := g.account(false)
	for _, c := range []struct {
		from, forwarded string
		want            int
	}{
		{"[fe80:0:0:1::7%eth0]:1", "", 200},
		{"[fe80:0:0:2::7%eth0]:1", "", 403},
		{"[fe80::7%eth0]:1", "198.51.100.7", 200},
		{"[fe80::7%eth0]:1", "fe80:0:0:1::7%eth0", 200},
		{"[fe80::7%eth0]:1", "198.51.100.7, fe80::8%eth1", 200},
	} {
		if got := g.status(mine.APIKey, c.from, "X-Forwarded-For", c.forwarded); got != c.want {
			t.Errorf("from %s by %q: %d, want %d", c.from, c.forwarded, got, c.want)
		}
	}
}

// TestAProxysAddressIsNotUsedForItsClient has a proxy inside the clients' network that does not know its client.
func TestAProxysAddressIsNotUsedForItsClient(t *testing.T) {
	t.Parallel()
	inside := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	g := newGate(t, api.RateLimits{}, func(c *api.Config) { c.Proxies, c.ClientNetworks = inside, inside })
	mine := g.account(false)
	for forwarded, want := range map[string]int{"": 200, "10.9.9.9": 200, "unknown": 403, "10.9.9.9, unknown": 403,
		"unknown, 10.9.9.9": 403, "10.9.9.9,": 403} {
		if got := g.status(mine.APIKey, "10.0.0.1:1", "X-Forwarded-For", forwarded); got != want {
			t.Errorf("by %q: %d, want %d", forwarded, got, want)
		}
	}
}

// TestForwarded has a proxy that writes the header of RFC 7239. The other header is the client's own and is ignored.
func TestForwarded(t *testing.T) {
	t.Parallel()
	g := newGate(t, api.RateLimits{}, func(c *api.Config) {
		c.Proxies = []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("2001:db8:1::/48")}
		c.ClientNetworks = []netip.Prefix{netip.MustParsePrefix("198.51.100.0/24"), netip.MustParsePrefix("2001:db8:2::/48")}
		c.ProxyHeader = api.Forwarded
	})
	mine := g.account(false)
	if got := g.status(mine.APIKey, "10.0.0.1:1", "X-Forwarded-For", "198.51.100.7"); got != 403 {
		t.Errorf("the header that proxies do not write counts: %d, want 403", got)
	}
	for value, want := range map[string]int{
		`for=198.51.100.7`: 200,
		`For="198.51.100.7:4711"; proto=https;by=203.0.113.9`:          200,
		`by=203.0.113.9;host="a,b;for=203.0.113.1\"";for=198.51.100.7`: 200,
		`for="[2001:db8:2::1]"`:                                        200,
		`for="[2001:db8:2::1]:_x"`:                                     200,
		`for="[::ffff:198.51.100.7]"`:                                  200,
		`for=203.0.113.1, for=198.51.100.7`:                            200,
		`for=198.51.100.7, for=10.1.1.1`:                               200,
		`for=198.51.100.7, for="[2001:db8:1::1]:5"`:                    200,
		// the client's quote does not swallow what the proxy wrote
		`for="oops, for=198.51.100.7`:              200,
		`for="\", for=198.51.100.7`:                200,
		`for=198.51.100.7, for=203.0.113.1`:        403, // the client wrote the first
		`for=203.0.113.1, for="oops, for=10.1.1.1`: 403,
		`for=198.51.100.7;for=198.51.100.7`:        403,
		`by=198.51.100.7`:                          403,
		`for=unknown`:                              403,
		`for=_hidden, for=10.1.1.1`:                403,
		`for=2001:db8:2::1`:                        403, // an IPv6 address must be in brackets
		`for="[198.51.100.7]"`:                     403,
		`for="[2001:db8:2::1"`:                     403,
		`for="[2001:db8:2::1]x"`:                   403,
		`for=198.51.100.7:`:                        403,
		`for=`:                                     403,
		`for`:                                      403,
		`198.51.100.7`:                             403,
		`,`:                                        403,
	} {
		if got := g.status(mine.APIKey, "10.0.0.1:1", "Forwarded", value); got != want {
			t.Errorf("by %s: %d, want %d", value, got, want)
		}
	}
}

// TestAKeyUsedElsewhereIsLogged checks that the log names the key that is used from elsewhere, and never the key
// itself. A guesser fills no log.
func TestAKeyUsedElsewhereIsLogged(t *testing.T) {
	t.Parallel()
	log := &journal{}
	g := newGate(t, api.RateLimits{Failed: api.Limit{PerSecond: 1, Burst: 2}}, func(c *api.Config) {
		c.Log = slog.New(slog.NewTextHandler(log, nil))
	})
	mine := g.account(true)
	if _, err := g.accounts.SetNetworks(t.Context(), mine.KeyID,
		account.NetworkChange{Add: []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24")}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{403, 403, 429, 429} {
		if got := g.status(mine.APIKey, "203.0.113.1:1", "", ""); got != want {
			t.Errorf("from elsewhere: %d, want %d", got, want)
		}
	}
	if got := g.status(mine.APIKey, "192.0.2.1:1", "", ""); got != 200 {
		t.Errorf("from its own address: %d, want 200", got)
	}
	text := log.String()
	if strings.Count(text, "not on its list") != 2 || !strings.Contains(text, mine.KeyID.String()) ||
		!strings.Contains(text, "from=203.0.113.1") || strings.Contains(text, mine.APIKey) {
		t.Errorf("the log has\n%s, want 2 and %v in it and %q in it and no %v", text, mine.KeyID.String(), "from=203.0.113.1",
			mine.APIKey)
	}
}

// status asks for the balance with one more header, unless it is empty, and returns the status.
func (g gate) status(key, from, name, value string) int {
	g.Helper()
	r := httptest.NewRequestWithContext(g.Context(), http.MethodGet, "/api/v1/account", nil)
	r.RemoteAddr = from
	r.Header.Set("X-API-KEY", key)
	if value != "" {
		r.Header.Set(name, value)
	}
	w := httptest.NewRecorder()
	g.handler.ServeHTTP(w, r)
	return w.Code
}

// FuzzNoClientForgesAProxysEntry has a client that sends any header before the entry that the operator's proxy adds.
func FuzzNoClientForgesAProxysEntry(f *testing.F) {
	f.Add(`for="`, true)
	f.Add(`for=198.51.100.7, for="\", x=\`, true)
	f.Add(`198.51.100.7,,`, false)
	f.Add("\"", false)
	f.Fuzz(func(t *testing.T, sent string, rfc bool) {
		name, entry := api.XForwardedFor, "203.0.113.9"
		if rfc {
			name, entry = api.Forwarded, `proto=https;for="[::ffff:203.0.113.9]:99"`
		}
		for _, header := range []http.Header{{name: {sent + ", " + entry}}, {name: {sent, entry}}} {
			if got := api.RemoteOf("10.0.0.1:1", header, name,
				netip.MustParsePrefix("10.0.0.0/8")); got != netip.MustParseAddr("203.0.113.9") {
				t.Errorf("%q makes it %s", header, got)
			}
		}
	})
}
