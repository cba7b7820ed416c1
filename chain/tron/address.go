package tron

import (
	"bytes"
	"encoding/hex"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

// addressPrefix is the first byte of every address of mainnet and of the public test networks.
const addressPrefix = 0x41

// address is the 20 bytes after the prefix: the form in contracts and events.
type address [20]byte

// String returns the Base58Check form, T…, which is Bursar's canonical base address.
func (a address) String() string { return base58.CheckEncode(a[:], addressPrefix) }

// hex returns the form of java-tron's HTTP API.
func (a address) hex() string { return "41" + hex.EncodeToString(a[:]) }

// bytes returns the form of java-tron's messages.
func (a address) bytes() []byte { return append([]byte{addressPrefix}, a[:]...) }

// addressOf reads the form of java-tron's messages.
func addressOf(raw []byte) (a address, ok bool) {
	if len(raw) != 21 || raw[0] != addressPrefix {
		return a, false
	}
	return address(raw[1:]), true
}

// Address returns the address of a compressed secp256k1 key: 0x41 followed by the last 20 bytes of the Keccak-256 of
// the whole key. A memo is an error: Tron's exchanges do not use memos.
func (r *Rules) Address(pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	of, err := ethkey.AddressWithoutMemo(pub, memo, string(r.cfg.ID))
	if err != nil {
		return bursar.Address{}, err
	}
	return bursar.Address{Base: address(of).String()}, nil
}

// ParseAddress accepts the Base58Check form (T…) and the hexadecimal form (41… or 0x41…, in any case) of an address,
// and refuses the zero address.
func (r *Rules) ParseAddress(s string) (bursar.Address, error) {
	a, err := parseAddress(s)
	if err != nil {
		return bursar.Address{}, err
	}
	return bursar.Address{Base: a.String()}, nil
}

// ParseContract accepts what ParseAddress accepts.
func (r *Rules) ParseContract(s string) (string, error) {
	a, err := parseAddress(s)
	if err != nil {
		return "", err
	}
	return a.String(), nil
}

func parseAddress(s string) (address, error) {
	a, err := decodeAddress(s)
	if err == nil && a == (address{}) {
		err = fmt.Errorf("%w: no key controls the zero address", bursar.ErrBadAddress)
	}
	return a, err
}

func decodeAddress(s string) (a address, err error) {
	if len(s) == 44 && (s[:2] == "0x" || s[:2] == "0X") {
		s = s[2:]
	}
	switch len(s) {
	case 34:
		body, version, err := base58.CheckDecode(s)
		if err != nil || version != addressPrefix || len(body) != len(a) {
			return a, fmt.Errorf("%w: not a Tron address, or its checksum is wrong", bursar.ErrBadAddress)
		}
		return address(body), nil
	case 42:
		raw, err := hex.DecodeString(s)
		if err == nil {
			if a, ok := addressOf(raw); ok {
				return a, nil
			}
		}
	}
	return a, fmt.Errorf("%w: want T and 33 more characters, or 41 and 40 hexadecimal digits", bursar.ErrBadAddress)
}

// blackhole receives what mainnet burns; nobody has its key.
var blackhole = address{0x77, 0x94, 0x4d, 0x19, 0xc0, 0x52, 0xb7, 0x3e, 0xe2, 0x28, 0x68, 0x23, 0xaa, 0x83, 0xf8, 0x13,
	0x8c, 0xb7, 0x03, 0x2f}

// refusal returns why value sent to an address is lost, or "" if it is not. Addresses below 2^32 are precompiled
// contracts of the virtual machine.
func (r *Rules) refusal(to address, contract *address) string {
	switch {
	case bytes.Equal(to[:16], make([]byte, 16)):
		return "the address belongs to the network itself"
	case to == blackhole, bytes.Equal(to[:], bytes.Repeat([]byte{0xff}, len(to))):
		return "the address burns what it receives"
	case contract != nil && to == *contract:
		return "the address is the token's own contract"
	}
	if _, token := r.tokens[to]; token {
		return "the address is a token contract"
	}
	return ""
}
