package passkey

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"strings"
)

// The form of an assertion that is kept: its parts in base64, each with its length before it, in an armor.
const (
	header = "-----BEGIN PASSKEY ASSERTION-----"
	footer = "-----END PASSKEY ASSERTION-----"
	width  = 70
	magic  = "BURSAR-PASSKEY-1"

	// MaxLength is more bytes than any accepted assertion has in its armor.
	MaxLength = 4096
)

// Assertion is what an authenticator and a browser made, with the key that is said to have signed it.
type Assertion struct {
	Key               Key
	AuthenticatorData []byte
	ClientDataJSON    []byte
	Signature         []byte
}

// Said is what an assertion that verified says beside that.
type Said struct {
	Key     Key
	Counter uint32 // how often the passkey had signed; 0: it does not count
}

// Is reports whether a text begins as the assertion of a passkey does, and not as another signature.
func Is(text string) bool { return strings.HasPrefix(text, header) }

// Challenge returns what a passkey signs for a text: SHA-256 of the namespace, a zero byte and the text.
func Challenge(namespace, text string) [sha256.Size]byte {
	return sha256.Sum256([]byte(namespace + "\x00" + text))
}

// Text returns the one form in which an assertion is kept.
func (a Assertion) Text() string {
	raw := []byte(magic)
	for _, part := range [][]byte{[]byte(a.Key.text), a.AuthenticatorData, a.ClientDataJSON, a.Signature} {
		raw = binary.BigEndian.AppendUint16(raw, uint16(min(len(part), MaxLength)))
		raw = append(raw, part...)
	}
	coded := base64.StdEncoding.EncodeToString(raw)
	var text strings.Builder
	text.WriteString(header + "\n")
	for len(coded) > width {
		text.WriteString(coded[:width] + "\n")
		coded = coded[width:]
	}
	text.WriteString(coded + "\n" + footer + "\n")
	return text.String()
}

// Parse reads the form of Text, and nothing else. The error is ErrMalformed, or ErrKey.
func Parse(text string) (a Assertion, err error) {
	if len(text) > MaxLength {
		return a, fmt.Errorf("%w: the assertion has more than %d bytes", ErrMalformed, MaxLength)
	}
	body, begins := strings.CutPrefix(text, header+"\n")
	body, ends := strings.CutSuffix(body, footer+"\n")
	raw, err := base64.StdEncoding.Strict().DecodeString(strings.ReplaceAll(body, "\n", ""))
	if !begins || !ends || err != nil || !strings.HasPrefix(string(raw), magic) {
		return a, fmt.Errorf("%w: the assertion is not in its armor", ErrMalformed)
	}
	raw = raw[len(magic):]
	var parts [4][]byte
	for i := range parts {
		if len(raw) < 2 || len(raw) < 2+int(binary.BigEndian.Uint16(raw)) {
			return a, fmt.Errorf("%w: the assertion ends too early", ErrMalformed)
		}
		n := 2 + int(binary.BigEndian.Uint16(raw))
		parts[i], raw = raw[2:n], raw[n:]
	}
	if a.Key, err = ParseKey(string(parts[0])); err != nil {
		return Assertion{}, err
	}
	a.AuthenticatorData, a.ClientDataJSON, a.Signature = parts[1], parts[2], parts[3]
	if len(raw) > 0 || a.Text() != text {
		return Assertion{}, fmt.Errorf("%w: the assertion is not in canonical form", ErrMalformed)
	}
	return a, nil
}

// Verify checks an assertion over a text for a purpose, made at an origin; Web Authentication Level 3, section 7.2.
// With ErrInvalid the key is the one that is said to have made it, and did not. Whether the counter goes on from where
// it was is for the caller, who knows where it was.
func Verify(assertion string, origin Origin, namespace, text string) (Said, error) {
	a, err := Parse(assertion)
	if err != nil {
		return Said{}, err
	}
	if namespace == "" {
		return Said{}, fmt.Errorf("%w: the purpose is missing", ErrOther)
	}
	return a.check(origin, Challenge(namespace, text))
}

// check checks an assertion over a challenge.
func (a Assertion) check(origin Origin, challenge [sha256.Size]byte) (Said, error) {
	data, err := parseAuthenticatorData(a.AuthenticatorData)
	if err != nil {
		return Said{}, err
	}
	client, err := parseClientData(a.ClientDataJSON)
	if err != nil {
		return Said{}, err
	}
	hash := sha256.Sum256(a.ClientDataJSON)
	if !a.Key.verifies(append(append([]byte{}, a.AuthenticatorData...), hash[:]...), a.Signature) {
		return Said{Key: a.Key}, ErrInvalid
	}
	switch {
	case client.challenge != base64.RawURLEncoding.EncodeToString(challenge[:]):
		return Said{}, fmt.Errorf("%w: its challenge is not of this text and purpose", ErrOther)
	case origin.text == "" || client.origin != origin.text:
		return Said{}, fmt.Errorf("%w: the assertion is for %.100q, want %q", ErrSite, client.origin, origin.text)
	case data.site != sha256.Sum256([]byte(origin.Host())):
		return Said{}, fmt.Errorf("%w: its relying party is not %s", ErrSite, origin.Host())
	case !data.present:
		return Said{}, ErrAbsent
	case !data.verified:
		return Said{}, ErrUnverified
	}
	return Said{Key: a.Key, Counter: data.counter}, nil
}
