package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	yamlBlock = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	nextFile  = regexp.MustCompile(`(?m)^# [a-z]+\.yaml.*$`) // a comment that starts another file within a block
)

// TestDocumentedConfigurationsAreRead loads every configuration in the documents, as it is written there.
func TestDocumentedConfigurationsAreRead(t *testing.T) {
	t.Parallel()
	documents, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	loaded := 0
	pages, err := filepath.Glob("../docs/operations/*.md")
	if err != nil || len(pages) < 8 {
		t.Fatalf("%d pages of chains, %v, want at least 8", len(pages), err)
	}
	for _, path := range slices.Concat(documents, pages, []string{"../README.md"}) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			for _, shown := range nextFile.Split(block[1], -1) {
				if strings.TrimSpace(shown) == "" || strings.Contains(shown, "scrape_configs:") { // a configuration of Prometheus
					continue
				}
				if !strings.Contains(shown, "chains:") { // part of a file
					shown += "chains: {bsc: {rpc: \"http://127.0.0.1:8545\"}}\n"
				}
				file := filepath.Join(t.TempDir(), "bursar.yaml")
				if err := os.WriteFile(file, []byte(shown), 0o600); err != nil {
					t.Fatal(err)
				}
				if _, err := Load(file, nil); err != nil {
					t.Errorf("%s shows a configuration that is refused: %v\n%s", path, err, shown)
				}
				loaded++
			}
		}
	}
	if loaded < 16 {
		t.Errorf("only %d configurations are found", loaded)
	}
}

// TestEveryKeyIsDocumented compares the table of docs/operations.md with the keys that are read.
func TestEveryKeyIsDocumented(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("../docs/operations.md")
	if err != nil {
		t.Fatal(err)
	}
	paths := fixedPaths()
	for _, key := range chainKeys() {
		paths = append(paths, append([]string{chainsKey, "<chain>"}, strings.Split(key, ".")...))
	}
	for _, key := range currencyKeys() {
		paths = append(paths, []string{currenciesKey, "<code>", key})
	}
	for _, key := range keysOf(feedSettings) {
		paths = append(paths, []string{pricesKey, feedsKey, "<name>", key})
	}
	for _, key := range keysOf(receiverSettings) {
		paths = append(paths, []string{noticesKey, receiversKey, "<name>", key})
	}
	for _, key := range []string{staticKey, pointersKey} {
		paths = append(paths, []string{ratesKey, key, "<code>"})
	}
	if len(paths) < 30 {
		t.Fatalf("only %d keys are known", len(paths))
	}
	for _, path := range paths {
		row := "| `" + strings.Join(path, ".") + "` | `" + variablePrefix + variable(path...) + "` | "
		if !strings.Contains(string(text), row) {
			t.Errorf("docs/operations.md has no row that begins with %s", row)
		}
	}
}
