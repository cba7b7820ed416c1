// Package passkey checks what people's passkeys sign, as Web Authentication Level 3 has it, without trusting the party
// that requested it.
//
// It owns the keys of passkeys with their one spelling, and the form in which an assertion is kept. Its invariants: an
// assertion counts for one text and one purpose, whose digest is its challenge; it was made at one origin, by a page
// that no other page framed; somebody was present, and the authenticator verified them; an assertion has no bytes
// beside what is checked. It decides nothing about whose key it is, and asks no other program.
package passkey

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
)

// Errors of keys and assertions.
var (
	ErrKey        = errors.New("not the public key of a passkey: want " + kindP256 + " or " + kindEd25519)
	ErrMalformed  = errors.New("not the assertion of a passkey")
	ErrInvalid    = errors.New("the assertion of the passkey does not verify")
	ErrOther      = errors.New("the passkey signed something else")
	ErrSite       = errors.New("the passkey signed for another site")
	ErrAbsent     = errors.New("nobody was present when the passkey signed")
	ErrUnverified = errors.New("the passkey did not verify its owner")
)

// The kinds of keys: ES256 and EdDSA, of RFC 9053. RS256 is left out: authenticators that have no other are older than
// what a signer should count.
const (
	kindP256    = "passkey-p256"
	kindEd25519 = "passkey-ed25519"
)

const p256Length = 65 // of an uncompressed point, SEC 1 section 2.3.3

// Key is the public key of a passkey. Two keys are the same if they are ==.
type Key struct {
	text string // as String returns it
}

// ParseKey reads the form of String, and nothing else. The error is ErrKey.
func ParseKey(text string) (Key, error) {
	kind, coded, _ := strings.Cut(text, " ")
	raw, err := base64.StdEncoding.Strict().DecodeString(coded)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrKey, err)
	}
	k, err := keyOf(kind, raw)
	if err == nil && k.text != text {
		err = fmt.Errorf("%w: the key is written in another way", ErrKey)
	}
	if err != nil {
		return Key{}, err
	}
	return k, nil
}

// NewKey returns the key of an *ecdsa.PublicKey on P-256 or an ed25519.PublicKey. The error is ErrKey.
func NewKey(public crypto.PublicKey) (Key, error) {
	switch key := public.(type) {
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return Key{}, fmt.Errorf("%w: the key is on another curve", ErrKey)
		}
		raw, err := key.Bytes()
		if err != nil {
			return Key{}, fmt.Errorf("%w: %w", ErrKey, err)
		}
		return keyOf(kindP256, raw)
	case ed25519.PublicKey:
		return keyOf(kindEd25519, key)
	}
	return Key{}, fmt.Errorf("%w: the key is of another kind", ErrKey)
}

// ReadKey reads a key as String or as PEM, SubjectPublicKeyInfo of RFC 5280, with nothing else but space around it. The
// error is ErrKey.
func ReadKey(content string) (Key, error) {
	content = strings.TrimSpace(content)
	if !strings.HasPrefix(content, "-----BEGIN ") {
		return ParseKey(content)
	}
	block, rest := pem.Decode([]byte(content))
	if block == nil || block.Type != "PUBLIC KEY" || len(block.Headers) > 0 || len(strings.TrimSpace(string(rest))) > 0 {
		return Key{}, fmt.Errorf("%w: the file has something else than one public key", ErrKey)
	}
	public, err := x509.ParsePKIXPublicKey(block.Bytes)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrKey, err)
	}
	return NewKey(public)
}

func keyOf(kind string, raw []byte) (Key, error) {
	switch {
	case kind == kindEd25519 && len(raw) == ed25519.PublicKeySize:
	case kind == kindP256 && len(raw) == p256Length:
		if _, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw); err != nil {
			return Key{}, fmt.Errorf("%w: %w", ErrKey, err)
		}
	default:
		return Key{}, fmt.Errorf("%w: the key is %.40q with %d bytes", ErrKey, kind, len(raw))
	}
	return Key{kind + " " + base64.StdEncoding.EncodeToString(raw)}, nil
}

// String returns the kind and the base64 of the key: of P-256 its uncompressed point.
func (k Key) String() string { return k.text }

// Fingerprint returns "SHA256:" and the base64 of the SHA-256 of the key's SubjectPublicKeyInfo, so that other programs
// find the same of its PEM.
func (k Key) Fingerprint() string {
	der, err := x509.MarshalPKIXPublicKey(k.public())
	if err != nil {
		panic("passkey: a key that was parsed before: " + err.Error())
	}
	sum := sha256.Sum256(der)
	return "SHA256:" + base64.RawStdEncoding.EncodeToString(sum[:])
}

func (k Key) public() crypto.PublicKey {
	kind, coded, _ := strings.Cut(k.text, " ")
	raw, err := base64.StdEncoding.DecodeString(coded)
	if err != nil {
		panic("passkey: a key that was parsed before: " + err.Error())
	}
	if kind == kindEd25519 {
		return ed25519.PublicKey(raw)
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), raw)
	if err != nil {
		panic("passkey: a key that was parsed before: " + err.Error())
	}
	return public
}

// verifies reports whether a signature over data is the key's, by the one algorithm that the key is for. ECDSA has two
// signatures for each that is made; authenticators make both, and nothing is identified by a signature.
func (k Key) verifies(data, signature []byte) bool {
	if public, is := k.public().(ed25519.PublicKey); is {
		return ed25519.Verify(public, data, signature)
	}
	digest := sha256.Sum256(data)
	return ecdsa.VerifyASN1(k.public().(*ecdsa.PublicKey), digest[:], signature)
}
