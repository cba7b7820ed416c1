package config

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
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
	for _, path := range slices.Concat(documents, pages, []string{"../README.md", "../examples/README.md"}) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range yamlBlock.FindAllStringSubmatch(string(text), -1) {
			for _, shown := range nextFile.Split(block[1], -1) {
				if strings.Contains(shown, "scrape_configs:") {
					prometheusReads(t, shown)
					continue
				}
				if strings.TrimSpace(shown) == "" {
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

// prometheusReads checks a configuration of Prometheus: it scrapes where the service has its metrics, and reads rules
// that are there.
func prometheusReads(t *testing.T, shown string) {
	t.Helper()
	var read struct {
		ScrapeConfigs []struct {
			JobName       string                       `yaml:"job_name"`
			StaticConfigs []struct{ Targets []string } `yaml:"static_configs"`
		} `yaml:"scrape_configs"`
		RuleFiles []string `yaml:"rule_files"`
	}
	decoder := yaml.NewDecoder(strings.NewReader(shown))
	decoder.KnownFields(true)
	if err := decoder.Decode(&read); err != nil {
		t.Fatalf("%v, want a configuration of Prometheus:\n%s", err, shown)
	}
	cfg, err := Parse("bursar.yaml", []byte("chains: {bsc: {rpc: \"http://127.0.0.1:8545\"}}\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(read.ScrapeConfigs) != 1 || len(read.ScrapeConfigs[0].StaticConfigs) != 1 ||
		!slices.Equal(read.ScrapeConfigs[0].StaticConfigs[0].Targets, []string{cfg.AdminListen}) {
		t.Errorf("Prometheus scrapes %+v, want %s, the default of admin_listen", read.ScrapeConfigs, cfg.AdminListen)
	}
	for _, file := range read.RuleFiles {
		if _, err := os.Stat(filepath.Join("..", "docs", "observability", file)); err != nil {
			t.Errorf("Prometheus reads the rules of %s: %v, want the file", file, err)
		}
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
