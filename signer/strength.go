package signer

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"filippo.io/age/armor"
)

// What a passphrase needs: characters, and different ones. Sixteen letters at random have 75 bits, and six words drawn
// by dice from the 7776 of EFF's long list 77; with the seed file's work factor each guess takes most of a second.
const (
	strongLength    = 16
	strongDifferent = 8
)

// ErrWeakPassphrase is the error of Strong.
var ErrWeakPassphrase = errors.New("the passphrase is weak: it needs at least 16 characters, 8 of them different; " +
	"six words drawn by dice are good")

// Strong returns ErrWeakPassphrase for a passphrase that is too short to protect a seed. It cannot see whether the
// passphrase is known to others.
func (p Passphrase) Strong() error {
	seen, length := map[rune]bool{}, 0
	for _, r := range p.reveal() {
		seen[r] = true
		length++
	}
	if length < strongLength || len(seen) < strongDifferent {
		return ErrWeakPassphrase
	}
	return nil
}

// IsSandboxs reports whether the passphrase is that of the sandbox, which everybody knows.
func (p Passphrase) IsSandboxs() bool { return p.reveal() == "sandbox" }

// WorkFactor returns the work factor of a sealed seed, from its header: the line "-> scrypt SALT FACTOR" of
// age-encryption.org/v1. The error is ErrSeedFile.
func WorkFactor(sealed []byte) (int, error) {
	lines := bufio.NewScanner(armor.NewReader(bytes.NewReader(sealed)))
	for n := 0; n < 2 && lines.Scan(); n++ {
		fields := strings.Fields(lines.Text())
		if len(fields) == 4 && fields[0] == "->" && fields[1] == "scrypt" {
			factor, err := strconv.Atoi(fields[3])
			if err != nil {
				return 0, fmt.Errorf("read the work factor: %w", ErrSeedFile)
			}
			return factor, nil
		}
	}
	return 0, fmt.Errorf("read the work factor: %w", ErrSeedFile)
}
