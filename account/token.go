package account

import (
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"strings"
)

// The text forms of keys and secrets: a prefix by which scanners for leaked credentials can recognise them, and the
// base64url of the random bytes.
const (
	keyPrefix    = "bk_"
	secretPrefix = "bs_"
	tokenBytes   = 32
	hintLength   = len(keyPrefix) + 5
)

var tokenLength = len(keyPrefix) + base64.RawURLEncoding.EncodedLen(tokenBytes)

func drawToken(random io.Reader, prefix string) (string, error) {
	var raw [tokenBytes]byte
	if _, err := io.ReadFull(random, raw[:]); err != nil {
		return "", fmt.Errorf("draw a key: %w", err)
	}
	return prefix + base64.RawURLEncoding.EncodeToString(raw[:]), nil
}

// isToken reports whether a text may be a key, so that any other text costs no look-up.
func isToken(text, prefix string) bool {
	return len(text) == tokenLength && strings.HasPrefix(text, prefix)
}

func hash(token string) [32]byte { return sha256.Sum256([]byte(token)) }

// hint returns the first characters: enough to distinguish the keys of an account, far too few to guess the rest.
func hint(token string) string { return token[:hintLength] }
