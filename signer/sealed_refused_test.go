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

func TestContainersThatAreRefused(t *testing.T) {
	t.Parallel()
	s, _, device := several(t)
	file, err := s.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	change := func(old, new string) []byte {
		if !bytes.Contains(file, []byte(old)) {
			t.Fatalf("the file does not hold %q", old)
		}
		return bytes.Replace(file, []byte(old), []byte(new), 1)
	}
	for name, test := range map[string]struct {
		file []byte
		want error
	}{
		"cut":              {file[:len(file)/2], ErrSeedFile},
		"something behind": {append(bytes.Clone(file), "{}"...), ErrSeedFile},
		"newer":            {change(`"version": 2`, `"version": 3, "new": 1`), ErrSeedFileVersion},
		"older":            {change(`"version": 2`, `"version": 1`), ErrSeedFile},
		"an unknown field": {change(`"version": 2`, `"version": 2, "winner": 1`), ErrSeedFile},
		"an unknown kind":  {change(`"kind": "tpm"`, `"kind": "winner"`), ErrSeedFile},
		"two of a name":    {change(`"name": "machine"`, `"name": "recovery"`), ErrSeedFile},
		"a name":           {change(`"name": "machine"`, `"name": "a\u001b"`), ErrSeedFile},
		"nothing sealed":   {change(`"seed": "`, `"seed": "", "winner": "`), ErrSeedFile},
		"too long":         {append(bytes.Clone(file), bytes.Repeat([]byte(" "), maxSeedFile)...), ErrSeedFile},
		"without ways":     {[]byte(`{"version":2,"ways":[],"seed":"x"}`), ErrSeedFile},
		"words":            {[]byte(`{"version":2,"mnemonic":"` + legal + `"}`), ErrSeedFile},
	} {
		if _, err := ParseSealed(test.file); !errors.Is(err, test.want) || strings.Contains(err.Error(), "winner") {
			t.Errorf("%s: %v, want %v", name, err, test.want)
		}
	}
	other, _, _ := several(t)
	mixed := Sealed{ways: s.ways, seed: other.seed}
	if _, err := mixed.Open(device); !errors.Is(err, ErrSeedFile) {
		t.Errorf("the seed of another file: %v, want %v", err, ErrSeedFile)
	}
}

func TestTheLowestWorkFactorIsFound(t *testing.T) {
	t.Parallel()
	s, _, device := several(t)
	opened, err := s.Open(device)
	if err != nil {
		t.Fatal(err)
	}
	if s, err = s.Add(opened, Way{Name: "more", Kind: KindPassphrase},
		ToPassphrase(mustPassphrase(t, "x"), 3)); err != nil {
		t.Fatal(err)
	}
	if got, has := s.LowestWorkFactor(); got != cheap || !has {
		t.Errorf("it is %d, %v, want %d", got, has, cheap)
	}
	if s, err = s.Remove("passphrase"); err != nil {
		t.Fatal(err)
	}
	if got, has := s.LowestWorkFactor(); got != 3 || !has {
		t.Errorf("it is %d, %v, want 3", got, has)
	}
}

func TestReplaceSeedFile(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	path := filepath.Join(folder, "seed.age")
	if err := WriteSeedFile(path, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceSeedFile(path, []byte("another"), []byte("two")); !errors.Is(err, ErrChanged) {
		t.Errorf("a file that was changed meanwhile: %v, want %v", err, ErrChanged)
	}
	if err := os.WriteFile(path+".new", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceSeedFile(path, []byte("one"), []byte("two")); !errors.Is(err, ErrChanging) ||
		!strings.Contains(err.Error(), path+".new") {
		t.Errorf("beside another command: %v, want %v", err, ErrChanging)
	}
	if content, err := os.ReadFile(path); err != nil || string(content) != "one" {
		t.Errorf("the file holds %q, %v, want what it held", content, err)
	}
	if err := os.Remove(path + ".new"); err != nil {
		t.Fatal(err)
	}
	if err := ReplaceSeedFile(path, []byte("one"), []byte("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if content, read := os.ReadFile(path); err != nil || read != nil || string(content) != "two" || info.Mode() != 0o600 {
		t.Errorf("the file holds %q with mode %v, %v, want two with 0600", content, info.Mode(), errors.Join(err, read))
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v, want nothing", entries, err)
	}
	if err := ReplaceSeedFile(filepath.Join(folder, "none"), nil, []byte("x")); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("of no file: %v, want %v", err, fs.ErrNotExist)
	}
	if entries, err := os.ReadDir(folder); err != nil || len(entries) != 1 {
		t.Errorf("left behind after a failure: %v, %v, want nothing", entries, err)
	}
}

func FuzzParseSealed(f *testing.F) {
	s, _, device := several(f)
	file, err := s.Bytes()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(file)
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, file []byte) {
		s, err := ParseSealed(file)
		if err != nil {
			return
		}
		if got, err := s.Open(device); err == nil && got.Mnemonic.Reveal() != legal {
			t.Fatal("a file that nobody sealed opens")
		}
	})
}

// oldIdentity opens testdata/seed-2.txt.
const oldIdentity = "AGE-SECRET-KEY-1W7UJYR6EPAY64P2TNMR4XZ4FX9XZ06EJDQ4U3X3V80JQE8RTPVJSJU47RN"

// Files that earlier versions wrote open for ever.
func TestOldSeedFilesOpen(t *testing.T) {
	t.Parallel()
	key, err := age.ParseX25519Identity(oldIdentity)
	if err != nil {
		t.Fatal(err)
	}
	right := Openers{Passphrase: mustPassphrase(t, "right")}
	for name, ways := range map[string][]Openers{"seed-1.txt": {right},
		"seed-2.txt": {right, {Identities: []age.Identity{key}}}} {
		file, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		for i, with := range ways {
			if got, err := parsed(t, file).Open(with); err != nil || got.Mnemonic.Reveal() != legal {
				t.Errorf("%s by way %d: %v, want the seed", name, i, err)
			}
		}
	}
}
