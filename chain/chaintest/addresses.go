package chaintest

import (
	"strings"
	"testing"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

func testAddressIsDeterministic(t *testing.T, h Harness) {
	d := newHarness(t, h)
	seen := map[bursar.Address]uint32{}
	for index := range uint32(20) {
		address := d.deposit(index)
		if other, twice := seen[address]; twice {
			t.Fatalf("indexes %d and %d give the same address %s", other, index, address)
		}
		seen[address] = index
		if again := d.deposit(index); again != address {
			t.Fatalf("address %d is %s at first, then %s", index, address, again)
		}
		if address.HasMemo != d.capabilities.SharedAddress {
			t.Fatalf("address %s has a memo: %v, want %v as of Capabilities.SharedAddress", address, address.HasMemo,
				d.capabilities.SharedAddress)
		}
	}
	if _, err := h.Chain.Address(chain.PublicKey("short"), 0); err == nil {
		t.Fatal("five bytes as a public key give an address, want an error")
	}
	if d.capabilities.Curve == chain.Secp256k1 && !d.capabilities.SharedAddress {
		d.longKey(0)
	}
}

// longKey requires that the long form of a key gives the address of its short form, and what is no point of the curve
// none.
func (d *harness) longKey(index uint32) {
	d.t.Helper()
	short := d.keys.Public(chain.KeyRef{Family: d.capabilities.Family, Branch: chain.DepositBranch, Index: index})
	key, err := btcec.ParsePubKey(short)
	d.check(err, "parse a key of the test")
	long := key.SerializeUncompressed()
	address, err := d.chain.Address(long, 0)
	d.check(err, "address of a key with both coordinates")
	if want := d.deposit(index); address != want {
		d.t.Fatalf("the address of a key with both coordinates is %s, want %s", address, want)
	}
	long[len(long)-1] ^= 1
	if address, err = d.chain.Address(long, 0); err == nil {
		d.t.Fatalf("what is no point of the curve has the address %s, want an error", address)
	}
}

func testParsedAddressIsCanonical(t *testing.T, h Harness) {
	d := newHarness(t, h)
	for _, address := range []bursar.Address{d.deposit(0), d.deposit(1), {Base: d.hot().Base}, d.outsider()} {
		text := address.String()
		parsed, err := h.Chain.ParseAddress(text)
		d.check(err, "parse %s", text)
		if parsed != address {
			t.Fatalf("%s parses to %s, want itself", text, parsed)
		}
		if d.capabilities.Curve == chain.Ed25519 {
			continue // letters of another case are another valid address: there is no checksum
		}
		for _, other := range []string{strings.ToLower(text), strings.ToUpper(text)} {
			if parsed, err := h.Chain.ParseAddress(other); err == nil && parsed != address {
				t.Fatalf("%s parses to %s, not to %s", other, parsed, address)
			} else if err != nil {
				wantError(t, err, bursar.ErrBadAddress, "parse "+other)
			}
		}
	}
}

func testBadAddressIsRefused(t *testing.T, h Harness) {
	d := newHarness(t, h)
	base := d.hot().Base
	bad := []string{
		"", " ", "0", "0x", ":", "garbage", "\x00\xff", base[:len(base)/2], base + base, " " + base, base + " ", base + "\n",
		base + ":", base + ":-1", base + ":01", base + ":4294967296", strings.Repeat("1", 5000),
	}
	if !d.capabilities.SharedAddress {
		bad = append(bad, base+":1")
	}
	if d.capabilities.Curve == chain.Secp256k1 { // these addresses carry a checksum
		bad = append(bad, base[:len(base)-1], base[1:])
		for i := range base {
			bad = append(bad, base[:i]+otherCharacter(base[i])+base[i+1:])
		}
	}
	for _, text := range bad {
		parsed, err := h.Chain.ParseAddress(text)
		if err == nil {
			t.Fatalf("%.80q parses to %s, want bursar.ErrBadAddress (our address is %s)", text, parsed, base)
		}
		wantError(t, err, bursar.ErrBadAddress, "parse a bad address")
	}
	for _, text := range []string{"", "garbage", "0x", "0xzz", base + ":1"} {
		_, err := h.Chain.ParseContract(text)
		wantError(t, err, bursar.ErrBadAddress, "parse a bad contract")
	}
}

// otherCharacter returns a character other than c that is in every alphabet of addresses and hashes.
func otherCharacter(c byte) string {
	if c == '2' {
		return "3"
	}
	return "2"
}
