// Package netpolicy decides which URLs and addresses may be dialled, and reads lists of networks.
//
// It owns the rules for webhook URLs and the list of public addresses. It never resolves a name and never opens a
// connection. Its invariant: an address that is not public is refused in every notation, unless its network was
// allowed.
package netpolicy

import (
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/bursar/bursar"
)

// CheckWebhookURL refuses a URL that no public receiver has: one that is not http or https, has user information, a
// port below 1024 other than 80 and 443, or a host that is a non-public IP in any notation (decimal, hexadecimal,
// octal, short, IPv4-mapped, NAT64, 6to4, Teredo). The address to which a name resolves is checked again when it is
// dialled.
func CheckWebhookURL(raw string, allowed []netip.Prefix) error {
	if len(raw) > bursar.MaxWebhook {
		return badWebhook("the URL has %d bytes, at most %d are allowed", len(raw), bursar.MaxWebhook)
	}
	if !utf8.ValidString(raw) || strings.ContainsFunc(raw, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
		return badWebhook("the URL contains spaces, control characters or invalid UTF-8")
	}
	u, err := url.Parse(raw)
	if err != nil || u.Opaque != "" || u.Hostname() == "" {
		return badWebhook("the URL is not an absolute URL with a host")
	}
	if u.Scheme != "http" && u.Scheme != "https" {
		return badWebhook("only http and https are allowed")
	}
	if u.User != nil {
		return badWebhook("the URL must not contain a user name or password")
	}
	if err := checkWebhookPort(u); err != nil {
		return err
	}
	return checkWebhookHost(u.Hostname(), allowed)
}

func badWebhook(format string, args ...any) error {
	e := bursar.RefuseField(bursar.CodeInvalidWebhook, "webhook", format, args...)
	e.Message = "the webhook URL is refused: " + e.Message
	return e
}

func checkWebhookPort(u *url.URL) error {
	text := u.Port()
	if text == "" {
		if strings.HasSuffix(u.Host, ":") {
			return badWebhook("its port is empty")
		}
		return nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		return badWebhook("its port is not a port")
	}
	if port < 1024 && port != 80 && port != 443 {
		return badWebhook("ports below 1024 other than 80 and 443 are not allowed")
	}
	return nil
}

func checkWebhookHost(host string, allowed []netip.Prefix) error {
	if strings.ContainsFunc(host, func(r rune) bool { return r > 0x7e }) {
		// A resolver maps letters and digits of other scripts and widths to ASCII: "１２７.１" is 127.1.
		return badWebhook("its host must be written in ASCII (an international name as xn--…)")
	}
	name := strings.ToLower(strings.TrimSuffix(host, "."))
	if name == "" {
		return badWebhook("its host is empty")
	}
	if name == "localhost" || strings.HasSuffix(name, ".localhost") {
		if !anyLoopback(allowed) {
			return badWebhook("its host is this machine")
		}
		return nil
	}
	ip, isIP := hostIP(name)
	if isIP && !MayDial(ip, allowed) {
		return badWebhook("its host is not a public address")
	}
	if !isIP && endsInNumber(name) {
		return badWebhook("its host is neither a name nor an address")
	}
	return nil
}

// endsInNumber recognises names in which no top-level domain can end: a parser more lenient than hostIP might take them
// for an address (WHATWG URL standard, "ends in a number").
func endsInNumber(name string) bool {
	last := name[strings.LastIndexByte(name, '.')+1:]
	if strings.Trim(last, "0123456789") == "" {
		return last != ""
	}
	hexadecimal, ok := strings.CutPrefix(last, "0x")
	return ok && strings.Trim(hexadecimal, "0123456789abcdef") == ""
}

var loopback4 = netip.AddrFrom4([4]byte{127, 0, 0, 1})

func anyLoopback(allowed []netip.Prefix) bool {
	for _, p := range allowed {
		if p.Addr().IsLoopback() || p.Contains(loopback4) || p.Contains(netip.IPv6Loopback()) {
			return true
		}
	}
	return false
}

// hostIP reads a host as the address that a resolver which follows inet_aton would make of it.
func hostIP(host string) (netip.Addr, bool) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return ip, true
	}
	parts := strings.Split(host, ".")
	if len(parts) > 4 {
		return netip.Addr{}, false
	}
	var value uint64
	for i, part := range parts {
		n, err := strconv.ParseUint(cNumber(part), 0, 64)
		if err != nil {
			return netip.Addr{}, false
		}
		width := 8
		if i == len(parts)-1 {
			width = 8 * (5 - len(parts))
		}
		if n >= 1<<width {
			return netip.IPv4Unspecified(), true // a number that must never reach a resolver
		}
		value = value<<width | n
	}
	return netip.AddrFrom4([4]byte{byte(value >> 24), byte(value >> 16), byte(value >> 8), byte(value)}), true
}

// cNumber returns what C reads as a number unchanged, and makes invalid what only Go reads as one (underscores, 0b,
// 0o).
func cNumber(s string) string {
	if strings.ContainsAny(s, "_+-") || strings.HasPrefix(s, "0b") || strings.HasPrefix(s, "0o") {
		return ""
	}
	if s == "0x" {
		return "0"
	}
	return s
}
