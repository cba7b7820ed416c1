package signer

import (
	"bytes"
	"crypto/pbkdf2"
	"crypto/sha256"
	"crypto/sha512"
	_ "embed" // for the word list
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// english is the English word list of BIP 39 (bitcoin/bips, bip-0039/english.txt), 2048 words in alphabetical order.
// Its SHA-256 is 2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda.
//
//go:embed english.txt
var english string

// Errors of a mnemonic. None of them quotes a word: a misspelt one is nearly the secret.
var (
	ErrWordCount   = errors.New("a mnemonic has 12, 15, 18, 21 or 24 words")
	ErrUnknownWord = errors.New("the word is not in the English list of BIP 39")
	ErrChecksum    = errors.New("the words' checksum does not match: one of them is wrong, or two are swapped")
)

const (
	newEntropy  = 32  // bytes; 24 words
	bitsPerWord = 11  // 2048 words
	maxText     = 512 // bytes of a mnemonic: 24 words have at most 215
)

// Mnemonic is a seed in words, after BIP 39: always valid, in lower case, with single spaces. It never prints itself.
type Mnemonic struct {
	redacted
	text vault[[]byte]
}

// NewMnemonic creates 24 words from 256 bits of randomness.
func NewMnemonic(random io.Reader) (Mnemonic, error) {
	entropy := make([]byte, newEntropy)
	defer clear(entropy)
	if _, err := io.ReadFull(random, entropy); err != nil {
		return Mnemonic{}, fmt.Errorf("read randomness for a mnemonic: %w", err)
	}
	return fromEntropy(entropy), nil
}

// ParseMnemonic parses words in either case with any white space between. The error is ErrWordCount, ErrUnknownWord
// with the word's position, or ErrChecksum.
func ParseMnemonic(text string) (Mnemonic, error) {
	if len(text) > maxText {
		return Mnemonic{}, ErrWordCount
	}
	words := strings.Fields(strings.ToLower(text))
	if len(words) < 12 || len(words) > 24 || len(words)%3 != 0 {
		return Mnemonic{}, fmt.Errorf("%w, this has %d", ErrWordCount, len(words))
	}
	entropy, err := entropyOf(words)
	if err != nil {
		return Mnemonic{}, err
	}
	defer clear(entropy)
	m := fromEntropy(entropy)
	if m.Reveal() != strings.Join(words, " ") {
		m.Wipe()
		return Mnemonic{}, ErrChecksum
	}
	return m, nil
}

// entropyOf returns the bits of the words without the checksum, which is one bit for every 32.
func entropyOf(words []string) ([]byte, error) {
	list := strings.Fields(english)
	packed := make([]byte, (len(words)*bitsPerWord+7)/8)
	for i, word := range words {
		index, found := slices.BinarySearch(list, word)
		if !found {
			return nil, fmt.Errorf("word %d of %d: %w", i+1, len(words), ErrUnknownWord)
		}
		for bit := range bitsPerWord {
			if index>>(bitsPerWord-1-bit)&1 == 1 {
				at := i*bitsPerWord + bit
				packed[at/8] |= 0x80 >> (at % 8)
			}
		}
	}
	return packed[:len(words)/3*4], nil
}

// fromEntropy encodes 16 to 32 bytes, a multiple of four, as words with their checksum.
func fromEntropy(entropy []byte) Mnemonic {
	sum := sha256.Sum256(entropy)
	stream := append(bytes.Clone(entropy), sum[0])
	defer clear(stream)
	list := strings.Fields(english)
	var text []byte
	for i := range len(entropy) * 3 / 4 {
		index := 0
		for bit := range bitsPerWord {
			at := i*bitsPerWord + bit
			index = index<<1 | int(stream[at/8]>>(7-at%8)&1)
		}
		if i > 0 {
			text = append(text, ' ')
		}
		text = append(text, list[index]...)
	}
	return Mnemonic{text: conceal(&text)}
}

// Reveal returns the words in the clear, to be shown to the operator at creation and for nothing else.
func (m Mnemonic) Reveal() string {
	if text := m.text.open(); text != nil {
		return string(*text)
	}
	return ""
}

// Seed returns the 64 bytes of BIP 39, stretched with an optional passphrase of the wallet (not the seed file's); the
// service itself uses an empty one. The caller clears them. The zero Mnemonic has no seed: the result is then an error.
func (m Mnemonic) Seed(passphrase string) ([]byte, error) {
	text := m.Reveal()
	if text == "" {
		return nil, ErrWordCount
	}
	salt := []byte("mnemonic" + norm.NFKD.String(passphrase))
	seed, err := pbkdf2.Key(sha512.New, text, salt, 2048, 64)
	if err != nil {
		return nil, fmt.Errorf("stretch the mnemonic: %w", err)
	}
	return seed, nil
}

// Wipe overwrites the words as far as Go allows: strings made from them cannot be cleared.
func (m Mnemonic) Wipe() {
	if text := m.text.open(); text != nil {
		clear(*text)
		*text = nil
	}
}
