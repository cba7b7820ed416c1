package xrpl

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"errors"
	"math/big"
	"strings"

	"golang.org/x/crypto/ripemd160" //nolint:staticcheck // the ledger's own hash
)

// hash is the ledger's hash: the first half of SHA-512.
type hash [32]byte

func (h hash) String() string { return strings.ToUpper(hex.EncodeToString(h[:])) }

func half(prefix string, parts ...[]byte) hash {
	sum := sha512.New()
	sum.Write([]byte(prefix))
	for _, part := range parts {
		sum.Write(part)
	}
	return hash(sum.Sum(nil)[:32])
}

// accountID is the account of a classic address.
type accountID [20]byte

func accountOf(pub []byte) (id accountID) {
	inner := sha256.Sum256(pub)
	outer := ripemd160.New()
	outer.Write(inner[:])
	outer.Sum(id[:0])
	return id
}

const digits58 = "rpshnaf39wBUDNEGHJKLM4PQRST7VWXYZ2bcdeCg65jkm8oFqi1tuvAxyz"

var errAddress = errors.New("not an address")

func checksum(payload []byte) []byte {
	first := sha256.Sum256(payload)
	second := sha256.Sum256(first[:])
	return second[:4]
}

// String is the classic address.
func (id accountID) String() string {
	payload := append([]byte{0}, id[:]...)
	n := new(big.Int).SetBytes(append(payload, checksum(payload)...))
	var reversed []byte
	for radix, digit := big.NewInt(58), new(big.Int); n.Sign() > 0; {
		n.DivMod(n, radix, digit)
		reversed = append(reversed, digits58[digit.Int64()])
	}
	var out strings.Builder
	for _, b := range append(bytes.Clone(payload), checksum(payload)...) {
		if b != 0 {
			break
		}
		out.WriteByte(digits58[0])
	}
	for i := len(reversed) - 1; i >= 0; i-- {
		out.WriteByte(reversed[i])
	}
	return out.String()
}

// parseAddress parses a classic address.
func parseAddress(text string) (id accountID, err error) {
	n := new(big.Int)
	for i := range min(len(text), 64) {
		digit := strings.IndexByte(digits58, text[i])
		if digit < 0 {
			return id, errAddress
		}
		n.Mul(n, big.NewInt(58)).Add(n, big.NewInt(int64(digit)))
	}
	if n.BitLen() > 8*24 {
		return id, errAddress
	}
	data := n.FillBytes(make([]byte, 25))
	copy(id[:], data[1:21])
	if id.String() != text {
		return id, errAddress
	}
	return id, nil
}

// NewAddress makes an address whose key is not kept, as an external receiver.
func (n *Node) NewAddress() string {
	var id accountID
	rand.Read(id[:]) // never fails
	return id.String()
}
