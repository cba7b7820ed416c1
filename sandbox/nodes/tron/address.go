package tron

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/ethereum/go-ethereum/common"
)

// prefix is the first byte of an address.
const prefix = 0x41

func toHex(a common.Address) string { return hex.EncodeToString(toBytes(a)) }

func toBytes(a common.Address) []byte { return append([]byte{prefix}, a[:]...) }

func toBase58(a common.Address) string { return base58.CheckEncode(a[:], prefix) }

// fromBytes reads 21 bytes behind the prefix.
func fromBytes(raw []byte) (common.Address, bool) {
	if len(raw) != 21 || raw[0] != prefix {
		return common.Address{}, false
	}
	return common.Address(raw[1:]), true
}

// parseAddress parses both forms.
func parseAddress(text string) (common.Address, error) {
	if len(text) == 42 {
		if raw, err := hex.DecodeString(text); err == nil {
			if a, ok := fromBytes(raw); ok {
				return a, nil
			}
		}
	}
	if len(text) == 34 {
		if body, version, err := base58.CheckDecode(text); err == nil && version == prefix && len(body) == 20 {
			return common.Address(body), nil
		}
	}
	return common.Address{}, fmt.Errorf("%.60q is not an address", text)
}

// NewAddress makes an address whose key is not kept, as an external receiver. Its account does not exist yet.
func (n *Node) NewAddress() string {
	var a common.Address
	rand.Read(a[:]) // never fails
	return toBase58(a)
}
