package tidy_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// inADocument returns the one block of a document that has a text in it.
func inADocument(t *testing.T, document, with string) string {
	t.Helper()
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for _, b := range blocksOf(document, string(text)) {
		if strings.Contains(b.text, with) {
			found = append(found, b.text)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%s has %d blocks with %q, want one", document, len(found), with)
	}
	return found[0]
}

// typed has a shell run a document's commands in a folder.
func typed(t *testing.T, folder, commands string) {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-euc", commands)
	c.Dir = folder
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v: %s, want success", commands, err, out)
	}
}

// The command of docs/metrics.md gives every rule the host of the operator's documentation.
func TestTheDocumentedHostOfRunbooks(t *testing.T) {
	atRoot(t)
	t.Parallel()
	folder := t.TempDir()
	rules, err := os.ReadFile("docs/observability/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(folder, "alerts.yaml")
	if err := os.WriteFile(file, rules, 0o600); err != nil {
		t.Fatal(err)
	}
	typed(t, folder, inADocument(t, "docs/metrics.md", "sed -i"))
	after, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Count(string(rules), "runbook_url:")
	if got := strings.Count(string(after), "https://bursar.internal/"); got != want || want < 20 ||
		strings.Contains(string(after), "https://bursar.example") {
		t.Errorf("%d of %d links lead to the new host, want all", got, want)
	}
}

// The commands of docs/woocommerce.md put the client where the plugin loads it from.
func TestTheDocumentedPluginIsWhole(t *testing.T) {
	atRoot(t)
	t.Parallel()
	shop := t.TempDir()
	if err := os.MkdirAll(filepath.Join(shop, "wp-content", "plugins"), 0o750); err != nil {
		t.Fatal(err)
	}
	here, err := filepath.Abs("clients")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(here, filepath.Join(shop, "clients")); err != nil {
		t.Fatal(err)
	}
	typed(t, shop, inADocument(t, "docs/woocommerce.md", "cp -r"))
	plugin := filepath.Join(shop, "wp-content", "plugins", "bursar")
	text, err := os.ReadFile(filepath.Join(plugin, "bursar.php"))
	if err != nil {
		t.Fatal(err)
	}
	loads := regexp.MustCompile(`require __DIR__ \. '([^']+)'`).FindAllSubmatch(text, -1)
	if len(loads) == 0 {
		t.Error("the plugin loads nothing, want the client")
	}
	for _, load := range loads {
		if _, err := os.Stat(filepath.Join(plugin, string(load[1]))); err != nil {
			t.Errorf("the plugin loads %s: %v, want it there", load[1], err)
		}
	}
}

var (
	goTool   = regexp.MustCompile(`\bgo run \./([a-z/-]+)((?: +-{1,2}[a-z-]+(?: [^-\s]\S*)?)*)`)
	toolFlag = regexp.MustCompile(` -{1,2}([a-z-]+)`)
)

// Programs of the project that documents run from its folder take a long time, or install; what is checked is that they
// are there and have the flags.
func TestDocumentedToolsHaveTheirFlags(t *testing.T) {
	atRoot(t)
	t.Parallel()
	seen := 0
	for path, text := range documents(t) {
		for _, b := range blocksOf(filepath.ToSlash(path), text) {
			for _, m := range goTool.FindAllStringSubmatch(b.text, -1) {
				seen++
				declared := sourcesOf(t, m[1])
				for _, flag := range toolFlag.FindAllStringSubmatch(m[2], -1) {
					if !strings.Contains(declared, `"`+flag[1]+`"`) && !strings.Contains(declared, "-"+flag[1]) {
						t.Errorf("%s:%d runs %s: there is no flag %s", path, b.line, m[0], flag[1])
					}
				}
			}
			for _, m := range regexp.MustCompile(`\bgo build \S.* (\./cmd/[a-z-]+)`).FindAllStringSubmatch(b.text, -1) {
				sourcesOf(t, m[1])
			}
		}
	}
	if seen < 12 {
		t.Errorf("%d programs are run by documents, want at least 12", seen)
	}
}

// sourcesOf returns the sources of a program of the project.
func sourcesOf(t *testing.T, folder string) string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(folder, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s has %d sources, %v, want some", folder, len(files), err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}
