package pay

import (
	"encoding/binary"
	"net/netip"
	"testing"
	"time"
)

// network returns one of the networks of 2001:db8::/32.
func network(n uint32) netip.Prefix {
	address := netip.MustParseAddr("2001:db8::").As16()
	binary.BigEndian.PutUint32(address[4:], n)
	return netip.PrefixFrom(netip.AddrFrom16(address), 64)
}

// Anyone who has a /48 of IPv6 has 65,536 networks, and anyone who has a /32 more than any table holds.
func TestManyNetworksStopNobodyElse(t *testing.T) {
	t.Parallel()
	c, now := newChoices(), time.Unix(1_700_000_000, 0)
	for n := range uint32(1 << 17) {
		c.may(network(n), now)
	}
	other := netip.MustParsePrefix("203.0.113.7/32")
	if !c.may(other, now) {
		t.Error("another client is refused, want it allowed")
	}
	for range maxChoices + 1 {
		c.may(other, now)
	}
	if c.may(other, now) {
		t.Error("a client chooses without end, want it refused")
	}
	if !c.may(other, now.Add(time.Minute)) {
		t.Error("a client is refused after a minute, want it allowed")
	}
}
