package xrpl

import (
	"crypto/ed25519"
	"encoding/hex"
	"errors"
	"maps"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/ecdsa"
)

// genesisKey is the private key of rHb9CJAWyB4rj91VRWn96DkukG4bwdtyTh, made from the passphrase "masterpassphrase".
// It is not secret: in every standalone ledger this account holds everything at first.
const genesisKey = "1acaaedece405b2a958212629e16f2eb46b153eee94cdd350fdeff52795525b7"

func newGenesisKey() *btcec.PrivateKey {
	raw, err := hex.DecodeString(genesisKey)
	if err != nil {
		panic("the genesis key is not hexadecimal") // a constant of this file
	}
	key, _ := btcec.PrivKeyFromBytes(raw)
	return key
}

var errUnsigned = errors.New("Invalid signature.") //nolint:staticcheck // rippled's text

// signable is the signed bytes: everything except the signature.
func signable(v values) []byte {
	bare := maps.Clone(v)
	delete(bare, "TxnSignature")
	return encode(bare)
}

// sign completes a transaction with a secp256k1 signature.
func sign(v values, key *btcec.PrivateKey) []byte {
	v["SigningPubKey"] = strings.ToUpper(hex.EncodeToString(key.PubKey().SerializeCompressed()))
	digest := half("STX\x00", signable(v))
	v["TxnSignature"] = strings.ToUpper(hex.EncodeToString(ecdsa.Sign(key, digest[:]).Serialize()))
	return encode(v)
}

// verify checks a transaction's signature over the bytes before and after it in the blob: secp256k1 over the hash, in
// canonical DER with a low S, or ed25519 over the message itself.
func verify(v values, blob []byte) error {
	if len(v.signers()) > 0 && v.text("SigningPubKey") == "" && v["TxnSignature"] == nil {
		return verifySeveral(v)
	}
	key, err1 := hex.DecodeString(v.text("SigningPubKey"))
	signature, err2 := hex.DecodeString(v.text("TxnSignature"))
	if err1 != nil || err2 != nil || len(key) != 33 || len(signature) == 0 || len(signature) > 72 {
		return errUnsigned
	}
	signed := cut(blob, append([]byte{kindBlob<<4 | 4, byte(len(signature))}, signature...))
	return verifyOver("STX\x00", signed, key, signature)
}

// verifyOver checks a signature over a message with a prefix.
func verifyOver(prefix string, signed, key, signature []byte) error {
	if len(key) == 33 && key[0] == 0xed {
		if len(signature) != ed25519.SignatureSize ||
			!ed25519.Verify(key[1:], append([]byte(prefix), signed...), signature) {
			return errUnsigned
		}
		return nil
	}
	pub, err := btcec.ParsePubKey(key)
	if err != nil {
		return errUnsigned
	}
	parsed, err := ecdsa.ParseDERSignature(signature)
	if err != nil {
		return errUnsigned
	}
	digest := half(prefix, signed)
	s := parsed.S()
	if s.IsOverHalfOrder() || !parsed.Verify(digest[:], pub) {
		return errUnsigned
	}
	return nil
}

// cut returns the bytes without a part of them.
func cut(whole, part []byte) []byte {
	before, after, _ := strings.Cut(string(whole), string(part))
	return []byte(before + after)
}
