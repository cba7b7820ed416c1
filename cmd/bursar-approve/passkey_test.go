package main

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/passkey/passkeytest"
)

// A public key from anywhere gives one line and one fingerprint, and anything else none.
func TestAPasskeysLine(t *testing.T) {
	t.Parallel()
	a, file := passkeytest.New(t, 2), filepath.Join(t.TempDir(), "key")
	der, err := x509.MarshalPKIXPublicKey(a.Public())
	if err != nil {
		t.Fatal(err)
	}
	line := "passkey: " + a.Key().String() + "\n"
	for content, want := range map[string]int{
		string(pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})): 0,
		a.Key().String():                    0,
		"":                                  1,
		"ssh-ed25519 AAAA":                  1,
		a.Key().String() + "\nanother line": 1,
		strings.Replace(line, "passkey: p", "x", 1): 1,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		var out, says bytes.Buffer
		s := &session{stdin: bufio.NewReader(strings.NewReader("")), out: &out, err: &says,
			getenv: func(string) string { return "" }}
		code := run(t.Context(), s, []string{"passkey", file})
		if code != want || want == 0 && (out.String() != line || !strings.Contains(says.String(), a.Key().Fingerprint())) {
			t.Errorf("of %q: got %d, %q, %q, want %d and its line", content, code, out.String(), says.String(), want)
		}
	}
}
