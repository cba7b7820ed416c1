package api

import (
	"net/netip"
	"strings"
)

// The headers in which proxies name their client. One of the two is read and the other ignored: a proxy that writes one
// passes the other on as its client sent it.
const (
	XForwardedFor = "X-Forwarded-For"
	Forwarded     = "Forwarded" // RFC 7239
)

// lastHop removes the newest entry of a header and returns the address in it, the zero Addr where there is none.
func (p Proxies) lastHop(header string) (before string, hop netip.Addr) {
	if p.Header == Forwarded {
		before, element := cutLast(header, ',')
		return before, forwardedFor(element)
	}
	at := strings.LastIndexByte(header, ',')
	hop, err := netip.ParseAddr(strings.TrimSpace(header[at+1:]))
	if err != nil {
		return "", netip.Addr{}
	}
	return header[:max(at, 0)], plain(hop)
}

// cutLast splits at the last separator outside quoted text. It reads from the end, where the operator's own proxies
// wrote: a quote that a client opened and never closed does not affect what follows it.
func cutLast(s string, separator byte) (before, last string) {
	quoted := false
	for i := len(s) - 1; i >= 0; i-- {
		switch {
		case s[i] == '"' && !escaped(s, i):
			quoted = !quoted
		case s[i] == separator && !quoted:
			return s[:i], s[i+1:]
		}
	}
	return "", s
}

// escaped reports whether an odd number of backslashes precedes the byte at i.
func escaped(s string, i int) bool {
	before := s[:i]
	return (len(before)-len(strings.TrimRight(before, `\`)))%2 == 1
}

// forwardedFor returns the address in the single parameter "for" of an element. Anything else that a proxy may write
// there, an obfuscated name or "unknown", is no address.
func forwardedFor(element string) netip.Addr {
	var node string
	found := 0
	for element != "" {
		var pair string
		element, pair = cutLast(element, ';')
		name, value, _ := strings.Cut(pair, "=")
		if strings.EqualFold(strings.TrimSpace(name), "for") {
			node, found = strings.TrimSpace(value), found+1
		}
	}
	if found != 1 {
		return netip.Addr{}
	}
	if inner, quoted := strings.CutPrefix(node, `"`); quoted {
		if node, quoted = strings.CutSuffix(inner, `"`); !quoted {
			return netip.Addr{}
		}
	}
	return nodeAddress(node)
}

// nodeAddress reads "192.0.2.1", "192.0.2.1:4711", "[2001:db8::1]" and "[2001:db8::1]:4711" (RFC 7239, section 6).
func nodeAddress(node string) netip.Addr {
	host, port, hasPort := strings.Cut(node, ":")
	inner, bracket := strings.CutPrefix(node, "[")
	if bracket {
		var rest string
		host, rest, bracket = strings.Cut(inner, "]")
		port, hasPort = strings.CutPrefix(rest, ":")
		if !bracket || rest != "" && !hasPort {
			return netip.Addr{}
		}
	}
	address, err := netip.ParseAddr(host)
	if err != nil || address.Is4() == bracket || hasPort && port == "" {
		return netip.Addr{}
	}
	return plain(address)
}
