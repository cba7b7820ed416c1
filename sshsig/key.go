package sshsig

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"strings"

	"golang.org/x/crypto/ssh"
)

// Key is a public key of an accepted kind. Two keys are the same if they are ==.
type Key struct {
	wire string // the key as RFC 4253, section 6.6, has it
}

// NewKey returns a key of an accepted kind, or ErrKey.
func NewKey(public ssh.PublicKey) (Key, error) { return keyOf(public.Marshal()) }

func keyOf(blob []byte) (Key, error) {
	public, err := ssh.ParsePublicKey(blob)
	if err != nil {
		return Key{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if kind := public.Type(); kind != ssh.KeyAlgoED25519 && kind != ssh.KeyAlgoSKED25519 {
		return Key{}, fmt.Errorf("%w: the key is %s", ErrKey, kind)
	}
	if !bytes.Equal(public.Marshal(), blob) {
		return Key{}, fmt.Errorf("%w: a key in another spelling", ErrMalformed)
	}
	if public.Type() == ssh.KeyAlgoSKED25519 {
		err = madeForSSH(blob)
	}
	return Key{string(blob)}, err
}

// madeForSSH refuses a security key's credential that was made for something else, such as for a web site; PROTOCOL.u2f
// of OpenSSH, section "SSH U2F Key formats".
func madeForSSH(blob []byte) error {
	var key struct {
		Kind        string
		Public      []byte
		Application string
	}
	if err := ssh.Unmarshal(blob, &key); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	if !strings.HasPrefix(key.Application, "ssh:") {
		return fmt.Errorf("%w: its application is %.40q, want ssh:", ErrKey, key.Application)
	}
	return nil
}

// ParseKey reads the form of String, and nothing else: no comment, no options. The error is ErrMalformed or ErrKey.
func ParseKey(text string) (Key, error) {
	kind, coded, _ := strings.Cut(text, " ")
	blob, err := base64.StdEncoding.Strict().DecodeString(coded)
	if err != nil {
		return Key{}, fmt.Errorf("%w: a key is its kind, a space and base64", ErrMalformed)
	}
	k, err := keyOf(blob)
	if err == nil && (k.Kind() != kind || k.String() != text) {
		return Key{}, fmt.Errorf("%w: a key in another spelling", ErrMalformed)
	}
	return k, err
}

// String returns the kind and the base64 of the key, as authorized_keys has it.
func (k Key) String() string { return k.Kind() + " " + base64.StdEncoding.EncodeToString(k.blob()) }

// Kind returns the kind of the key: ssh-ed25519 or sk-ssh-ed25519@openssh.com.
func (k Key) Kind() string {
	if k.wire == "" {
		return ""
	}
	return k.public().Type()
}

// Fingerprint returns what `ssh-keygen -l` shows.
func (k Key) Fingerprint() string { return ssh.FingerprintSHA256(k.public()) }

// Hardware reports whether the private key is in a security key.
func (k Key) Hardware() bool { return k.Kind() == ssh.KeyAlgoSKED25519 }

func (k Key) blob() []byte { return []byte(k.wire) }

func (k Key) public() ssh.PublicKey {
	public, err := ssh.ParsePublicKey(k.blob())
	if err != nil {
		panic("sshsig: a key that was parsed before: " + err.Error())
	}
	return public
}

// Flags of a security key's signature; PROTOCOL.u2f of OpenSSH, section "SSH U2F Signatures", after the authenticator
// data of CTAP 2.
const (
	flagPresent  = 0x01 // it was touched
	flagVerified = 0x04 // it verified its owner, by a PIN or otherwise
)

// skDetails is what a security key adds to its signature. The counter is not kept: it helps against a copied key only,
// and every authenticator counts differently.
type skDetails struct {
	Flags   byte
	Counter uint32
}

// verify checks a signature over data. The flags of a security key are part of what it signed.
func (k Key) verify(data []byte, s *ssh.Signature) error {
	if s.Format != k.Kind() {
		return fmt.Errorf("%w: a signature of kind %.40q by a key of kind %s", ErrMalformed, s.Format, k.Kind())
	}
	if !k.Hardware() {
		if len(s.Rest) != 0 {
			return fmt.Errorf("%w: trailing bytes", ErrMalformed)
		}
		return invalid(k.public().Verify(data, s))
	}
	var d skDetails
	if err := ssh.Unmarshal(s.Rest, &d); err != nil {
		return fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	switch {
	case d.Flags&flagPresent == 0:
		return ErrNoTouch
	case d.Flags&flagVerified == 0:
		return ErrUnverified
	}
	return invalid(k.public().Verify(data, s))
}

func invalid(err error) error {
	if err != nil {
		return fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	return nil
}
