package orderkey_test

import (
	"bytes"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"strings"
	"testing"

	"github.com/bursar/bursar/client"
	"github.com/bursar/bursar/orderkey"
)

const text = "bursar-order/1\ninstance: X\n"

func keys(t *testing.T) map[string]crypto.Signer {
	t.Helper()
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return map[string]crypto.Signer{"ed25519": ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)), "P-256": p256}
}

// The client signs with code of its own: what it signs, this package verifies, and nothing else.
func TestWhatTheClientSignsVerifies(t *testing.T) {
	t.Parallel()
	for kind, private := range keys(t) {
		key, err := orderkey.New(private.Public())
		if err != nil {
			t.Fatal(err)
		}
		header, err := client.SignOrder(private, text)
		if err != nil {
			t.Fatal(err)
		}
		s, err := orderkey.ParseSignature(header)
		if err != nil || s.String() != header {
			t.Fatalf("%s: got %s, %v, want %s", kind, s, err, header)
		}
		if id, err := client.OrderKeyID(private.Public()); err != nil || id != key.ID() || s.KeyID != id ||
			key.Kind() != kind {
			t.Errorf("%s: got the ID %s, %v of a %s, want %s", kind, id, err, key.Kind(), key.ID())
		}
		other := s
		other.Bytes[40] ^= 1
		elsewhere := s
		elsewhere.KeyID = strings.Repeat("0", 32)
		for name, test := range map[string]struct {
			text      string
			signature orderkey.Signature
			want      error
		}{
			"as signed":           {text, s, nil},
			"another line end":    {strings.ReplaceAll(text, "\n", "\r\n"), s, orderkey.ErrInvalid},
			"a byte more":         {text + "\n", s, orderkey.ErrInvalid},
			"another signature":   {text, other, orderkey.ErrInvalid},
			"zeros":               {text, orderkey.Signature{KeyID: s.KeyID}, orderkey.ErrInvalid},
			"another key's name":  {text, elsewhere, orderkey.ErrInvalid},
			"nothing was signed?": {"", s, orderkey.ErrInvalid},
		} {
			if err := key.Verify(test.text, test.signature); !errors.Is(err, test.want) {
				t.Errorf("%s, %s: got %v, want %v", kind, name, err, test.want)
			}
		}
	}
	if err := (orderkey.Key{}).Verify(text, orderkey.Signature{}); !errors.Is(err, orderkey.ErrKey) {
		t.Errorf("the zero key: got %v, want %v", err, orderkey.ErrKey)
	}
}

func TestAKeyHasOneSpelling(t *testing.T) {
	t.Parallel()
	for kind, private := range keys(t) {
		der, err := x509.MarshalPKIXPublicKey(private.Public())
		if err != nil {
			t.Fatal(err)
		}
		file := string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}))
		want, err := orderkey.ParsePEM(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, same := range []string{want.String(), want.String() + "\n"} {
			if got, err := orderkey.ParsePEM(same); err != nil || got != want {
				t.Errorf("%s: got %s, %v, want %s", kind, got, err, want)
			}
		}
		for name, other := range map[string]string{
			"no padding":   strings.TrimRight(want.String(), "=") + "A",
			"a line break": want.String()[:20] + "\n" + want.String()[20:],
			"a byte more":  base64.StdEncoding.EncodeToString(append(bytes.Clone(der), 0)),
			"two keys":     file + file,
			"private":      strings.ReplaceAll(file, "PUBLIC", "PRIVATE"),
			"nothing":      "",
		} {
			if got, err := orderkey.ParsePEM(other); !errors.Is(err, orderkey.ErrKey) {
				t.Errorf("%s, %s: got %s, %v, want %v", kind, name, got, err, orderkey.ErrKey)
			}
		}
	}
}

func TestOtherKeysAreRefused(t *testing.T) {
	t.Parallel()
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := orderkey.New(p384.Public()); !errors.Is(err, orderkey.ErrKey) {
		t.Errorf("P-384: got %v, want %v", err, orderkey.ErrKey)
	}
	// With a point of order 4 as its key, this signature fits one text in four.
	weak, err := hex.DecodeString("0000000000000000000000000000000000000000000000000000000000000000")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := orderkey.New(ed25519.PublicKey(weak)); !errors.Is(err, orderkey.ErrKey) {
		t.Errorf("a point of order 4: got %v, want %v", err, orderkey.ErrKey)
	}
}

func TestOtherFormsOfSignaturesAreRefused(t *testing.T) {
	t.Parallel()
	good := strings.Repeat("a", 32) + ":" + base64.StdEncoding.EncodeToString(make([]byte, 64))
	if _, err := orderkey.ParseSignature(good); err != nil {
		t.Fatal(err)
	}
	for name, other := range map[string]string{
		"nothing":          "",
		"no key":           good[33:],
		"capitals":         strings.ToUpper(good[:32]) + good[32:],
		"a short ID":       good[1:],
		"no padding":       strings.TrimRight(good, "="),
		"bits too many":    strings.TrimSuffix(good, "A==") + "B==",
		"a space":          good + " ",
		"a line break":     good[:60] + "\n" + good[60:],
		"a byte more":      good[:33] + base64.StdEncoding.EncodeToString(make([]byte, 65)),
		"two":              good + "," + good,
		"another alphabet": good[:33] + strings.Repeat("-", 86) + "==",
	} {
		if got, err := orderkey.ParseSignature(other); !errors.Is(err, orderkey.ErrSignature) {
			t.Errorf("%s: got %v, %v, want %v", name, got, err, orderkey.ErrSignature)
		}
	}
}

func FuzzParseSignature(f *testing.F) {
	f.Add(strings.Repeat("a", 32) + ":" + base64.StdEncoding.EncodeToString(make([]byte, 64)))
	f.Fuzz(func(t *testing.T, header string) {
		if s, err := orderkey.ParseSignature(header); err == nil && s.String() != header {
			t.Errorf("got %q, want %q", s, header)
		}
	})
}
