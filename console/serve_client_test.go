package console

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
)

// Behind a proxy everybody would share the connection's address, and one attacker's attempts would lock all out.
func TestAttemptsAreCountedByTheClientBehindAProxy(t *testing.T) {
	t.Parallel()
	behind := netip.MustParseAddr("203.0.113.7")
	for want, c := range map[netip.Addr]*Console{
		netip.MustParseAddr("192.0.2.1"): {},
		behind:                           {Config: Config{Client: func(*http.Request) netip.Addr { return behind }}},
	} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil) // from 192.0.2.1
		if got := c.client(r); got != want {
			t.Errorf("the client is %s, want %s", got, want)
		}
	}
}
