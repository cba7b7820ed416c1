package signer

import (
	"errors"
	"testing"
)

func TestWeakPassphrases(t *testing.T) {
	t.Parallel()
	for text, weak := range map[string]bool{"x": true, "sandbox": true, "correct horse": true,
		"aaaaaaaaaaaaaaaaaaaaaaaa": true,
		"abcabcabcabcabcabcabc":    true, "correct horse battery staple": false, "Zq3!vB8@kL5#nM2x": false} {
		err := mustPassphrase(t, text).Strong()
		if errors.Is(err, ErrWeakPassphrase) != weak {
			t.Errorf("%q: %v, want %v", text, err, weak)
		}
	}
}

func TestTheWorkFactorIsRead(t *testing.T) {
	t.Parallel()
	sealed, err := SealWith(mustMnemonic(t, legal), mustPassphrase(t, "x"), 7)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := WorkFactor(sealed); err != nil || got != 7 {
		t.Errorf("it is %d, %v, want 7", got, err)
	}
	if _, err := WorkFactor([]byte("nothing sealed")); !errors.Is(err, ErrSeedFile) {
		t.Errorf("of another file: %v, want %v", err, ErrSeedFile)
	}
}
