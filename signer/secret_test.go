package signer

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

// holder has secrets where fmt finds them without calling their methods.
type holder struct {
	Mnemonic   Mnemonic
	mnemonic   Mnemonic
	passphrase Passphrase
	keys       *Keys
	byValue    Keys
	signer     *Signer
	list       []Mnemonic
	table      map[string]Passphrase
}

func TestNothingSecretIsPrinted(t *testing.T) {
	t.Parallel()
	b := newHarness(t, nil)
	m, p := mustMnemonic(t, legal), mustPassphrase(t, "correct horse")
	values := map[string]any{
		"mnemonic": m, "mnemonic pointer": &m, "passphrase": p, "passphrase pointer": &p,
		"keys": b.keys, "keys by value": *b.keys, "signer": b.signer, "signer by value": *b.signer,
	}
	secrets := knownSecrets(t, b.keys)
	if text, err := m.MarshalText(); err != nil || string(text) != hidden || m.String() != hidden ||
		p.GoString() != hidden {
		t.Errorf("as text a mnemonic is %s (%v), %s, a passphrase %s, want %v", text, err, m.String(), p.GoString(), hidden)
	}
	for name, value := range values {
		for verb, text := range printed(t, value) {
			if !strings.Contains(text, hidden) {
				t.Errorf("%s with %s is %.200q, want %v in it", name, verb, text, hidden)
			}
			wantNone(t, name+" with "+verb, text, secrets)
		}
	}
	h := holder{m, m, p, b.keys, *b.keys, b.signer, []Mnemonic{m}, map[string]Passphrase{"p": p}}
	for verb, text := range printed(t, h) {
		wantNone(t, "a struct with "+verb, text, secrets)
	}
	for verb, text := range printed(t, &h) {
		wantNone(t, "a pointer to a struct with "+verb, text, secrets)
	}
}

// printed formats a value in every way that a log, an error or a response might.
func printed(t *testing.T, value any) map[string]string {
	t.Helper()
	texts := map[string]string{"error": fmt.Errorf("with %v", value).Error(), "print": fmt.Sprint(value)}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%X", "%q", "%d"} {
		texts[verb] = fmt.Sprintf(verb, value)
	}
	var text, structured bytes.Buffer
	slog.New(slog.NewTextHandler(&text, nil)).Info("secret", "value", value)
	slog.New(slog.NewJSONHandler(&structured, nil)).Info("secret", "value", value, slog.Group("group", "value", value))
	encoded, err := json.Marshal(map[string]any{"value": value})
	if err != nil {
		t.Fatal(err)
	}
	texts["slog text"], texts["slog JSON"], texts["JSON"] = text.String(), structured.String(), string(encoded)
	return texts
}

// knownSecrets returns the secrets, in the forms in which fmt would write them.
func knownSecrets(t *testing.T, keys *Keys) []string {
	t.Helper()
	seed, err := mustMnemonic(t, legal).Seed("")
	if err != nil {
		t.Fatal(err)
	}
	secrets := []string{"winner", "correct horse", hex.EncodeToString([]byte("winner")),
		hex.EncodeToString([]byte("horse"))}
	raw := [][]byte{seed, keys.secret.open().webhook[:]}
	for _, tree := range keys.secret.open().trees {
		raw = append(raw, tree.key[:], tree.code[:])
	}
	for _, scalars := range keys.secret.open().private {
		scalar := scalars[0].Bytes()
		raw = append(raw, scalar[:])
		// as fmt would print the number's inside
		secrets = append(secrets, strings.Fields(strings.Trim(fmt.Sprintf("%d", scalars[0]), "{[]}"))...)
	}
	for _, b := range raw {
		decimal := strings.Trim(fmt.Sprint(b[:4]), "[]")
		secrets = append(secrets, hex.EncodeToString(b[:8]), decimal)
	}
	return secrets
}

func wantNone(t *testing.T, what, text string, secrets []string) {
	t.Helper()
	for _, secret := range secrets {
		if strings.Contains(strings.ToLower(text), secret) {
			t.Errorf("%s shows %q in %.300q", what, secret, text)
		}
	}
}
