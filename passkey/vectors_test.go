package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"os"
	"strings"
	"testing"
)

// The vectors of Web Authentication Level 3 are read as it reads them, as far as they are of a kind that counts here.
func TestVectorsOfWebAuthentication(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/webauthn-level-3.txt")
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]error{
		"16.2": ErrUnverified, "16.3": ErrUnverified, "16.4": ErrSite, "16.5": ErrSite, "16.6": nil, "16.7": nil,
		"16.10": ErrKey, "16.11": ErrUnverified, "16.16": ErrUnverified,
	}
	site, err := ParseOrigin("https://example.org")
	if err != nil {
		t.Fatal(err)
	}
	blocks := strings.Split(strings.TrimSpace(string(content)), "\n\n")[1:]
	for _, block := range blocks {
		lines := strings.Split(block, "\n")
		var parts [5][]byte
		for i := range parts {
			if parts[i], err = hex.DecodeString(lines[i+1]); err != nil {
				t.Fatal(err)
			}
		}
		a := Assertion{AuthenticatorData: parts[2], ClientDataJSON: parts[3], Signature: parts[4]}
		a.Key, err = keyOfCOSE(parts[0])
		if err == nil {
			var said Said
			said, err = a.check(site, [sha256.Size]byte(parts[1]))
			if err == nil && said.Key != a.Key {
				t.Errorf("section %s: got the key %v, want %v", lines[0], said.Key, a.Key)
			}
		}
		if !errors.Is(err, want[lines[0]]) {
			t.Errorf("section %s: got %v, want %v", lines[0], err, want[lines[0]])
		}
		// The bare signature of each is right.
		hash := sha256.Sum256(parts[3])
		if a.Key != (Key{}) && !a.Key.verifies(append(bytes.Clone(parts[2]), hash[:]...), parts[4]) {
			t.Errorf("section %s: the bare signature does not verify", lines[0])
		}
	}
	if len(blocks) != len(want) {
		t.Errorf("got %d vectors, want %d", len(blocks), len(want))
	}
}

// keyOfCOSE reads the two forms of RFC 9053 that the vectors have.
func keyOfCOSE(cose []byte) (Key, error) {
	begin := []byte{0xa5, 0x01, 0x02, 0x03, 0x26, 0x20, 0x01, 0x21, 0x58, 0x20}
	if x, is := bytes.CutPrefix(cose, begin); is && len(x) == 32+3+32 {
		return keyOf(kindP256, append(append([]byte{4}, x[:32]...), x[35:]...))
	}
	if x, is := bytes.CutPrefix(cose, []byte{0xa4, 0x01, 0x01, 0x03, 0x27, 0x20, 0x06, 0x21, 0x58, 0x20}); is {
		return ParseKey(kindEd25519 + " " + base64.StdEncoding.EncodeToString(x))
	}
	return Key{}, ErrKey
}

func FuzzParse(f *testing.F) {
	f.Add(header + "\n" + footer + "\n")
	f.Fuzz(func(t *testing.T, text string) {
		if a, err := Parse(text); err == nil && a.Text() != text {
			t.Errorf("got %q, want %q", a.Text(), text)
		}
	})
}
