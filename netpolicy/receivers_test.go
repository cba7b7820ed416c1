package netpolicy

import (
	"net/netip"
	"testing"
)

func TestReceiversMayBeHTTPSOnly(t *testing.T) {
	t.Parallel()
	lan := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for url, want := range map[string]struct{ any, secure bool }{
		"https://shop.example/hook": {true, true}, "http://shop.example/hook": {true, false},
		"HTTP://shop.example": {true, false}, "HTTPS://shop.example": {true, true}, "http://10.1.2.3:8000": {true, false},
		"https://10.1.2.3": {true, true}, "https://192.168.0.1": {false, false}, "ftp://shop.example": {false, false},
	} {
		if got := (Receivers{Networks: lan}).Check(url) == nil; got != want.any {
			t.Errorf("%s: %t, want %t", url, got, want.any)
		}
		if got := (Receivers{Networks: lan, HTTPSOnly: true}).Check(url) == nil; got != want.secure {
			t.Errorf("%s with https alone: %t, want %t", url, got, want.secure)
		}
	}
}
