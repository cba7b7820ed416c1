package evm

import (
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
	"github.com/bursar/bursar/chain/ethkey"
)

// address is 20 bytes; its text is EIP-55.
type address [20]byte

// String returns the EIP-55 form, whose letter case is a checksum. It is Bursar's canonical base address.
func (a address) String() string {
	text := a.digits()
	sum := keccak(text[2:])
	for i := range 40 {
		nibble := sum[i/2] >> 4
		if i%2 == 1 {
			nibble = sum[i/2] & 15
		}
		if text[2+i] >= 'a' && nibble >= 8 {
			text[2+i] -= 'a' - 'A'
		}
	}
	return string(text[:])
}

// digits returns the plain lower-case form as bytes.
func (a address) digits() (text [42]byte) {
	copy(text[:], "0x")
	hex.Encode(text[2:], a[:])
	return text
}

// hex returns the plain lower-case form for nodes, which ignore the checksum.
func (a address) hex() string { return "0x" + hex.EncodeToString(a[:]) }

// Address returns the address of a compressed secp256k1 key. A memo is an error: these chains have none.
func (r *Rules) Address(pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	of, err := ethkey.AddressWithoutMemo(pub, memo, string(r.cfg.ID))
	if err != nil {
		return bursar.Address{}, err
	}
	return bursar.Address{Base: address(of).String()}, nil
}

// ParseAddress accepts 0x and 40 hexadecimal digits, in one case or with a correct EIP-55 checksum, and refuses the
// zero address.
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
	var a address
	if len(s) != 42 || s[:2] != "0x" {
		return a, fmt.Errorf("%w: want 0x and 40 hexadecimal digits", bursar.ErrBadAddress)
	}
	if _, err := hex.Decode(a[:], []byte(s[2:])); err != nil {
		return a, fmt.Errorf("%w: the address is not hexadecimal", bursar.ErrBadAddress)
	}
	digits := s[2:]
	if digits != strings.ToLower(digits) && digits != strings.ToUpper(digits) && s != a.String() {
		return address{}, fmt.Errorf("%w: the checksum is wrong", bursar.ErrBadAddress)
	}
	if a == (address{}) {
		return a, fmt.Errorf("%w: no key controls the zero address", bursar.ErrBadAddress)
	}
	return a, nil
}

// lastSystemAddress is the highest of the low addresses that no key controls: precompiled contracts (EIP-1352 reserves
// up to 0xffff; chains use up to 0x1011) and BNB Smart Chain's system contracts.
const lastSystemAddress = 0x11ff

// refusal returns why value sent to an address is lost, or "" if it is not.
func (r *Rules) refusal(to address, contract *address) string {
	high, low := to[:18], int(to[18])<<8|int(to[19])
	switch {
	case [18]byte(high) == [18]byte{} && low <= lastSystemAddress:
		return "the address belongs to the network itself"
	case strings.EqualFold(to.hex(), "0x000000000000000000000000000000000000dead"),
		to.hex() == "0xdeaddeaddeaddeaddeaddeaddeaddeaddeaddead", to.hex() == "0x"+strings.Repeat("ff", 20):
		return "the address burns what it receives"
	case contract != nil && to == *contract:
		return "the address is the token's own contract"
	}
	if _, token := r.tokens[to]; token {
		return "the address is a token contract"
	}
	return ""
}
