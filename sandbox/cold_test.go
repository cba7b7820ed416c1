package main

import (
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A sandbox with cold wallets starts the service with one on each chain that can refill, of a seed beside its own, and
// with the same ones at the next start. TestRefillsWithBothPrograms refills from two others.
func TestColdWalletsOfTheSandbox(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "new")
	listed := regexp.MustCompile(`(?m)^ +([a-z]+): \{cold: \{vault: \{kind: ([a-z]+).*?addresses: \["([^"]+)"\]`)
	var before []string
	for range 2 {
		_, end := begin(t, "--json", "--cold", "--data", dir, "--chains", "litecoin,ethereum,tron,solana")
		if err := end(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(dir, "bursar.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		var kinds, found []string
		for _, m := range listed.FindAllStringSubmatch(string(text), -1) {
			kinds, found = append(kinds, m[1]+" "+m[2]), append(found, m[3])
		}
		want := []string{"litecoin descriptor", "ethereum address", "tron address", "solana nonce"}
		if !slices.Equal(kinds, want) {
			t.Errorf("got cold wallets %v, want %v: %s", kinds, want, text)
		}
		if before != nil && !slices.Equal(found, before) {
			t.Errorf("got addresses %v at the next start, want %v", found, before)
		}
		before = found
	}
	for _, name := range []string{"seed.age", "hot.json", "passphrase", "bursar.yaml"} {
		if info, err := os.Stat(filepath.Join(dir, coldDir, name)); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%s: got %v, %v, want a file that only its owner reads", name, info, err)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, coldDir, "bursar.yaml"))
	if err != nil || !strings.Contains(string(text), "chain_id: ") || !strings.Contains(string(text), "USDT: {contract") {
		t.Errorf("the offline machine's configuration is %s (%v), want the chain's number and tokens", text, err)
	}
	if err := run(t.Context(), append(slices.Clone(anyPort), "--cold"), io.Discard, io.Discard); err == nil ||
		!strings.Contains(err.Error(), "needs --data") {
		t.Errorf("without a data directory: got %v, want a refusal", err)
	}
}
