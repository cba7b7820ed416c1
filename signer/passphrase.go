package signer

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// The environment variables that carry the seed file's passphrase.
const (
	PassphraseVariable     = "BURSAR_PASSPHRASE"
	PassphraseFileVariable = "BURSAR_PASSPHRASE_FILE"
)

const maxPassphrase = 4096 // bytes

// Errors of reading a passphrase.
var (
	ErrEmptyPassphrase = errors.New("the passphrase is empty")
	ErrNoPassphrase    = errors.New("no passphrase is given: set BURSAR_PASSPHRASE_FILE to the file that holds it, or " +
		"BURSAR_PASSPHRASE")
	ErrTwoPassphrases = errors.New("BURSAR_PASSPHRASE and BURSAR_PASSPHRASE_FILE are both set: set one of them")
)

// Passphrase opens a seed file. It never prints itself, and its bytes are taken as they are, without any normalisation.
type Passphrase struct {
	redacted
	text vault[string]
}

// NewPassphrase wraps a passphrase. The error is ErrEmptyPassphrase for an empty one.
func NewPassphrase(text string) (Passphrase, error) {
	if text == "" {
		return Passphrase{}, ErrEmptyPassphrase
	}
	if len(text) > maxPassphrase {
		return Passphrase{}, fmt.Errorf("the passphrase has %d bytes: at most %d are allowed", len(text), maxPassphrase)
	}
	return Passphrase{text: conceal(&text)}, nil
}

func (p Passphrase) reveal() string {
	if text := p.text.open(); text != nil {
		return *text
	}
	return ""
}

// PassphraseFrom reads the passphrase from the environment: from BURSAR_PASSPHRASE, or from the file that
// BURSAR_PASSPHRASE_FILE names, without one newline at its end. The error is ErrNoPassphrase, ErrTwoPassphrases,
// ErrEmptyPassphrase or one of reading the file.
func PassphraseFrom(getenv func(string) string) (Passphrase, error) {
	text, path := getenv(PassphraseVariable), getenv(PassphraseFileVariable)
	switch {
	case text != "" && path != "":
		return Passphrase{}, ErrTwoPassphrases
	case text != "":
		return NewPassphrase(text)
	case path != "":
		return passphraseIn(path)
	}
	return Passphrase{}, ErrNoPassphrase
}

func passphraseIn(path string) (Passphrase, error) {
	file, err := os.Open(path)
	if err != nil {
		return Passphrase{}, fmt.Errorf("read the passphrase: %w", err)
	}
	const newline = 2 // bytes at most
	content, err := io.ReadAll(io.LimitReader(file, maxPassphrase+newline+1))
	defer clear(content)
	if err = errors.Join(err, file.Close()); err != nil {
		return Passphrase{}, fmt.Errorf("read the passphrase: %w", err)
	}
	text, terminated := strings.CutSuffix(string(content), "\n")
	if terminated {
		text = strings.TrimSuffix(text, "\r") // a lone carriage return would be part of the passphrase
	}
	passphrase, err := NewPassphrase(text)
	if err != nil {
		return Passphrase{}, fmt.Errorf("read the passphrase from %s: %w", path, err)
	}
	return passphrase, nil
}
