package netpolicy

import (
	"errors"
	"net/netip"
	"strings"
	"testing"

	"github.com/bursar/bursar"
)

var refusedURLs = map[string][]string{
	"form": {
		"", "/path", "example.com", "//example.com/x", "http:example.com", "http://", "http:///x", "http://./", "http://?q",
		"http://:80/", "mailto:a@example.com",
		"http://exa mple.com/", "http://example.com/\n", "http://example.com/\x7f", "http://example.com/\xff",
		"http://example.com\\@127.0.0.1/",
		"http://%31%32%37.0.0.1/", "http://[127.0.0.1]/", "http://[::1",
		"https://example.com/" + strings.Repeat("a", bursar.MaxWebhook),
	},
	"scheme": {"ftp://example.com/", "file:///etc/passwd", "gopher://example.com/", "javascript:alert(1)",
		"unix:///run/x.sock", "ws://example.com/"},
	"user": {"http://user@example.com/", "https://user:pass@example.com/", "http://@example.com/", "http://:@example.com/",
		"http://example.com@127.0.0.1/"},
	"port": {
		"http://example.com:22/", "http://example.com:25/", "http://example.com:1/", "http://example.com:1023/",
		"http://example.com:0/", "http://example.com:/",
		"http://example.com:65536/", "http://example.com:022/", "http://example.com:-80/", "http://example.com:8080x/",
	},
	"name": {"http://localhost/", "http://LOCALHOST:8080/", "http://localhost./", "http://a.localhost/",
		"http://x.y.LocalHost./"},
	"plain IPv4": {
		"http://0.0.0.0/", "http://10.1.2.3/", "http://100.64.0.1/", "http://127.0.0.1/", "http://127.255.255.254:8080/",
		"http://169.254.169.254/latest/meta-data/",
		"http://172.16.0.1/", "http://172.31.255.255/", "http://192.0.0.1/", "http://192.0.2.1/", "http://192.88.99.1/",
		"http://192.168.1.1/", "http://198.18.0.1/",
		"http://198.51.100.1/", "http://203.0.113.1/", "http://224.0.0.1/", "http://239.1.1.1/", "http://240.0.0.1/",
		"http://255.255.255.255/", "http://127.0.0.1./",
	},
	"IPv4 in another notation": {
		"http://2130706433/", "http://0x7f000001/", "http://0X7F000001/", "http://017700000001/", "http://127.1/",
		"http://127.0.1/", "http://0177.0.0.1/", "http://0x7f.0.0.1/",
		"http://0x7f.1/", "http://0177.0x0.1/", "http://10.65535/", "http://0/", "http://0x/", "http://0x0/",
		"http://00000000000/", "http://0xa9fea9fe/", "http://2852039166/",
		"http://0251.0376.0251.0376/", "http://169.254.43518/", "http://0x7f.0x0.0x0.0x1./", "http://127.000.000.001/",
	},
	"no number of an address": {
		"http://4294967296/", "http://99999999999999999999999/", "http://256.1.1.1/", "http://1.2.3.4.5/",
		"http://127.0.0.08/", "http://127.0.0.09./", "http://127..1/",
		"http://example.1/", "http://0x1ffffffff/", "http://1.0xfffffff.1/",
	},
	"other scripts": {
		"http://\uff11\uff12\uff17.\uff10.\uff10.\uff11/", "http://127\u30020\u30020\u30021/",
		"http://127\uff0e0\uff0e0\uff0e1/", "http://\u2460\u2461\u2466.0.0.1/",
		"http://\u24db\u24de\u24d2\u24d0\u24db\u24d7\u24de\u24e2\u24e3/", "http://%ef%bc%91%ef%bc%92%ef%bc%97.1/",
		"http://m\u00fcnchen.example/",
	},
	"IPv6": {
		"http://[::]/", "http://[::1]/", "http://[0:0:0:0:0:0:0:1]:8080/", "http://[::ffff:127.0.0.1]/",
		"http://[::ffff:7f00:1]/", "http://[0:0:0:0:0:ffff:10.0.0.1]/",
		"http://[::127.0.0.1]/", "http://[::ffff:0:127.0.0.1]/", "http://[64:ff9b::127.0.0.1]/", "http://[64:ff9b::a00:1]/",
		"http://[64:ff9b:1::1]/", "http://[64:ff9b::8.8.8.8]/",
		"http://[2002:7f00:1::]/", "http://[2002:a00:1::1]/", "http://[2001::1]/", "http://[2001:0:7f00:1::]/",
		"http://[2001:db8::1]/", "http://[3fff::1]/", "http://[5f00::1]/",
		"http://[fc00::1]/", "http://[fd12:3456::1]/", "http://[fe80::1]/", "http://[fe80::1%25eth0]/",
		"http://[2606:4700::1%25lo]/", "http://[fec0::1]/", "http://[ff02::1]/",
		"http://[100::1]/", "http://[4000::1]/", "http://[2620:4f:8000::1]/",
	},
}

func TestAURLThatNoPublicReceiverHasIsRefused(t *testing.T) {
	t.Parallel()
	for what, urls := range refusedURLs {
		for _, raw := range urls {
			err := CheckWebhookURL(raw, nil)
			var refusal *bursar.Error
			if !errors.As(err, &refusal) || refusal.Code != bursar.CodeInvalidWebhook || refusal.Field != "webhook" {
				t.Errorf("%s: %q: %v", what, raw, err)
			}
		}
	}
}

func TestAPublicURLIsAllowed(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{
		"http://example.com", "https://example.com/", "HTTPS://Example.COM:443/a?b=c#d", "http://example.com:80/",
		"http://example.com:1024/", "https://example.com:65535/",
		"https://example.com./hook", "http://8.8.8.8/", "http://134744072/", "http://0x8.8.8.8/", "http://8.8.8.0x/",
		"https://[2606:4700:4700::1111]/", "http://[::ffff:8.8.8.8]/",
		"http://xn--mnchen-3ya.example/", "http://localhost.example.com/", "http://mylocalhost/", "http://127.0.0.1.nip.io/",
		"http://a_b.example/", "http://1.example/", "http://0b1.example/",
		"https://example.com/hook?token=%20x&u=http://127.0.0.1/",
	} {
		if err := CheckWebhookURL(raw, nil); err != nil {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestANetworkThatTheOperatorNamedIsAllowed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url, network string
		ok           bool
	}{
		{"http://127.0.0.1:8080/", "127.0.0.0/8", true},
		{"http://localhost:8080/", "127.0.0.1/32", true},
		{"http://localhost:8080/", "0.0.0.0/0", true},
		{"http://[::1]:8080/", "::1/128", true},
		{"http://localhost:8080/", "10.0.0.0/8", false},
		{"http://[::ffff:10.0.0.1]/", "10.0.0.0/8", true},
		{"http://10.0.0.1/", "10.0.0.0/31", true},
		{"http://10.0.0.2/", "10.0.0.0/31", false},
		{"http://0xa000001/", "10.0.0.0/8", true},
		{"http://127.0.0.1:22/", "127.0.0.0/8", false},
		{"http://[fe80::1%25eth0]/", "fe80::/10", false},
	} {
		err := CheckWebhookURL(c.url, []netip.Prefix{netip.MustParsePrefix(c.network)})
		if (err == nil) != c.ok {
			t.Errorf("%s with %s: %v, want %v", c.url, c.network, err, c.ok)
		}
	}
}

// Each network of the IANA registries is checked at both ends and just outside, where there is a public address.
func TestMayDialAtTheEdges(t *testing.T) {
	t.Parallel()
	for _, p := range nonPublic {
		first, last := p.Addr(), lastOf(p)
		if MayDial(first, nil) || MayDial(last, nil) {
			t.Errorf("%s may be dialled", p)
		}
		if first.Is4() && MayDial(netip.AddrFrom16(first.As16()), nil) {
			t.Errorf("%s may be dialled when mapped", p)
		}
	}
	for _, s := range []string{
		"9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255",
		"169.255.0.0", "172.15.255.255", "172.32.0.0",
		"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255", "2001:200::", "2001:db9::",
		"2003::", "2600::", "3ffe::", "::ffff:1.1.1.1",
	} {
		if !MayDial(netip.MustParseAddr(s), nil) {
			t.Errorf("%s may not be dialled", s)
		}
	}
	if MayDial(netip.Addr{}, []netip.Prefix{netip.MustParsePrefix("::/0")}) {
		t.Error("no address may be dialled")
	}
}

func lastOf(p netip.Prefix) netip.Addr {
	bytes := p.Addr().AsSlice()
	for i := range bytes {
		switch ones := p.Bits() - 8*i; {
		case ones <= 0:
			bytes[i] = 0xff
		case ones < 8:
			bytes[i] |= 0xff >> ones
		}
	}
	last, _ := netip.AddrFromSlice(bytes)
	return last
}

// The standard library never parses an accepted URL as one with a host that MayDial refuses.
func FuzzCheckWebhookURL(f *testing.F) {
	for _, urls := range refusedURLs {
		for _, raw := range urls {
			f.Add(raw)
		}
	}
	f.Add("https://example.com:8443/hook")
	f.Fuzz(func(t *testing.T, raw string) {
		if CheckWebhookURL(raw, nil) != nil {
			return
		}
		host := raw[strings.Index(raw, "//")+2:]
		if end := strings.IndexAny(host, "/?#"); end >= 0 {
			host = host[:end]
		}
		if strings.ContainsAny(host, "@\\ ") {
			t.Errorf("%q passed", raw)
		}
		if at, err := netip.ParseAddrPort(host); err == nil && !MayDial(at.Addr(), nil) {
			t.Errorf("%q passed", raw)
		}
		if ip, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil && !MayDial(ip, nil) {
			t.Errorf("%q passed", raw)
		}
	})
}
