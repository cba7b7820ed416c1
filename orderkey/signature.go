package orderkey

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"math/big"
	"strings"
)

// Header is the name of the header that carries a signature.
const Header = "Bursar-Signature"

// signatureLength is that of both algorithms, in bytes.
const signatureLength = 64

// Errors of signatures.
var (
	// ErrSignature is returned for what is not in the form of a signature.
	ErrSignature = errors.New("a signature is KEY-ID:SIGNATURE, 32 small hexadecimal digits and the base64 of 64 bytes")
	// ErrInvalid is returned for a signature that its key did not make over the text.
	ErrInvalid = errors.New("the key did not sign these bytes")
)

// Signature is a signature over the text of an order: of ed25519 (RFC 8032), or of ECDSA over P-256 and SHA-256 as the
// two numbers r and s of 32 bytes each (IEEE P1363).
type Signature struct {
	KeyID string
	Bytes [signatureLength]byte
}

// ParseSignature reads the value of the header. The error is ErrSignature.
func ParseSignature(text string) (s Signature, err error) {
	id, signature, _ := strings.Cut(text, ":")
	if len(id) != idLength || strings.Trim(id, "0123456789abcdef") != "" {
		return s, fmt.Errorf("%w: its key ID is %.40q", ErrSignature, id)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(signature)
	if err != nil || len(raw) != signatureLength || strings.ContainsAny(signature, "\r\n") {
		return s, fmt.Errorf("%w: after the colon it has %d characters of %d bytes", ErrSignature, len(signature), len(raw))
	}
	s.KeyID = id
	copy(s.Bytes[:], raw)
	return s, nil
}

// String returns the value of the header.
func (s Signature) String() string {
	return s.KeyID + ":" + base64.StdEncoding.EncodeToString(s.Bytes[:])
}

// Verify returns nil if the key made the signature over exactly these bytes, or else ErrInvalid.
func (k Key) Verify(text string, s Signature) error {
	public, err := k.public()
	if err != nil {
		return err
	}
	valid := s.KeyID == k.ID()
	switch p := public.(type) {
	case ed25519.PublicKey:
		valid = valid && ed25519.Verify(p, []byte(text), s.Bytes[:])
	case *ecdsa.PublicKey:
		sum := sha256.Sum256([]byte(text))
		r, t := new(big.Int).SetBytes(s.Bytes[:32]), new(big.Int).SetBytes(s.Bytes[32:])
		valid = valid && ecdsa.Verify(p, sum[:], r, t)
	}
	if !valid {
		return ErrInvalid
	}
	return nil
}
