package passkey

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
)

// FromBrowser reads an assertion as browsers write it: AuthenticationResponseJSON of Web Authentication Level 3,
// section 5.1. It names no key: By finds that. The error is ErrMalformed.
func FromBrowser(text string) (a Assertion, err error) {
	var made struct {
		Response struct {
			AuthenticatorData string `json:"authenticatorData"`
			ClientDataJSON    string `json:"clientDataJSON"`
			Signature         string `json:"signature"`
		} `json:"response"`
	}
	if len(text) > 4*MaxLength {
		return a, fmt.Errorf("%w: the assertion has more than %d bytes", ErrMalformed, 4*MaxLength)
	}
	if err := json.Unmarshal([]byte(text), &made); err != nil {
		return a, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	parts := []string{made.Response.AuthenticatorData, made.Response.ClientDataJSON, made.Response.Signature}
	for i, to := range []*[]byte{&a.AuthenticatorData, &a.ClientDataJSON, &a.Signature} {
		if *to, err = base64.RawURLEncoding.DecodeString(parts[i]); err != nil || parts[i] == "" {
			return Assertion{}, fmt.Errorf("%w: a part is missing, or not in base64", ErrMalformed)
		}
	}
	return a, nil
}

// By returns the assertion with the one of some keys that signed it; false: none of them did. Nothing else of it is
// checked.
func (a Assertion) By(keys []Key) (Assertion, bool) {
	hash := sha256.Sum256(a.ClientDataJSON)
	signed := append(slices.Clone(a.AuthenticatorData), hash[:]...)
	for _, key := range keys {
		if key.verifies(signed, a.Signature) {
			a.Key = key
			return a, true
		}
	}
	return Assertion{}, false
}
