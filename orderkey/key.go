// Package orderkey parses the keys with which clients sign orders of their accounts, and verifies those signatures.
//
// It owns the canonical form of a key, its ID, and the form of the header Bursar-Signature. It never decides which keys
// an account has: the signer remembers that in its state, and the service in its database. Its invariants: a key and a
// signature each have one canonical form, and others are refused; a signature covers exactly the bytes of the order's
// text; the key, never the signature, determines the algorithm.
package orderkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// ErrKey is returned for anything but a public key of a kind that can sign orders.
var ErrKey = errors.New("not a public key that signs orders: ed25519 or P-256")

// idLength is the number of hexadecimal digits of a key's ID.
const idLength = 32

// Key is the public half of a client's key, ed25519 or P-256. The zero Key verifies nothing.
type Key struct{ der string } // SubjectPublicKeyInfo

// Parse reads a key in canonical form, as String writes it: the base64 of its SubjectPublicKeyInfo (RFC 5280), which is
// what is between the first and the last line of a PEM file. The error is ErrKey.
func Parse(text string) (Key, error) {
	der, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil || base64.StdEncoding.EncodeToString(der) != text { // the decoder passes over line breaks
		return Key{}, fmt.Errorf("%w: the text is not base64 in one line", ErrKey)
	}
	return fromDER(der)
}

// ParsePEM reads a key from the text of a file that begins with BEGIN PUBLIC KEY, as OpenSSL and others write it, or
// from the line of String. The error is ErrKey.
func ParsePEM(text string) (Key, error) {
	block, rest := pem.Decode([]byte(text))
	switch {
	case block == nil:
		return Parse(strings.TrimSpace(text))
	case block.Type != "PUBLIC KEY":
		return Key{}, fmt.Errorf("%w: the PEM block is a %.40q, want a PUBLIC KEY", ErrKey, block.Type)
	case strings.TrimSpace(string(rest)) != "":
		return Key{}, fmt.Errorf("%w: something follows the key", ErrKey)
	}
	return fromDER(block.Bytes)
}

// New returns the key of a public key of the standard library. The error is ErrKey.
func New(public crypto.PublicKey) (Key, error) {
	der, err := x509.MarshalPKIXPublicKey(public)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return fromDER(der)
}

func fromDER(der []byte) (Key, error) {
	k := Key{string(der)}
	if _, err := k.public(); err != nil {
		return Key{}, err
	}
	return k, nil
}

// public returns the key as the standard library has it, and refuses other kinds and other forms.
func (k Key) public() (crypto.PublicKey, error) {
	public, err := x509.ParsePKIXPublicKey([]byte(k.der))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrKey, err)
	}
	switch p := public.(type) {
	case ed25519.PublicKey:
		if isWeak(p) {
			return nil, fmt.Errorf("%w: anybody could sign for it", ErrKey)
		}
	case *ecdsa.PublicKey:
		if p.Curve != elliptic.P256() {
			return nil, fmt.Errorf("%w: its curve is %s", ErrKey, p.Params().Name)
		}
	default:
		return nil, fmt.Errorf("%w: the key is a %T", ErrKey, public)
	}
	again, err := x509.MarshalPKIXPublicKey(public)
	if err != nil || string(again) != k.der {
		return nil, fmt.Errorf("%w: the key is not in canonical form", ErrKey)
	}
	return public, nil
}

// weakPoints are the points of ed25519 of a small order, in all their spellings: for them one signature fits many
// texts.
const weakPoints = `
0100000000000000000000000000000000000000000000000000000000000000
0100000000000000000000000000000000000000000000000000000000000080
ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
0000000000000000000000000000000000000000000000000000000000000000
0000000000000000000000000000000000000000000000000000000000000080
26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05
26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc85
c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a
c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac03fa
edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f
eeffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff
`

func isWeak(point ed25519.PublicKey) bool {
	return strings.Contains(weakPoints, "\n"+hex.EncodeToString(point)+"\n")
}

// String returns the key's canonical form.
func (k Key) String() string { return base64.StdEncoding.EncodeToString([]byte(k.der)) }

// ID names the key: the first 32 hexadecimal digits of the SHA-256 of its SubjectPublicKeyInfo. Anyone who has the key
// can compute it; nobody can make another key with the same ID.
func (k Key) ID() string {
	sum := sha256.Sum256([]byte(k.der))
	return hex.EncodeToString(sum[:])[:idLength]
}

// Kind returns ed25519 or P-256, and nothing for the zero Key.
func (k Key) Kind() string {
	public, err := k.public()
	if err != nil {
		return ""
	}
	if _, is := public.(ed25519.PublicKey); is {
		return "ed25519"
	}
	return "P-256"
}
