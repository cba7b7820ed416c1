// Package ethkey implements what Ethereum, Tron and related chains do with secp256k1 keys. It owns the hash, the 20
// bytes of an address and the recovery of a signature's key. It never sees a private key.
//
// It is pure Go, so that the service and the signer need no C compiler and can be linked statically. Its tests compare
// it with go-ethereum's package crypto, which calls libsecp256k1.
package ethkey

import (
	"errors"
	"fmt"

	"github.com/decred/dcrd/dcrec/secp256k1/v4"
	"github.com/decred/dcrd/dcrec/secp256k1/v4/ecdsa"
	"github.com/ethereum/go-ethereum/crypto/keccak"
)

// SignatureSize is the length of a signature in bytes: R and S with 32 big-endian bytes each, and the recovery id.
const SignatureSize = 65

// ErrSignature is returned for a signature that no key can have made, or that these chains do not accept.
var ErrSignature = errors.New("invalid signature")

// Keccak256 returns the Keccak-256 of the parts one after the other. It is not SHA3-256, which pads otherwise.
func Keccak256(parts ...[]byte) (sum [32]byte) {
	h := keccak.NewLegacyKeccak256()
	for _, p := range parts {
		h.Write(p)
	}
	h.Sum(sum[:0])
	return sum
}

// Address returns the last 20 bytes of the Keccak-256 of a key's two coordinates (Yellow Paper,
// appendix F). The key must be a point of the curve: compressed, 33 bytes, or with both coordinates, 65 bytes (SEC 1,
// 2.3.3).
func Address(key []byte) (address [20]byte, err error) {
	long := len(key) == secp256k1.PubKeyBytesLenUncompressed && key[0] == secp256k1.PubKeyFormatUncompressed
	if len(key) != secp256k1.PubKeyBytesLenCompressed && !long {
		return address, fmt.Errorf("address of a key: got %d bytes, want 33, or 65 with both coordinates", len(key))
	}
	point, err := secp256k1.ParsePubKey(key)
	if err != nil {
		return address, fmt.Errorf("address of a key: %w", err)
	}
	return addressOf(point), nil
}

// AddressWithoutMemo is Address for a chain that has no memos, where any other than 0 is an error that names the chain.
func AddressWithoutMemo(key []byte, memo uint32, chain string) (address [20]byte, err error) {
	if memo != 0 {
		return address, fmt.Errorf("address of a key: chain %s has no memos", chain)
	}
	return Address(key)
}

func addressOf(point *secp256k1.PublicKey) [20]byte {
	sum := Keccak256(point.SerializeUncompressed()[1:])
	return [20]byte(sum[12:])
}

// Signer returns the address of the key that signed a digest, or ErrSignature. The recovery id must be 0 or 1, and S in
// the lower half of the curve's order (EIP-2).
func Signer(digest [32]byte, signature []byte) (address [20]byte, err error) {
	if len(signature) != SignatureSize {
		return address, fmt.Errorf("%w: got %d bytes, want %d", ErrSignature, len(signature), SignatureSize)
	}
	var s secp256k1.ModNScalar
	if tooLarge := s.SetByteSlice(signature[32:64]); tooLarge || s.IsOverHalfOrder() || signature[64] > 1 {
		return address, fmt.Errorf("%w: R, S or the recovery id is out of range", ErrSignature)
	}
	compact := make([]byte, SignatureSize)
	compact[0] = 27 + signature[64] // the form of Bitcoin's signed messages, which has the recovery id first
	copy(compact[1:], signature[:64])
	point, _, err := ecdsa.RecoverCompact(compact, digest[:])
	if err != nil {
		return address, fmt.Errorf("%w: %w", ErrSignature, err)
	}
	return addressOf(point), nil
}
