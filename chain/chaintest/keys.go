package chaintest

import (
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar/chain"
)

// Keys are test keys of a curve: the private key of a reference is a hash of the reference, and so the same on every
// machine.
type Keys struct{ Curve chain.Curve }

// Public returns a public key in the short form of its curve.
func (k Keys) Public(ref chain.KeyRef) chain.PublicKey {
	if k.Curve == chain.Ed25519 {
		return chain.PublicKey(k.ed25519(ref).Public().(ed25519.PublicKey))
	}
	return k.secp256k1(ref).PubKey().SerializeCompressed()
}

// Sign signs an Input's digest: the signature is 65 bytes R, S (low) and recovery id on secp256k1, 64 bytes on
// ed25519.
func (k Keys) Sign(ref chain.KeyRef, digest []byte) []byte {
	if k.Curve == chain.Ed25519 {
		return ed25519.Sign(k.ed25519(ref), digest)
	}
	compact := ecdsa.SignCompact(k.secp256k1(ref), digest, true)
	const compactOffset = 27 + 4 // the first byte of the compact form for recovery id 0 and a short public key
	return append(compact[1:], compact[0]-compactOffset)
}

func (k Keys) secp256k1(ref chain.KeyRef) *btcec.PrivateKey {
	seed := seedOf(ref)
	private, _ := btcec.PrivKeyFromBytes(seed[:])
	return private
}

func (k Keys) ed25519(ref chain.KeyRef) ed25519.PrivateKey {
	seed := seedOf(ref)
	return ed25519.NewKeyFromSeed(seed[:])
}

func seedOf(ref chain.KeyRef) [sha256.Size]byte {
	return sha256.Sum256(fmt.Appendf(nil, "test key %s/%d/%d", ref.Family, ref.Branch, ref.Index))
}
