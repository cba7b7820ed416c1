// Package sshsig makes and checks signatures of SSH keys over documents, in the format SSHSIG of OpenSSH.
//
// It owns the format (PROTOCOL.sshsig of OpenSSH) and which keys count: ssh-ed25519, and sk-ssh-ed25519@openssh.com of
// a security key, which must have been touched and have verified its owner, by a PIN or otherwise. Its invariants: a
// signature belongs to one namespace, so that what was signed for one purpose is never taken for another; it has one
// spelling, except for line ends of the armor; anything other than what `ssh-keygen -Y sign` makes with such a key is
// refused. It decides nothing about whose key it is.
package sshsig

import (
	"crypto/rand"
	"crypto/sha512"
	"errors"
	"fmt"

	"golang.org/x/crypto/ssh"
)

// Errors of a signature.
var (
	ErrMalformed  = errors.New("not an SSH signature of the accepted form")
	ErrNamespace  = errors.New("the SSH signature was made for another purpose")
	ErrKey        = errors.New("this kind of SSH key is not accepted: use ssh-ed25519 or sk-ssh-ed25519@openssh.com")
	ErrNoTouch    = errors.New("the security key was not touched")
	ErrUnverified = errors.New("the security key did not verify its owner: its SSH key needs -O verify-required")
	ErrInvalid    = errors.New("the SSH signature does not verify")
)

const (
	magic   = "SSHSIG"
	version = 1
	// hash is the default of ssh-keygen. A second one would be a second spelling of the same signature.
	hash = "sha512"
	// MaxLength is more bytes than any accepted signature has in its armor.
	MaxLength = 4096
)

// wrapped is the signature without its armor, after the magic; PROTOCOL.sshsig, section 2.
type wrapped struct {
	Version   uint32
	PublicKey []byte
	Namespace string
	Reserved  string
	Hash      string
	Signature []byte
}

// signedData is what the key signs, after the magic; PROTOCOL.sshsig, section 3.
type signedData struct {
	Namespace string
	Reserved  string
	Hash      string
	Digest    []byte
}

func toSign(namespace string, message []byte) []byte {
	digest := sha512.Sum512(message)
	return append([]byte(magic), ssh.Marshal(signedData{namespace, "", hash, digest[:]})...)
}

// Sign signs a message for a namespace and returns the armored signature. The error is ErrKey, one of the signer, or
// one of Verify: a signature that would be refused is not returned.
func Sign(signer ssh.Signer, namespace string, message []byte) (string, error) {
	key, err := NewKey(signer.PublicKey())
	if err != nil {
		return "", err
	}
	if namespace == "" {
		return "", fmt.Errorf("%w: the signature needs a namespace", ErrMalformed)
	}
	made, err := signer.Sign(rand.Reader, toSign(namespace, message))
	if err != nil {
		return "", fmt.Errorf("sign with %s: %w", key, err)
	}
	text := armor(append([]byte(magic), ssh.Marshal(wrapped{version, key.blob(), namespace, "", hash,
		ssh.Marshal(made)})...))
	if _, err := Verify(text, namespace, message); err != nil {
		return "", err
	}
	return text, nil
}

// Verify checks an armored signature over a message for a namespace, and returns the key that made it. Whose key that
// is, the caller decides. The error is one of those of this package; with ErrInvalid the key is the one that is said to
// have made the signature, and did not.
func Verify(text, namespace string, message []byte) (Key, error) {
	w, err := parse(text)
	if err != nil {
		return Key{}, err
	}
	if namespace == "" || w.Namespace != namespace {
		return Key{}, fmt.Errorf("%w: the signature is for %.40q, want %q", ErrNamespace, w.Namespace, namespace)
	}
	key, err := keyOf(w.PublicKey)
	if err != nil {
		return Key{}, err
	}
	var s ssh.Signature
	if err := ssh.Unmarshal(w.Signature, &s); err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if err := key.verify(toSign(namespace, message), &s); err != nil {
		return key, err
	}
	return key, nil
}

// parse reads a signature and refuses every field that has more than one meaning.
func parse(text string) (w wrapped, err error) {
	raw, err := dearmor(text)
	if err != nil {
		return w, err
	}
	if len(raw) < len(magic) || string(raw[:len(magic)]) != magic {
		return w, fmt.Errorf("%w: the signature does not begin with %s", ErrMalformed, magic)
	}
	if err := ssh.Unmarshal(raw[len(magic):], &w); err != nil { // trailing bytes are an error
		return w, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	switch {
	case w.Version != version:
		return w, fmt.Errorf("%w: its version is %d", ErrMalformed, w.Version)
	case w.Reserved != "":
		return w, fmt.Errorf("%w: its reserved field is not empty", ErrMalformed)
	case w.Hash != hash:
		return w, fmt.Errorf("%w: its hash is %.20q, want %s", ErrMalformed, w.Hash, hash)
	}
	return w, nil
}
