package signer

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
)

const cheap = 1 // work factor of tests

func mustPassphrase(t testing.TB, text string) Passphrase {
	t.Helper()
	p, err := NewPassphrase(text)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func mustSeal(t testing.TB, text, passphrase string) []byte {
	t.Helper()
	sealed, err := SealWith(mustMnemonic(t, text), mustPassphrase(t, passphrase), cheap)
	if err != nil {
		t.Fatal(err)
	}
	return sealed
}

func TestSealOpen(t *testing.T) {
	t.Parallel()
	sealed := mustSeal(t, legal, "correct horse")
	if !bytes.HasPrefix(sealed, []byte("-----BEGIN AGE ENCRYPTED FILE-----\n")) ||
		bytes.Contains(sealed, []byte("winner")) {
		t.Errorf("the file is %s", sealed)
	}
	m, err := Open(sealed, mustPassphrase(t, "correct horse"))
	if err != nil || m.Reveal() != legal {
		t.Errorf("opened into %q, %v, want %v", m.Reveal(), err, legal)
	}
	crlf := bytes.ReplaceAll(sealed, []byte("\n"), []byte("\r\n"))
	if m, err := Open(append([]byte("\r\n\n"), append(crlf, "\n\n"...)...),
		mustPassphrase(t, "correct horse")); err != nil || m.Reveal() != legal {
		t.Errorf("a copy with other line ends opens into %q, %v, want %v", m.Reveal(), err, legal)
	}
}

func TestDefaultWorkFactor(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it takes a second of scrypt")
	}
	sealed, err := Seal(mustMnemonic(t, legal), mustPassphrase(t, "p"))
	if err != nil {
		t.Fatal(err)
	}
	if m, err := Open(sealed, mustPassphrase(t, "p")); err != nil || m.Reveal() != legal {
		t.Errorf("opened into %q, %v, want %v", m.Reveal(), err, legal)
	}
}

func TestOpenRefuses(t *testing.T) {
	t.Parallel()
	sealed := mustSeal(t, legal, "right")
	external := func(content string) []byte {
		recipient, err := age.NewScryptRecipient("right")
		if err != nil {
			t.Fatal(err)
		}
		recipient.SetWorkFactor(cheap)
		file, err := encrypt([]byte(content), recipient)
		if err != nil {
			t.Fatal(err)
		}
		return file
	}
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	toKey, err := encrypt([]byte("{}"), identity.Recipient())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name       string
		file       []byte
		passphrase string
		want       error
	}{
		{"wrong passphrase", sealed, "wrong", ErrWrongPassphrase},
		{"a space more", sealed, "right ", ErrWrongPassphrase},
		{"empty file", nil, "right", ErrSeedFile},
		{"words in the clear", []byte(legal), "right", ErrSeedFile},
		{"cut", sealed[:len(sealed)/2], "right", ErrSeedFile},
		{"too long", append(bytes.Clone(sealed), bytes.Repeat([]byte("\n"), maxSeedFile)...), "right", ErrSeedFile},
		{"something behind", append(bytes.Clone(sealed), "x"...), "right", ErrSeedFile},
		{"for a key", toKey, "right", ErrSeedFile},
		{"no JSON", external("winner"), "right", ErrSeedFile},
		{"no version", external(`{"mnemonic":"` + legal + `"}`), "right", ErrSeedFile},
		{"newer", external(`{"version":2,"mnemonic":"` + legal + `"}`), "right", ErrSeedFileVersion},
		{"bad words", external(`{"version":1,"mnemonic":"winner winner"}`), "right", ErrSeedFile},
		{"two documents", external(`{"version":1,"mnemonic":"` + legal + `"}{}`), "right", ErrSeedFile},
	}
	for _, test := range tests {
		m, err := Open(test.file, mustPassphrase(t, test.passphrase))
		if !errors.Is(err, test.want) || m.Reveal() != "" {
			t.Errorf("%s: %q, %v, want %v and %q", test.name, m.Reveal(), err, test.want, "")
		}
		if err != nil && strings.Contains(err.Error(), "winner") {
			t.Errorf("%s: the error quotes the content: %v", test.name, err)
		}
	}
	if _, err := Open(sealed, Passphrase{}); !errors.Is(err, ErrEmptyPassphrase) {
		t.Errorf("an empty passphrase: %v, want %v", err, ErrEmptyPassphrase)
	}
}

// TestOpenDamaged flips a bit of every character. The few that change nothing but white space or a line end are fine.
func TestOpenDamaged(t *testing.T) {
	t.Parallel()
	sealed, right := mustSeal(t, legal, "right"), mustPassphrase(t, "right")
	for i := range sealed {
		damaged := bytes.Clone(sealed)
		damaged[i] ^= 1
		m, err := openWith(damaged, right, 4)
		switch {
		case err == nil && m.Reveal() != legal:
			t.Fatalf("byte %d: opens into other words", i)
		case err != nil && !errors.Is(err, ErrSeedFile) && !errors.Is(err, ErrWrongPassphrase):
			t.Fatalf("byte %d: %v", i, err)
		}
		if m, err := openWith(sealed[:i], right, 4); i < len(sealed)-1 && (!errors.Is(err, ErrSeedFile) || m.Reveal() != "") {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
}

func TestSealRefuses(t *testing.T) {
	t.Parallel()
	m, p := mustMnemonic(t, legal), mustPassphrase(t, "p")
	if _, err := SealWith(m, Passphrase{}, cheap); !errors.Is(err, ErrEmptyPassphrase) {
		t.Errorf("without a passphrase: %v", err)
	}
	if _, err := SealWith(Mnemonic{}, p, cheap); !errors.Is(err, ErrWordCount) {
		t.Errorf("without words: %v", err)
	}
	for _, factor := range []int{0, -1, maxWorkFactor + 1} {
		if _, err := SealWith(m, p, factor); err == nil {
			t.Errorf("work factor %d is taken, want an error", factor)
		}
	}
}

func TestWriteSeedFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "seed.age")
	sealed := mustSeal(t, legal, "right")
	if err := WriteSeedFile(path, sealed); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Errorf("mode is %v, %v, want 0o600", info.Mode(), err)
	}
	if m, err := ReadSeedFile(path, mustPassphrase(t, "right")); err != nil || m.Reveal() != legal {
		t.Errorf("read back %q, %v, want %v", m.Reveal(), err, legal)
	}
	if err := WriteSeedFile(path, []byte("other")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("writing over it: %v, want %v", err, fs.ErrExist)
	}
	if content, err := os.ReadFile(path); err != nil || !bytes.Equal(content, sealed) {
		t.Errorf("the file changed (%v), want %x", err, sealed)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v, want 1 of them", entries, err)
	}
	if err := WriteSeedFile(filepath.Join(folder, "none", "seed.age"), sealed); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("into no folder: %v", err)
	}
	if _, err := ReadSeedFile(filepath.Join(folder, "none"), mustPassphrase(t, "right")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("from no file: %v", err)
	}
}

func TestPassphraseFrom(t *testing.T) {
	t.Parallel()
	file := func(content string) string {
		path := filepath.Join(t.TempDir(), "passphrase")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	tests := []struct {
		name, text, path, want string
		err                    error
	}{
		{name: "variable", text: " as it is\n", want: " as it is\n"},
		{name: "file", path: file("pass phrase\n"), want: "pass phrase"},
		{name: "file of Windows", path: file("pass\r\n"), want: "pass"},
		{name: "file without a newline", path: file("pass\r"), want: "pass\r"},
		{name: "two newlines", path: file("pass\n\n"), want: "pass\n"},
		{name: "none", err: ErrNoPassphrase},
		{name: "both", text: "a", path: file("b"), err: ErrTwoPassphrases},
		{name: "empty file", path: file(""), err: ErrEmptyPassphrase},
		{name: "a newline alone", path: file("\n"), err: ErrEmptyPassphrase},
		{name: "no file", path: filepath.Join(t.TempDir(), "none"), err: fs.ErrNotExist},
	}
	for _, test := range tests {
		env := map[string]string{PassphraseVariable: test.text, PassphraseFileVariable: test.path}
		p, err := PassphraseFrom(func(name string) string { return env[name] })
		if !errors.Is(err, test.err) || p.reveal() != test.want {
			t.Errorf("%s: %q, %v, want %v and %v", test.name, p.reveal(), err, test.err, test.want)
		}
	}
	for _, size := range []int{maxPassphrase + 1, 1 << 20} {
		env := map[string]string{PassphraseFileVariable: file(strings.Repeat("x", size))}
		if _, err := PassphraseFrom(func(name string) string { return env[name] }); err == nil {
			t.Errorf("a passphrase of %d bytes is taken, want an error", size)
		}
	}
}

func FuzzOpen(f *testing.F) {
	sealed := mustSeal(f, legal, "right")
	f.Add(sealed)
	f.Add(sealed[:len(sealed)-1])
	f.Add([]byte(legal))
	f.Add([]byte("-----BEGIN AGE ENCRYPTED FILE-----\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := openWith(file, mustPassphrase(t, "right"), 4)
		if err == nil && m.Reveal() != legal {
			t.Fatal("a file that nobody sealed opens")
		}
		if err != nil && !errors.Is(err, ErrSeedFile) && !errors.Is(err, ErrWrongPassphrase) {
			t.Fatalf("%v", err)
		}
	})
}

func BenchmarkOpenDefault(b *testing.B) {
	p := mustPassphrase(b, "p")
	sealed, err := Seal(mustMnemonic(b, legal), p)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Open(sealed, p); err != nil {
			b.Fatal(err)
		}
	}
}
