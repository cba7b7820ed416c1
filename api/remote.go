package api

import (
	"net/http"
	"net/netip"
	"strings"
)

// remote returns the address that a request comes from: the connection's, or what a proxy of ours says where the
// connection is a proxy's. X-Forwarded-For is read from its end, where our own proxies write; the first address that is no
// proxy's counts, so a client cannot make one up. It is the zero Addr where nothing can be known.
func (a *api) remote(r *http.Request) netip.Addr {
	connection, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	from := connection.Addr().Unmap()
	hops := strings.Split(strings.Join(r.Header.Values("X-Forwarded-For"), ","), ",")
	for i := len(hops) - 1; i >= 0 && within(a.Proxies, from); i-- {
		hop, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break // not written by a proxy of ours: the one before it is the last that is known
		}
		from = hop.Unmap().WithZone("")
	}
	return from
}

func within(networks []netip.Prefix, address netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(address) {
			return true
		}
	}
	return false
}

func (a *api) mayConnect(from netip.Addr) bool {
	return len(a.ClientNetworks) == 0 || within(a.ClientNetworks, from)
}
