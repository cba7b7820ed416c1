package netpolicy

import (
	"errors"
	"fmt"
	"net/netip"
)

// ErrBadNetwork is returned for a text that is not a network.
var ErrBadNetwork = errors.New("not a network, such as 10.0.0.0/8 or 2001:db8::/32")

// ParseNetwork reads a network in CIDR form, or a single address as the network that contains only it. An IPv4-mapped
// IPv6 network becomes its IPv4 network. Bits after the prefix and zones are refused, because their meaning could only
// be guessed. The error is ErrBadNetwork with the reason.
func ParseNetwork(text string) (netip.Prefix, error) {
	if address, err := netip.ParseAddr(text); err == nil {
		if address.Zone() != "" {
			return netip.Prefix{}, fmt.Errorf("%w: %.60q names a zone, which other machines do not know", ErrBadNetwork, text)
		}
		address = address.Unmap()
		return netip.PrefixFrom(address, address.BitLen()), nil
	}
	network, err := netip.ParsePrefix(text)
	switch {
	case err != nil:
		return netip.Prefix{}, fmt.Errorf("%w: %.60q", ErrBadNetwork, text)
	case network != network.Masked():
		return netip.Prefix{}, fmt.Errorf("%w: %.60q, did you mean %s?", ErrBadNetwork, text, network.Masked())
	}
	return UnmapNetwork(network), nil
}

// UnmapNetwork returns the IPv4 network of an IPv4-mapped IPv6 network, and any other network unchanged.
func UnmapNetwork(network netip.Prefix) netip.Prefix {
	const mapped = 96 // bits before the IPv4 address
	if !network.Addr().Is4In6() || network.Bits() < mapped {
		return network
	}
	return netip.PrefixFrom(network.Addr().Unmap(), network.Bits()-mapped)
}

// Within reports whether one of the networks contains an address. An IPv4-mapped address is evaluated as its IPv4
// address, without its zone; no network contains the zero address.
func Within(address netip.Addr, networks []netip.Prefix) bool {
	return within(address.Unmap().WithZone(""), networks)
}
