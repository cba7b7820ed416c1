package xrpl

import (
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // the hash that XRPL addresses are made of

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// accountID is the hash of an account's first key; its text is the classic address.
type accountID [20]byte

// classicPrefix is the version byte of classic addresses.
const classicPrefix = 0

// String returns the classic address, which is Bursar's canonical base address.
func (a accountID) String() string { return encodeCheck(append([]byte{classicPrefix}, a[:]...)) }

// accountOf returns RIPEMD-160 of SHA-256 of a public key of 33 bytes.
func accountOf(pub []byte) (a accountID) {
	inner := sha256.Sum256(pub)
	outer := ripemd160.New()
	outer.Write(inner[:])
	outer.Sum(a[:0])
	return a
}

// Address returns the classic address of a compressed secp256k1 key, with memo as its destination tag. Memo 0 means no
// tag: it is the address itself, and tag 0 is not used.
func (r *Rules) Address(pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	if len(pub) != btcec.PubKeyBytesLenCompressed {
		return bursar.Address{}, fmt.Errorf("address of a key: got %d bytes, want %d", len(pub),
			btcec.PubKeyBytesLenCompressed)
	}
	if _, err := btcec.ParsePubKey(pub); err != nil {
		return bursar.Address{}, fmt.Errorf("address of a key: %w", err)
	}
	return bursar.Address{Base: accountOf(pub).String(), Memo: memo, HasMemo: memo != 0}, nil
}

// ParseAddress accepts a classic address, followed by ":" and a destination tag if it has one, and an X-address of the
// configured network (XLS-5). Both become the classic form.
func (r *Rules) ParseAddress(s string) (bursar.Address, error) {
	if len(s) > maxBase58 {
		return bursar.Address{}, fmt.Errorf("%w: the address is too long", bursar.ErrBadAddress)
	}
	if !strings.HasPrefix(s, "r") {
		return r.parseX(s)
	}
	address, err := bursar.SplitMemo(s)
	if err != nil {
		return bursar.Address{}, fmt.Errorf("%w: the destination tag must be a plain number below 2^32", bursar.ErrBadAddress)
	}
	if _, err := parseClassic(address.Base); err != nil {
		return bursar.Address{}, err
	}
	return address, nil
}

// ParseContract refuses everything: issued currencies are not supported.
func (r *Rules) ParseContract(string) (string, error) {
	return "", fmt.Errorf("%w: this chain has no token contracts", bursar.ErrBadAddress)
}

func parseClassic(s string) (a accountID, err error) {
	payload, ok := decodeCheck(s)
	if !ok || len(payload) != 1+len(a) || payload[0] != classicPrefix {
		return a, fmt.Errorf("%w: not a classic address, or its checksum is wrong", bursar.ErrBadAddress)
	}
	copy(a[:], payload[1:])
	return a, nil
}

// X-addresses: a prefix of two bytes, the account, a flag, and eight bytes of tag, least significant first.
const (
	xPrefixMain = 0x0544
	xPrefixTest = 0x0493
	xLength     = 2 + 20 + 1 + 8
)

var errX = errors.New("not an X-address of this network")

func (r *Rules) parseX(s string) (bursar.Address, error) {
	payload, ok := decodeCheck(s)
	if !ok || len(payload) != xLength {
		return bursar.Address{}, fmt.Errorf("%w: neither a classic address nor an X-address, or its checksum is wrong",
			bursar.ErrBadAddress)
	}
	want := uint16(xPrefixTest)
	if r.cfg.Network == Mainnet {
		want = xPrefixMain
	}
	if binary.BigEndian.Uint16(payload) != want {
		return bursar.Address{}, fmt.Errorf("%w: %w", bursar.ErrBadAddress, errX)
	}
	base := accountID(payload[2:22])
	flag, tag := payload[22], binary.LittleEndian.Uint64(payload[23:])
	switch {
	case flag == 0 && tag == 0:
		return bursar.Address{Base: base.String()}, nil
	case flag == 1 && tag <= 1<<32-1:
		return bursar.Address{Base: base.String(), Memo: uint32(tag), HasMemo: true}, nil
	}
	return bursar.Address{}, fmt.Errorf("%w: the X-address has an invalid tag", bursar.ErrBadAddress)
}

// keylessAddresses are the special addresses that no key controls, from the ledger's documentation of addresses.
func keylessAddresses() []string {
	return []string{
		"rrrrrrrrrrrrrrrrrrrrrhoLvTp", // ACCOUNT_ZERO
		"rrrrrrrrrrrrrrrrrrrrBZbvji",  // ACCOUNT_ONE
		"rrrrrrrrrrrrrrrrrNAMEtxvNvQ", // name reservation
		"rrrrrrrrrrrrrrrrrrrn5RM1rHd", // NaN
	}
}

// genesisAccount once held all XRP. Its key is public, and it is disabled on the public networks.
const genesisAccount = "rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh"
