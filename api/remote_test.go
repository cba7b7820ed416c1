package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/bursar/bursar/api"
)

// TestAZoneDoesNotMoveAnAddress has a client of a link-local network: the zone names an interface of this machine and is
// no part of the address.
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

// TestAProxyDoesNotStandInForItsClient has a proxy that lies in the clients' network and does not know who called it.
func TestAProxyDoesNotStandInForItsClient(t *testing.T) {
	t.Parallel()
	inside := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	g := newGate(t, api.RateLimits{}, func(c *api.Config) { c.Proxies, c.ClientNetworks = inside, inside })
	mine := g.account(false)
	for forwarded, want := range map[string]int{"": 200, "10.9.9.9": 200, "unknown": 403, "10.9.9.9, unknown": 403, "unknown, 10.9.9.9": 403, "10.9.9.9,": 403} {
		if got := g.status(mine.APIKey, "10.0.0.1:1", "X-Forwarded-For", forwarded); got != want {
			t.Errorf("by %q: %d, want %d", forwarded, got, want)
		}
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
