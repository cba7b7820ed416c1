package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The signature is what docs/operations/releases.md says: minisign believes it with the public key, and neither with
// another one nor for other digests. The Makefile hands the key over.
func TestTheDigestsAreSigned(t *testing.T) {
	t.Parallel()
	need(t, "minisign", "make")
	folder := t.TempDir()
	in := func(name string) string { return filepath.Join(folder, name) }
	for _, name := range []string{"ours", "other"} { // -W: without a password, which would be asked for
		prints(t, "minisign", "-G", "-W", "-p", in(name+".pub"), "-s", in(name+".key"))
	}
	b := builder{at: moment}
	if err := os.WriteFile(in("program"), []byte("a"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := b.sums(folder, []string{"program"}); err != nil {
		t.Fatal(err)
	}
	if err := sign(t.Context(), folder, in("ours.key")); err != nil {
		t.Fatal(err)
	}
	believed := func(key string) bool {
		return exec.CommandContext(t.Context(), "minisign", "-V", "-p", in(key), "-m", in(sumsFile)).Run() == nil
	}
	if !believed("ours.pub") || believed("other.pub") {
		t.Errorf("minisign believes it: %v, and with another key: %v, want true and false", believed("ours.pub"),
			believed("other.pub"))
	}
	sums, err := os.ReadFile(in(sumsFile))
	if err != nil {
		t.Fatal(err)
	}
	sums[0] ^= 1
	if err := os.WriteFile(in(sumsFile), sums, 0o600); err != nil {
		t.Fatal(err)
	}
	if believed("ours.pub") {
		t.Error("minisign believes other digests, want not")
	}
	if err := sign(t.Context(), folder, in("none.key")); err == nil {
		t.Error("a key that is not there signs, want an error")
	}
	for target, want := range map[string]string{
		"release":          "go run ./release -packages -out dist -key my.key",
		"release-binaries": "go run ./release -out dist -key my.key",
	} {
		got := strings.TrimSpace(prints(t, "make", "-n", "-C", "..", "--no-print-directory", target, "KEY=my.key"))
		if got != want {
			t.Errorf("make %s runs %q, want %q", target, got, want)
		}
	}
}
