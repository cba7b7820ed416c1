package console

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/go-webauthn/webauthn/webauthn"

	"github.com/bursar/bursar"
	"github.com/bursar/bursar/store"
)

// authenticator has one key, by Web Authentication Level 3.
type authenticator struct {
	private *ecdsa.PrivateKey
	person  bursar.ID
}

// keyOf returns the passkey of a person, always the same.
func keyOf(person bursar.ID) authenticator {
	d := sha256.Sum256(person[:])
	private, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), d[:])
	if err != nil {
		panic(err) // a digest is above the group's order once in 2^32
	}
	return authenticator{private, person}
}

// id is the ID of the credential.
func (k authenticator) id() []byte { return k.person[:] }

// stored returns the passkey as the service keeps it.
func (k authenticator) stored(person bursar.ID) store.Passkey {
	public := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20} // COSE, RFC 9053: EC2, ES256, P-256
	public = append(public, k.private.X.FillBytes(make([]byte, 32))...)
	public = append(append(public, 0x22, 0x58, 0x20), k.private.Y.FillBytes(make([]byte, 32))...)
	text, err := json.Marshal(webauthn.Credential{ID: k.id(), PublicKey: public})
	if err != nil {
		panic(err)
	}
	return store.Passkey{ID: k.id(), Person: person, Credential: string(text)}
}

// The flags of authenticator data.
const (
	present  = 0x01
	verified = 0x04
)

// touch is what an authenticator and a browser say.
type touch struct {
	kind, challenge, origin, host string
	flags                         byte
	spoilt                        bool
}

// signs returns the JSON of an assertion over a challenge.
func (k authenticator) signs(challenge string, change func(*touch)) string {
	t := touch{kind: "webauthn.get", challenge: challenge, origin: "http://localhost:8081", host: "localhost",
		flags: present | verified}
	if change != nil {
		change(&t)
	}
	client, err := json.Marshal(map[string]any{"type": t.kind, "challenge": t.challenge, "origin": t.origin})
	if err != nil {
		panic(err)
	}
	host := sha256.Sum256([]byte(t.host))
	data := append(slices.Clone(host[:]), t.flags, 0, 0, 0, 0)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(slices.Clone(data), hash[:]...))
	if t.spoilt {
		digest[0]++
	}
	signature, err := ecdsa.SignASN1(rand.Reader, k.private, digest[:])
	if err != nil {
		panic(err)
	}
	coded := base64.RawURLEncoding.EncodeToString
	text, err := json.Marshal(map[string]any{"id": coded(k.id()), "rawId": coded(k.id()), "type": "public-key",
		"response": map[string]string{"authenticatorData": coded(data), "clientDataJSON": coded(client),
			"signature": coded(signature), "userHandle": coded(k.person[:])}})
	if err != nil {
		panic(err)
	}
	return string(text)
}
