package api

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/bursar/bursar/netpolicy"
)

// remote returns the address that a request comes from: the connection's, or what a proxy of ours says where the
// connection is a proxy's. Their header is read from its end, where our own proxies write; the first address that is no
// proxy's counts, so a client cannot make one up. It is the zero Addr where nothing can be known: a proxy that does not
// tell its client does not stand in for it.
func (a *api) remote(r *http.Request) netip.Addr {
	connection, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	from := plain(connection.Addr())
	rest := strings.Join(r.Header.Values(a.ProxyHeader), ",")
	for rest != "" && netpolicy.Within(from, a.Proxies) {
		rest, from = a.lastHop(rest)
	}
	return from
}

// plain returns an address in the one form that networks are compared with: an IPv4-mapped one is the IPv4 address, and
// a zone, which names an interface of one machine, is no part of it.
func plain(address netip.Addr) netip.Addr { return address.Unmap().WithZone("") }

func (a *api) mayConnect(from netip.Addr) bool {
	return len(a.ClientNetworks) == 0 || netpolicy.Within(from, a.ClientNetworks)
}
