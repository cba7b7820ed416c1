package client

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
)

// signatureHeader carries the signature over an order's text.
const signatureHeader = "Bursar-Signature"

// OrderKeyID returns the ID under which the service knows a public key, ed25519 or P-256: the first 32 hexadecimal
// digits of the SHA-256 of its SubjectPublicKeyInfo.
func OrderKeyID(public crypto.PublicKey) (string, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return "", fmt.Errorf("client: the key of orders: %w", err)
	}
	sum := sha256.Sum256(der)
	return hex.EncodeToString(sum[:16]), nil
}

// SignOrder signs the text of an order and returns the value of the header Bursar-Signature. The key is of ed25519 or
// P-256; it may be one of a hardware module.
func SignOrder(key crypto.Signer, text string) (string, error) {
	id, err := OrderKeyID(key.Public())
	if err != nil {
		return "", err
	}
	signature, err := signBytes(key, []byte(text))
	if err != nil {
		return "", err
	}
	return id + ":" + base64.StdEncoding.EncodeToString(signature), nil
}

var errOrderKey = errors.New("client: orders are signed with a key of ed25519 or P-256")

func signBytes(key crypto.Signer, text []byte) ([]byte, error) {
	switch public := key.Public().(type) {
	case ed25519.PublicKey:
		signature, err := key.Sign(rand.Reader, text, crypto.Hash(0))
		if err != nil {
			return nil, fmt.Errorf("client: sign the order: %w", err)
		}
		return signature, nil
	case *ecdsa.PublicKey:
		if public.Curve != elliptic.P256() {
			return nil, errOrderKey
		}
		return signP256(key, text)
	}
	return nil, errOrderKey
}

// signP256 turns the signature that a crypto.Signer returns, which is in ASN.1, into r and s of 32 bytes each.
func signP256(key crypto.Signer, text []byte) ([]byte, error) {
	sum := sha256.Sum256(text)
	der, err := key.Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("client: sign the order: %w", err)
	}
	var parts struct{ R, S *big.Int }
	if rest, err := asn1.Unmarshal(der, &parts); err != nil || len(rest) > 0 {
		return nil, fmt.Errorf("client: the key's signature cannot be read: %w", errors.Join(err, errOrderKey))
	}
	if parts.R.Sign() < 0 || parts.S.Sign() < 0 || parts.R.BitLen() > 256 || parts.S.BitLen() > 256 {
		return nil, errOrderKey
	}
	signature := make([]byte, 64)
	parts.R.FillBytes(signature[:32])
	parts.S.FillBytes(signature[32:])
	return signature, nil
}
