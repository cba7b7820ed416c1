package operator_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"slices"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"github.com/bursar/bursar/operator"
)

// authenticator is a key of a passkey, which answers challenges as a browser does (Web Authentication Level 3).
type authenticator struct {
	key    *ecdsa.PrivateKey
	id     []byte
	handle string
	origin string
	flags  byte // user present 1, user verified 4
}

func newAuthenticator(t *testing.T) *authenticator {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return &authenticator{key: key, id: []byte(rand.Text()), origin: origin, flags: 5}
}

func encoded(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// challenge reads what a ceremony asks for.
func challenge(t *testing.T, started operator.Challenge) (text, user string) {
	t.Helper()
	raw, err := json.Marshal(started.Options)
	if err != nil {
		t.Fatal(err)
	}
	var options struct {
		Challenge string `json:"challenge"`
		User      struct {
			ID string `json:"id"`
		} `json:"user"`
	}
	if err := json.Unmarshal(raw, &options); err != nil || options.Challenge == "" {
		t.Fatalf("options %s: %v, want not %q", raw, err, "")
	}
	return options.Challenge, options.User.ID
}

func (a *authenticator) client(kind, challenge string) []byte {
	text, _ := json.Marshal(map[string]any{"type": kind, "challenge": challenge, "origin": a.origin, "crossOrigin": false})
	return text
}

func (a *authenticator) data(flags byte) []byte {
	party := sha256.Sum256([]byte("console.example"))
	return append(append(party[:], flags), 0, 0, 0, 0)
}

func (a *authenticator) answer(response map[string]string) []byte {
	text, _ := json.Marshal(map[string]any{"id": encoded(a.id), "rawId": encoded(a.id), "type": "public-key",
		"response": response})
	return text
}

// made answers a challenge to make a passkey.
func (a *authenticator) made(t *testing.T, started operator.Challenge) []byte {
	t.Helper()
	asked, user := challenge(t, started)
	a.handle = user
	public, err := a.key.PublicKey.ECDH()
	if err != nil {
		t.Fatal(err)
	}
	point := public.Bytes()
	cose, err := cbor.Marshal(map[int]any{1: 2, 3: -7, -1: 1, -2: point[1:33], -3: point[33:]})
	if err != nil {
		t.Fatal(err)
	}
	data := append(a.data(a.flags|0x40), make([]byte, 16)...)
	data = append(binary.BigEndian.AppendUint16(data, uint16(len(a.id))), a.id...)
	object, err := cbor.Marshal(map[string]any{"fmt": "none", "attStmt": map[string]any{},
		"authData": append(data, cose...)})
	if err != nil {
		t.Fatal(err)
	}
	return a.answer(map[string]string{"clientDataJSON": encoded(a.client("webauthn.create", asked)),
		"attestationObject": encoded(object)})
}

// signed answers a challenge to sign in.
func (a *authenticator) signed(t *testing.T, started operator.Challenge) []byte {
	t.Helper()
	asked, _ := challenge(t, started)
	client, data := a.client("webauthn.get", asked), a.data(a.flags)
	hash := sha256.Sum256(client)
	digest := sha256.Sum256(append(slices.Clone(data), hash[:]...))
	signature, err := ecdsa.SignASN1(rand.Reader, a.key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return a.answer(map[string]string{"clientDataJSON": encoded(client), "authenticatorData": encoded(data),
		"signature": encoded(signature), "userHandle": a.handle})
}
