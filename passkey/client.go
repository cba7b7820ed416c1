package passkey

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"unicode/utf8"
)

// Origin is where a page is served from that asks passkeys to sign. The zero Origin is none.
type Origin struct {
	text string
}

// ParseOrigin reads an origin as browsers write it: https, a name in small letters, and a port that is not 443; http
// for localhost alone, which browsers take for safe too.
func ParseOrigin(text string) (Origin, error) {
	u, err := url.Parse(text)
	if err != nil || u.Host == "" {
		return Origin{}, fmt.Errorf("%.100q is no origin, such as https://console.example.com", text)
	}
	local := u.Hostname() == "localhost"
	usual := map[string]string{"https": "443", "http": "80"}[u.Scheme]
	switch {
	case u.Scheme != "https" && (u.Scheme != "http" || !local):
		return Origin{}, fmt.Errorf("the origin %.100q is not https", text)
	case u.Port() == usual, u.Scheme+"://"+u.Host != text, strings.ToLower(text) != text, strings.HasSuffix(text, ":"):
		return Origin{}, fmt.Errorf("%.100q is not written as browsers write an origin", text)
	case strings.ContainsFunc(text, func(c rune) bool { return c <= ' ' || c > '~' }):
		return Origin{}, fmt.Errorf("the origin %.100q has other characters than printable ASCII", text)
	}
	return Origin{text}, nil
}

// String returns the origin.
func (o Origin) String() string { return o.text }

// Host returns the origin's host, to which its passkeys are bound: their relying party.
func (o Origin) Host() string {
	u, err := url.Parse(o.text)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// authenticatorData is what an authenticator says in an assertion; Web Authentication Level 3, section 6.1.
type authenticatorData struct {
	site              [sha256.Size]byte
	present, verified bool
	counter           uint32
}

// The flags of authenticator data, and its length without what only a registration or an extension has.
const (
	flagPresent   = 0x01
	flagVerified  = 0x04
	flagEligible  = 0x08
	flagBackedUp  = 0x10
	flagKey       = 0x40
	flagExtension = 0x80

	dataLength = sha256.Size + 1 + 4
)

// parseAuthenticatorData reads what an assertion without extensions has, and refuses a key or CBOR behind it: nothing
// of that is asked for, so nothing of it is read.
func parseAuthenticatorData(raw []byte) (d authenticatorData, err error) {
	if len(raw) != dataLength {
		return d, fmt.Errorf("%w: its authenticator data has %d bytes, want %d", ErrMalformed, len(raw), dataLength)
	}
	flags := raw[sha256.Size]
	if flags&(flagKey|flagExtension) != 0 || flags&flagBackedUp != 0 && flags&flagEligible == 0 {
		return d, fmt.Errorf("%w: its flags are %#02x", ErrMalformed, flags)
	}
	copy(d.site[:], raw)
	d.present, d.verified = flags&flagPresent != 0, flags&flagVerified != 0
	d.counter = binary.BigEndian.Uint32(raw[sha256.Size+1:])
	return d, nil
}

// clientData is what a browser says; Web Authentication Level 3, section 5.8.1.
type clientData struct {
	challenge, origin string
}

// parseClientData reads one JSON object whose members each have one meaning. Members that nobody knows are passed over,
// as browsers add some; the signature is over all of them.
func parseClientData(raw []byte) (c clientData, err error) {
	members, err := membersOf(raw)
	if err != nil {
		return c, fmt.Errorf("%w: its client data: %w", ErrMalformed, err)
	}
	var kind string
	for name, to := range map[string]*string{"type": &kind, "challenge": &c.challenge, "origin": &c.origin} {
		if value := members[name]; len(value) == 0 || value[0] != '"' || json.Unmarshal(value, to) != nil {
			return c, fmt.Errorf("%w: its client data has no text %s", ErrMalformed, name)
		}
	}
	if kind != "webauthn.get" {
		return c, fmt.Errorf("%w: the client data is a %.40q, want webauthn.get", ErrOther, kind)
	}
	// A page that another page frames shows what that one lets through.
	if cross, there := members["crossOrigin"]; there && string(cross) != "false" {
		return c, fmt.Errorf("%w: the assertion was made in a frame of another page", ErrSite)
	}
	if _, there := members["topOrigin"]; there {
		return c, fmt.Errorf("%w: the assertion was made in a frame of another page", ErrSite)
	}
	return c, nil
}

// membersOf returns the members of a JSON object that stands alone, each once.
func membersOf(raw []byte) (map[string]json.RawMessage, error) {
	if !utf8.Valid(raw) || !bytes.HasPrefix(raw, []byte("{")) || !bytes.HasSuffix(raw, []byte("}")) {
		return nil, errors.New("the client data is not one JSON object")
	}
	members := map[string]json.RawMessage{}
	decoder := json.NewDecoder(bytes.NewReader(raw))
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return nil, err
		}
		key, is := name.(string)
		if _, twice := members[key]; !is || twice {
			return nil, fmt.Errorf("the member %.40q is there twice", name)
		}
		var value json.RawMessage
		if err := decoder.Decode(&value); err != nil {
			return nil, err
		}
		members[key] = value
	}
	if _, err := decoder.Token(); err != nil {
		return nil, err
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the JSON object")
	}
	return members, nil
}
