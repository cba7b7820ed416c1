package netpolicy

import "net/netip"

// nonPublic lists the networks that the IANA special-purpose registries (RFC 6890 and successors) keep off the public
// internet, and the IPv6 forms that embed an IPv4 address and could lead back to it.
var nonPublic = prefixes(
	"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
	"192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16", "192.175.48.0/24",
	"198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
	"::/96",                          // unspecified, loopback, IPv4-compatible
	"::ffff:0:0:0/96",                // IPv4-translated, RFC 2765
	"64:ff9b::/96", "64:ff9b:1::/48", // NAT64
	"100::/64", "100:0:0:1::/64", // discard, dummy
	"2001::/23",     // IETF protocol assignments, Teredo among them
	"2001:db8::/32", // documentation
	"2002::/16",     // 6to4
	"2620:4f:8000::/48",
	"3fff::/20", // documentation
	"5f00::/16", // segment routing
	"fc00::/7", "fe80::/10", "fec0::/10", "ff00::/8",
)

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, s := range texts {
		list[i] = netip.MustParsePrefix(s)
	}
	return list
}

// MayDial reports whether a webhook may be sent to the address: it is public, or in a network that the operator
// allowed. An IPv4-mapped IPv6 address is evaluated as its IPv4 address; an address with a zone is never allowed.
func MayDial(ip netip.Addr, allowed []netip.Prefix) bool {
	if !ip.IsValid() || ip.Zone() != "" {
		return false
	}
	ip = ip.Unmap()
	return within(ip, allowed) || !within(ip, nonPublic) && (ip.Is4() || within(ip, globalUnicast))
}

// globalUnicast is the only IPv6 space that the IANA has assigned to the public internet.
var globalUnicast = prefixes("2000::/3")

func within(ip netip.Addr, list []netip.Prefix) bool {
	for _, p := range list {
		if p.Contains(ip) {
			return true
		}
	}
	return false
}
