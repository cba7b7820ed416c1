package api

import (
	"cmp"
	"net/http"
	"net/netip"
	"strings"

	"github.com/bursar/bursar/netpolicy"
)

// Proxies says which proxies are the operator's own, and in which header they name their client.
type Proxies struct {
	Networks []netip.Prefix
	Header   string // XForwardedFor or Forwarded; empty: XForwardedFor
}

// Client returns the address from which a request comes: the connection's, or, where the connection is from one of the
// operator's proxies, the one that the proxy's header names. The header is read from its end, where those proxies
// write; the first address that is no proxy's counts, so a client cannot forge one. It is the zero Addr where the
// address is not known: the address of a proxy that does not name its client is never used in its place.
func (p Proxies) Client(r *http.Request) netip.Addr {
	connection, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	from := plain(connection.Addr())
	rest := strings.Join(r.Header.Values(cmp.Or(p.Header, XForwardedFor)), ",")
	for rest != "" && netpolicy.Within(from, p.Networks) {
		rest, from = p.lastHop(rest)
	}
	return from
}

// remote returns the address from which a request of the API comes.
func (a *api) remote(r *http.Request) netip.Addr { return Proxies{a.Proxies, a.ProxyHeader}.Client(r) }

// plain returns an address in the form in which networks are compared: an IPv4-mapped one as the IPv4 address, without
// the zone, which names an interface of one machine.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

func (a *api) mayConnect(from netip.Addr) bool {
	return len(a.ClientNetworks) == 0 || netpolicy.Within(from, a.ClientNetworks)
}
