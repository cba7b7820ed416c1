package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	gethLine = regexp.MustCompile(`(?m)^geth (?:[^\n\\]|\\\n)*`)
	longFlag = regexp.MustCompile(`--([a-z.]+)`)
	flagName = regexp.MustCompile(`Name:\s+"([a-z.]+)"`)
)

// onlyBSC are flags of bsc 1.8.2 that go-ethereum does not have (bnb-chain/bsc, cmd/utils/flags.go).
const onlyBSC = " pruneancient "

// The command lines of geth in the documents have only flags that go-ethereum of the version in go.mod declares. bsc is
// a fork of it, which keeps them.
func TestGethKnowsWhatTheDocumentsStart(t *testing.T) {
	t.Parallel()
	found, err := exec.CommandContext(t.Context(), "go", "list", "-m", "-f", "{{.Dir}}",
		"github.com/ethereum/go-ethereum").Output()
	if err != nil {
		t.Fatal(err)
	}
	dir := strings.TrimSpace(string(found))
	known := map[string]bool{}
	for _, place := range []string{"cmd/utils/*.go", "cmd/geth/*.go", "internal/debug/*.go"} {
		files, err := filepath.Glob(filepath.Join(dir, place))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s of go-ethereum: %d files, %v, want some", place, len(files), err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range flagName.FindAllStringSubmatch(string(text), -1) {
				known[name[1]] = true
			}
		}
	}
	for page, least := range map[string]int{"ethereum.md": 8, "bsc.md": 9} {
		text, err := os.ReadFile("../docs/operations/" + page)
		if err != nil {
			t.Fatal(err)
		}
		flags := longFlag.FindAllStringSubmatch(gethLine.FindString(string(text)), -1)
		if len(flags) < least {
			t.Errorf("%s starts geth with %d flags, want at least %d", page, len(flags), least)
		}
		inSentences := regexp.MustCompile("`--([a-z.]+)[ `]").FindAllStringSubmatch(string(text), -1)
		for _, flag := range append(flags, inSentences...) {
			if name := flag[1]; !known[name] && !strings.Contains(onlyBSC, " "+name+" ") {
				t.Errorf("%s names --%s, which go-ethereum does not declare", page, name)
			}
		}
	}
}
