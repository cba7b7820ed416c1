package pins

import (
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pinned finds a version where something is installed or looked for: "anvil-1.7.1", "hardhat@2.26.3", and a text that
// is the version of one of these programs.
var pinned = regexp.MustCompile(`(?i)(anvil|bitcoind|etcd|golangci-lint|govulncheck|hardhat|litestream|litesvm|oapi-codegen)` +
	`[-@ ]v?\d+\.\d+|^v?(` + strings.ReplaceAll(strings.Join([]string{Anvil, Bitcoind, Golangci, Govulncheck, Hardhat,
	Litestream, LiteSVM, OapiCodegen}, "|"), ".", `\.`) + `)$`)

// folders are those whose sources install, look for or build something.
var folders = []string{"test", "release", "sandbox", "chain/evm/evmtest", "chain/bitcoin/bitcoindtest",
	"store/storetest"}

// TestVersionsStandHereAlone checks that no source names the version of what these pins install: two places are raised
// at two times, and then the tests look for what was not installed.
func TestVersionsStandHereAlone(t *testing.T) {
	t.Parallel()
	files := 0
	for _, folder := range folders {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && (d.Name() == "pins" || d.Name() == "node_modules") {
				if err == nil {
					err = fs.SkipDir
				}
				return err
			}
			if strings.HasSuffix(path, ".go") {
				files++
				for _, text := range written(t, path) {
					t.Errorf("%s writes the version %s, want it in test/pins alone", path, text)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 100 {
		t.Errorf("%d sources are read, want those of %q", files, folders)
	}
}

func TestAVersionIsFoundInATextAndNotInAComment(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]int{
		"package p\n\nconst a = \"anvil-" + Anvil + "\"\n":         1,
		"package p\n\nconst a = `hardhat@3.0.0`\n":                 1,
		"package p\n\nconst a = \"" + Litestream + "\"\n":          1,
		"package p\n\n// As anvil 1.7.1 does.\nconst a = 1\n":      0,
		"package p\n\nconst a = \"the address is 127.0.0.1\"\n":    0,
		"package p\n\nconst a = \"anvil-\" + pins.Anvil\n":         0,
		"package p\n\nconst a, b = \"golangci-lint 2.1\", \"x\"\n": 1,
	} {
		file := filepath.Join(t.TempDir(), "p.go")
		if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := written(t, file); len(got) != want {
			t.Errorf("%q writes %q, want %d", source, got, want)
		}
	}
}

// written returns the texts of a source that name a version.
func written(t *testing.T, path string) (found []string) {
	t.Helper()
	source, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	files := token.NewFileSet()
	var s scanner.Scanner
	s.Init(files.AddFile(path, files.Base(), len(source)), source, nil, 0)
	for {
		_, kind, text := s.Scan()
		if kind == token.EOF {
			return found
		}
		if kind == token.STRING && pinned.MatchString(strings.Trim(text, "\"`")) {
			found = append(found, text)
		}
	}
}
