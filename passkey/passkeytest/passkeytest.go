// Package passkeytest simulates an authenticator for tests, which signs whatever it is asked to.
//
// It owns its keys, which are the same for the same seed, and never refuses.
package passkeytest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"testing"

	"github.com/bursar/bursar/passkey"
)

// The flags of authenticator data.
const (
	Present  = 0x01
	Verified = 0x04
)

// Origin is where the authenticator's keys are for, unless a test says otherwise.
const Origin = "https://console.example.com"

// Authenticator has one key.
type Authenticator struct {
	signer crypto.Signer
	key    passkey.Key
}

// New returns the authenticator of a seed, with a key on P-256, or where the seed is odd on Ed25519.
func New(t testing.TB, seed byte) Authenticator {
	t.Helper()
	secret := sha256.Sum256([]byte{'p', seed})
	var a Authenticator
	if seed%2 == 1 {
		a.signer = ed25519.NewKeyFromSeed(secret[:])
	} else {
		private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), secret[:])
		if err != nil {
			t.Fatal(err)
		}
		a.signer = private
	}
	var err error
	if a.key, err = passkey.NewKey(a.signer.Public()); err != nil {
		t.Fatal(err)
	}
	return a
}

// Key returns the public key.
func (a Authenticator) Key() passkey.Key { return a.key }

// Public returns the public key as the library has it.
func (a Authenticator) Public() crypto.PublicKey { return a.signer.Public() }

// Touch is what an authenticator and a browser say, as a test may change it.
type Touch struct {
	Flags     byte
	Counter   uint32
	Site      string // the relying party
	Kind      string
	Challenge string
	Origin    string
	More      string // members behind those of the client data
	Client    []byte // the whole client data; nil: it is made of the above
	Data      []byte // behind the authenticator data
}

// Assert signs a text for a purpose, as a browser at Origin does when its owner is there and was verified.
func (a Authenticator) Assert(t testing.TB, namespace, text string, changes ...func(*Touch)) passkey.Assertion {
	t.Helper()
	challenge := passkey.Challenge(namespace, text)
	touch := Touch{Flags: Present | Verified, Site: "console.example.com", Kind: "webauthn.get",
		Challenge: base64.RawURLEncoding.EncodeToString(challenge[:]), Origin: Origin, More: `,"crossOrigin":false`}
	for _, change := range changes {
		change(&touch)
	}
	if touch.Client == nil {
		touch.Client = fmt.Appendf(nil, `{"type":"%s","challenge":"%s","origin":"%s"%s}`, touch.Kind, touch.Challenge,
			touch.Origin, touch.More)
	}
	site := sha256.Sum256([]byte(touch.Site))
	data := append(site[:], touch.Flags)
	data = append(binary.BigEndian.AppendUint32(data, touch.Counter), touch.Data...)
	made := passkey.Assertion{Key: a.key, AuthenticatorData: data, ClientDataJSON: touch.Client}
	made.Signature = a.sign(t, data, touch.Client)
	return made
}

func (a Authenticator) sign(t testing.TB, data, client []byte) []byte {
	t.Helper()
	hash := sha256.Sum256(client)
	signed := append(append([]byte{}, data...), hash[:]...)
	options := crypto.SignerOpts(crypto.Hash(0))
	if _, is := a.signer.(*ecdsa.PrivateKey); is {
		digest := sha256.Sum256(signed)
		signed, options = digest[:], crypto.SHA256
	}
	signature, err := a.signer.Sign(rand.Reader, signed, options)
	if err != nil {
		t.Fatal(err)
	}
	return signature
}
