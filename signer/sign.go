package signer

import (
	"bytes"
	"crypto/ed25519"
	"errors"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"

	"github.com/bursar/bursar/chain"
)

// errBadSignature means that a signature made here does not verify. It must not be returned: a signature made by a
// faulty processor can reveal the private key.
var errBadSignature = errors.New("a signature does not verify")

// sign signs a digest that was checked already, in the format that the key's curve has in this project.
func (k *Keys) sign(ref chain.KeyRef, digest []byte) ([]byte, error) {
	of, ref, err := k.of(ref)
	if err != nil {
		return nil, err
	}
	if paths[ref.Family].Curve == chain.Ed25519 {
		return of.signEd25519(ref, digest)
	}
	return of.signSecp256k1(ref, digest)
}

// signSecp256k1 returns R, S and the recovery id: nonce after RFC 6979, S in the lower half (BIP 62).
func (k *Keys) signSecp256k1(ref chain.KeyRef, digest []byte) ([]byte, error) {
	private, err := k.secp256k1Key(ref)
	if err != nil {
		return nil, err
	}
	defer private.Zero()
	public, err := k.Public(ref) // derived without the private key, which checks that key as well
	if err != nil {
		return nil, err
	}
	return signDigest(private, public, digest)
}

func signDigest(private *btcec.PrivateKey, public chain.PublicKey, digest []byte) ([]byte, error) {
	return plain(ecdsa.SignCompact(private, digest, true), public, digest)
}

// plain converts a signature in the compact form into R, S and the recovery id. It refuses one that does not verify or
// that nodes would not relay.
func plain(compact []byte, public chain.PublicKey, digest []byte) ([]byte, error) {
	recovered, _, err := ecdsa.RecoverCompact(compact, digest) // verifies R, S and the recovery id at once
	if err != nil || !bytes.Equal(public, recovered.SerializeCompressed()) {
		return nil, errBadSignature
	}
	const offset = 27 + 4 // in the first byte of the compact form, for a compressed public key
	id := compact[0] - offset
	if id > 1 || highS(compact[33:]) {
		return nil, errBadSignature // an id of 2 or 3 would need an R that has never been seen
	}
	return append(compact[1:len(compact):len(compact)], id), nil
}

func highS(s []byte) bool {
	var scalar btcec.ModNScalar
	return scalar.SetByteSlice(s) || scalar.IsOverHalfOrder()
}

func (k *Keys) signEd25519(ref chain.KeyRef, message []byte) ([]byte, error) {
	private, err := k.ed25519Key(ref)
	if err != nil {
		return nil, err
	}
	defer clear(private)
	signature := ed25519.Sign(private, message)
	public, err := k.Public(ref)
	if err != nil {
		return nil, err
	}
	return verified(public, message, signature)
}

// verified returns a signature that its public key confirms.
func verified(public chain.PublicKey, message, signature []byte) ([]byte, error) {
	if !ed25519.Verify(ed25519.PublicKey(public), message, signature) {
		return nil, errBadSignature
	}
	return signature, nil
}
