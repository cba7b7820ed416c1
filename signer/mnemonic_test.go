package signer

import (
	"bytes"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cosmos/go-bip39"
	"pgregory.net/rapid"
)

const (
	twelve = "abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon abandon about"
	legal  = "legal winner thank year wave sausage worth useful legal winner thank yellow"
)

func TestWordList(t *testing.T) {
	t.Parallel()
	sum := sha256.Sum256([]byte(english))
	if got := hex.EncodeToString(sum[:]); got != "2f5eed53a4727b4bf8880d8f3f199efc90e58503646d9ff8eff3a2ed3b24dbda" {
		t.Errorf("the word list's SHA-256 is %s", got)
	}
	if list := strings.Fields(english); len(list) != 2048 || !slices.IsSorted(list) {
		t.Errorf("%d words, sorted %v", len(list), slices.IsSorted(list))
	}
}

func TestParseMnemonic(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, text, want string
		err              error
	}{
		{name: "plain", text: legal, want: legal},
		{name: "spaces and capitals",
			text: "  Legal\twinner thank\n\nYEAR wave sausage worth useful legal winner thank yellow\r\n", want: legal},
		{name: "empty", err: ErrWordCount},
		{name: "eleven", text: strings.TrimSuffix(legal, " yellow"), err: ErrWordCount},
		{name: "thirteen", text: legal + " yellow", err: ErrWordCount},
		{name: "nine", text: strings.Repeat("abandon ", 9), err: ErrWordCount},
		{name: "27", text: strings.Repeat("abandon ", 27), err: ErrWordCount},
		{name: "endless", text: strings.Repeat("abandon ", 1000), err: ErrWordCount},
		{name: "unknown", text: strings.Replace(legal, "year", "yaer", 1), err: ErrUnknownWord},
		{name: "prefix", text: strings.Replace(legal, "sausage", "saus", 1), err: ErrUnknownWord},
		{name: "last word wrong", text: strings.TrimSuffix(legal, "yellow") + "zoo", err: ErrChecksum},
		{name: "swapped", text: strings.Replace(legal, "thank year", "year thank", 1), err: ErrChecksum},
		{name: "separated by commas", text: strings.ReplaceAll(legal, " ", ","), err: ErrWordCount},
	}
	for _, test := range tests {
		m, err := ParseMnemonic(test.text)
		if !errors.Is(err, test.err) || m.Reveal() != test.want {
			t.Errorf("%s: %q, %v, want %v and %v", test.name, m.Reveal(), err, test.err, test.want)
		}
	}
	_, err := ParseMnemonic(strings.Replace(legal, "year", "yaer", 1))
	if err == nil || !strings.Contains(err.Error(), "word 4 of 12") || strings.Contains(err.Error(), "yaer") {
		t.Errorf("error is %v, want the position and not the word", err)
	}
}

func TestNewMnemonic(t *testing.T) {
	t.Parallel()
	one, err := NewMnemonic(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewMnemonic(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(one.Reveal())); n != 24 || one.Reveal() == other.Reveal() {
		t.Errorf("%d words, equal %v", n, one.Reveal() == other.Reveal())
	}
	if again := mustMnemonic(t, one.Reveal()); again.Reveal() != one.Reveal() {
		t.Error("a new mnemonic does not parse into itself")
	}
	if m, err := NewMnemonic(bytes.NewReader(make([]byte, 31))); err == nil || m.Reveal() != "" {
		t.Errorf("a mnemonic was made from too little randomness, want an error and %q", "")
	}
}

func TestMnemonicWipe(t *testing.T) {
	t.Parallel()
	m := mustMnemonic(t, legal)
	text, clone := *m.text.open(), m
	m.Wipe()
	if clone.Reveal() != "" || bytes.ContainsFunc(text, func(r rune) bool { return r != 0 }) {
		t.Error("words are left after Wipe")
	}
	if _, err := clone.Seed(""); !errors.Is(err, ErrWordCount) {
		t.Errorf("a wiped mnemonic has a seed (%v), want %v", err, ErrWordCount)
	}
	if _, err := (Mnemonic{}).Seed(""); !errors.Is(err, ErrWordCount) {
		t.Errorf("the zero mnemonic has a seed (%v), want %v", err, ErrWordCount)
	}
	Mnemonic{}.Wipe()
}

// TestSeedNormalises uses one passphrase in two spellings of Unicode (NFC and NFD), which BIP 39 makes equal.
func TestSeedNormalises(t *testing.T) {
	t.Parallel()
	m := mustMnemonic(t, legal)
	composed, _ := m.Seed("caf\u00e9")
	decomposed, _ := m.Seed("cafe\u0301")
	plain, _ := m.Seed("cafe")
	if len(composed) != 64 || !bytes.Equal(composed, decomposed) || bytes.Equal(composed, plain) {
		t.Error("the passphrase is not normalised to NFKD")
	}
}

func TestMnemonicAgainstOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{16, 20, 24, 28, 32}).Draw(t, "size")
		entropy := rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "entropy")
		want, err := bip39.NewMnemonic(entropy)
		if err != nil {
			t.Fatal(err)
		}
		m := fromEntropy(entropy)
		if m.Reveal() != want {
			t.Fatalf("%x gives %q, want %q", entropy, m.Reveal(), want)
		}
		passphrase := rapid.StringMatching(`[ -~]{0,12}`).Draw(t, "passphrase")
		seed, err := m.Seed(passphrase)
		if err != nil || !bytes.Equal(seed, bip39.NewSeed(want, passphrase)) {
			t.Fatalf("%q with %q gives seed %x (%v)", want, passphrase, seed, err)
		}
	})
}

// TestValidityAgainstOracle exchanges one word, which keeps the checksum right once in 16 to 256 times.
func TestValidityAgainstOracle(t *testing.T) {
	t.Parallel()
	list := strings.Fields(english)
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{16, 20, 24, 28, 32}).Draw(t, "size")
		words := strings.Fields(fromEntropy(rapid.SliceOfN(rapid.Byte(), size, size).Draw(t, "entropy")).Reveal())
		words[rapid.IntRange(0, len(words)-1).Draw(t, "at")] = rapid.SampledFrom(list).Draw(t, "word")
		text := strings.Join(words, " ")
		_, err := ParseMnemonic(text)
		_, oracle := bip39.MnemonicToByteArray(text)
		if (err == nil) != (oracle == nil) || err != nil && !errors.Is(err, ErrChecksum) {
			t.Fatalf("%q: %v, the oracle says %v", text, err, oracle)
		}
	})
}

func FuzzParseMnemonic(f *testing.F) {
	f.Add(twelve)
	f.Add(legal)
	f.Add(strings.Repeat("zoo ", 23) + "vote")
	f.Add(strings.Replace(legal, "year", "y\u00e9ar", 1))
	f.Add("\u212aangaroo \x00 \xff")
	f.Fuzz(func(t *testing.T, text string) {
		m, err := ParseMnemonic(text)
		if err != nil {
			if m.Reveal() != "" {
				t.Fatalf("words beside an error, want %q", "")
			}
			return
		}
		again, err := ParseMnemonic(m.Reveal())
		if err != nil || again.Reveal() != m.Reveal() || !bip39.IsMnemonicValid(m.Reveal()) {
			t.Fatalf("%q is not what it parses into", text)
		}
	})
}
