package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bursar/bursar/signer"
)

// Doctor says that a token no longer opens the seed file, while the passphrase still does.
func TestDoctorLooksAtWhatOpensTheSeedFile(t *testing.T) {
	t.Parallel()
	const check = "seed file"
	d := newSeededHarness(t)
	found, _ := d.findings()
	if f, is := found[check]; is {
		t.Errorf("of a file with a passphrase alone doctor finds %+v, want nothing", f)
	}
	path := filepath.Join(d.dir, "seed.age")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sealed, err := signer.ParseSealed(content)
	if err != nil {
		t.Fatal(err)
	}
	secret, err := signer.NewPassphrase(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	opened, err := sealed.Open(signer.Openers{Passphrase: secret})
	if err != nil {
		t.Fatal(err)
	}
	sealed, err = sealed.Add(opened, signer.Way{Name: "hsm", Kind: signer.KindToken},
		func(string) (string, error) { return "eA==", nil })
	if err != nil {
		t.Fatal(err)
	}
	next, err := sealed.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	if err := signer.ReplaceSeedFile(path, content, next); err != nil {
		t.Fatal(err)
	}
	found, _ = d.findings()
	f := found[check]
	if f.Result != resultWarning || !strings.Contains(f.Detail, "hsm: signer.token_command is not configured") ||
		!strings.Contains(f.Advice, "docs/operations/seed.md") {
		t.Errorf("doctor finds %+v, want a warning of the way hsm", f)
	}
}
