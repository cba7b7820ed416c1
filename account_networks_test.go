package bursar_test

import (
	"errors"
	"net/netip"
	"testing"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/netpolicy"
)

func TestNetworks(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"10.0.0.0/8":           "10.0.0.0/8",
		"192.0.2.7":            "192.0.2.7/32",
		"2001:db8::/32":        "2001:db8::/32",
		"2001:db8::1":          "2001:db8::1/128",
		"::ffff:192.0.2.7":     "192.0.2.7/32",
		"::ffff:10.0.0.0/104":  "10.0.0.0/8",
		"::ffff:0:0/96":        "0.0.0.0/0",
		"::/0":                 "::/0",
		"10.0.0.1/8":           "",
		"10.0.0.0/33":          "",
		"10.0.0.0/-1":          "",
		"10.0.0.0/08":          "",
		"010.0.0.0/8":          "",
		"10.0.0/8":             "",
		"fe80::1%eth0":         "",
		"fe80::%eth0/64":       "",
		"::ffff:10.0.0.0/90":   "",
		"shop.example":         "",
		"":                     "",
		" 10.0.0.0/8":          "",
		"10.0.0.0/8,10.1.0.0/": "",
	} {
		got, err := netpolicy.ParseNetwork(text)
		if want == "" {
			if !errors.Is(err, netpolicy.ErrBadNetwork) {
				t.Errorf("%q is %s, %v, want %v", text, got, err, netpolicy.ErrBadNetwork)
			}
			continue
		}
		if err != nil || got != netip.MustParsePrefix(want) {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestAKeyIsValidFromItsNetworksOnly(t *testing.T) {
	t.Parallel()
	k := bursar.APIKey{}
	if !k.MayComeFrom(netip.MustParseAddr("192.0.2.1")) || !k.MayComeFrom(netip.Addr{}) {
		t.Error("a key without a list does not open everywhere")
	}
	k.Networks = []netip.Prefix{netip.MustParsePrefix("192.0.2.0/24"), netip.MustParsePrefix("2001:db8::/32")}
	for address, want := range map[string]bool{
		"192.0.2.1": true, "::ffff:192.0.2.1": true, "::ffff:192.0.2.1%eth0": true, "192.0.3.1": false, "::192.0.2.1": false,
		"2001:db8::1": true, "2001:db8::1%eth0": true, "2001:db9::1": false, "::1": false, "0.0.0.0": false,
	} {
		if got := k.MayComeFrom(netip.MustParseAddr(address)); got != want {
			t.Errorf("from %s: %v, want %v", address, got, want)
		}
	}
	if k.MayComeFrom(netip.Addr{}) {
		t.Error("an address that is not known is on the list")
	}
}
