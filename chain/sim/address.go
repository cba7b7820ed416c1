package sim

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"sync"

	"github.com/btcsuite/btcd/btcec/v2"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/chain"
)

// An address is the family, "1", the hex of 20 bytes and the hex of 4 bytes of checksum over family and bytes.
const (
	bodyBytes     = 20
	checksumBytes = 4
)

// publicKeys are the short forms of those that are known to be points of the curve. That check takes longer than the
// rest of an address's derivation, and tests derive the same few thousand addresses again and again.
var publicKeys sync.Map // of string by key

// shortForm returns the short form of a public key, and false for what is no point of the curve.
func shortForm(pub chain.PublicKey) (string, bool) {
	if known, is := publicKeys.Load(string(pub)); is {
		return known.(string), true
	}
	key, err := btcec.ParsePubKey(pub)
	if err != nil {
		return "", false
	}
	short := string(key.SerializeCompressed())
	publicKeys.Store(string(pub), short)
	return short, true
}

// Address returns the address of a key; the memo is used only on a chain with a shared address.
func (c *Chain) Address(pub chain.PublicKey, memo uint32) (bursar.Address, error) {
	short, is := shortForm(pub)
	if !is {
		return bursar.Address{}, fmt.Errorf("address of a key of %d bytes: not a public key", len(pub))
	}
	base := c.base([]byte(short))
	if c.config.SharedAddress {
		return bursar.Address{Base: base, Memo: memo, HasMemo: true}, nil
	}
	return bursar.Address{Base: base}, nil
}

// ParseAddress accepts an address in lower or upper case, with a memo on a chain with a shared address.
func (c *Chain) ParseAddress(s string) (bursar.Address, error) {
	address := bursar.Address{Base: s}
	if c.config.SharedAddress {
		var err error
		if address, err = bursar.SplitMemo(s); err != nil {
			return bursar.Address{}, err
		}
	}
	base, err := c.parseBase(address.Base)
	if err != nil {
		return bursar.Address{}, err
	}
	address.Base = base
	return address, nil
}

// ParseContract accepts what ParseAddress accepts, without a memo.
func (c *Chain) ParseContract(s string) (string, error) { return c.parseBase(s) }

// Named returns an address without a key, the same for the same name: of an outsider or a token's contract.
func (c *Chain) Named(name string) string { return c.base([]byte("named " + name)) }

func (c *Chain) base(of []byte) string {
	body := sha256.Sum256(of)
	return c.encode(body[:bodyBytes])
}

func (c *Chain) encode(body []byte) string {
	check := sha256.Sum256(append([]byte(c.config.Family), body...))
	return string(c.config.Family) + "1" + hex.EncodeToString(body) + hex.EncodeToString(check[:checksumBytes])
}

func (c *Chain) parseBase(s string) (string, error) {
	lower := strings.ToLower(s)
	if s != lower && s != strings.ToUpper(s) {
		return "", fmt.Errorf("%w: mixed case", bursar.ErrBadAddress)
	}
	text, found := strings.CutPrefix(lower, string(c.config.Family)+"1")
	raw, err := hex.DecodeString(text)
	if !found || err != nil || len(raw) != bodyBytes+checksumBytes || c.encode(raw[:bodyBytes]) != lower {
		return "", fmt.Errorf("%w: not one of %s", bursar.ErrBadAddress, c.config.Family)
	}
	return lower, nil
}
